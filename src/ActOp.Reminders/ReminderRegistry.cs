using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using Orleans;
using Orleans.Hosting;
using Orleans.Runtime;
using Orleans.Timers;

namespace ActOp.Reminders;

/// <summary>
/// What grains call: checks the arguments, and asks the silo that owns the grain's slot. Reads go to the table. Any thread; holds one call
/// at a time for each of its callers.
/// </summary>
/// <param name="parts">Known when the silo has started.</param>
/// <param name="options">The options.</param>
/// <param name="table">Null if none is configured.</param>
internal sealed class ReminderRegistry(Func<ReminderRegistryNeeds> parts, ReminderOptions options, IReminderTable? table)
    : IReminderRegistry
{
    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMilliseconds(500);

    /// <summary>Pauses until a call is given up: the silos have not agreed about the owner for 30 s.</summary>
    private const int MostPauses = 65;

    public async Task<IGrainReminder> RegisterOrUpdateReminder(
        GrainId callingGrainId, string reminderName, TimeSpan dueTime, TimeSpan period)
    {
        CheckCaller();
        CheckTime(dueTime, nameof(dueTime));
        CheckTime(period, nameof(period));
        if (period < options.MinimumReminderPeriod)
        {
            throw new ArgumentException("The period " + period + " of the reminder " + reminderName
                + " is shorter than ReminderOptions.MinimumReminderPeriod, which is " + options.MinimumReminderPeriod + ".");
        }

        return await RegisterUncheckedAsync(callingGrainId, reminderName, dueTime, period);
    }

    /// <summary>As <see cref="RegisterOrUpdateReminder"/>, with any period.</summary>
    internal async Task<IGrainReminder> RegisterUncheckedAsync(
        GrainId callingGrainId, string reminderName, TimeSpan dueTime, TimeSpan period)
    {
        CheckTime(dueTime, nameof(dueTime));
        CheckTime(period, nameof(period));
        CheckName(reminderName);
        var request = new ReminderRequest(callingGrainId, reminderName, dueTime, period);
        return await AskOwnerAsync(callingGrainId, async owner => await owner.Register(request));
    }

    public async Task UnregisterReminder(GrainId callingGrainId, IGrainReminder reminder)
    {
        CheckCaller();
        ArgumentNullException.ThrowIfNull(reminder);
        if (reminder is not ReminderHandle handle || !handle.GrainId.Equals(callingGrainId))
            throw new ReminderException("The reminder " + reminder.ReminderName + " is not one of " + callingGrainId + ".");
        var removed = await AskOwnerAsync(callingGrainId, async owner => await owner.Unregister(handle) is { } done ? (object)done : null);
        if (removed is false)
        {
            throw new ReminderException("The reminder " + handle.ReminderName + " of " + callingGrainId
                + " was not removed: it was registered again, or removed, since. Get it again.");
        }
    }

    public async Task<IGrainReminder?> GetReminder(GrainId callingGrainId, string reminderName)
    {
        var reminders = CheckCaller();
        CheckName(reminderName);
        return await reminders.ReadRow(callingGrainId, reminderName) is { } entry ? ReminderHandle.HandleOf(entry) : null;
    }

    public async Task<List<IGrainReminder>> GetReminders(GrainId callingGrainId)
    {
        var rows = await CheckCaller().ReadRows(callingGrainId);
        return [.. rows.Reminders.Select(ReminderHandle.HandleOf)];
    }

    private static void CheckName(string name)
    {
        if (string.IsNullOrEmpty(name))
            throw new ArgumentException("The name of a reminder must not be empty.", nameof(name));
    }

    private static void CheckTime(TimeSpan time, string name)
    {
        if (time < TimeSpan.Zero)
            throw new ArgumentOutOfRangeException(name, time, "A reminder's time must not be negative or infinite.");
    }

    private IReminderTable CheckCaller()
    {
        if (CallHost.Current is null)
            throw new InvalidOperationException("Reminders can only be used on a turn of a grain.");
        return table ?? throw new OrleansConfigurationException(
            "The silo has no table of reminders. Add one on the silo builder, for example with UseInMemoryReminderService().");
    }

    /// <summary>
    /// Asks the owner of the grain's slot. While the silos do not agree about it, the answer is null, and the question repeated.
    /// </summary>
    private async Task<T> AskOwnerAsync<T>(GrainId grain, Func<IReminderTarget, Task<T?>> ask)
        where T : class
    {
        var (local, cluster, directory, factory) = parts();
        var pause = FirstPause;
        for (var pauses = 0; pauses < MostPauses; pauses++)
        {
            var changed = cluster.Changed;
            if (directory.Map.OwnerOf(grain) is { } owner)
            {
                try
                {
                    if (await ask(factory.GetSystemTarget<IReminderTarget>(ReminderService.Name, owner)) is { } answer)
                        return answer;
                }
                catch (SiloUnavailableException) when (!local.IsStopping)
                {
                    // Its slots get another owner soon.
                }
            }

            await changed.WaitAsync(pause, local.TaskTime)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
            pause = pause + pause < LongestPause ? pause + pause : LongestPause;
        }

        throw new ReminderException("No silo of the cluster runs the reminders of " + grain + " now. All silos need a reminder service.");
    }
}

/// <summary>What the registry uses of its silo.</summary>
internal sealed record ReminderRegistryNeeds(LocalNode Local, ClusterView Cluster, DirectoryService Directory, GrainFactory Factory);
