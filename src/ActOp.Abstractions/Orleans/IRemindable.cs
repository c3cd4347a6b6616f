using ActOp.Calls;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;
using Orleans.Timers;

namespace Orleans;

/// <summary>A grain that can have reminders: ticks that outlive its activation and the silo.</summary>
/// <remarks>Ticks come from silos: a client that calls the method gets an <see cref="UnauthorizedAccessException"/>.</remarks>
[Callers(Callers.Members)]
public interface IRemindable : IGrain
{
    /// <summary>
    /// A reminder is due. The grain is activated for it if need be. An exception is logged and counted, and the next tick comes.
    /// </summary>
    /// <param name="reminderName">Its name.</param>
    /// <param name="status">Its times.</param>
    Task ReceiveReminder(string reminderName, TickStatus status);
}

/// <summary>What a grain can do with its reminders, on its turns.</summary>
public static class GrainReminderExtensions
{
    /// <summary>Creates a reminder of the grain, or replaces the one of that name.</summary>
    /// <param name="grain">The grain. Its class must implement <see cref="IRemindable"/>.</param>
    /// <param name="reminderName">The name; one grain may have many reminders.</param>
    /// <param name="dueTime">Time to the first tick.</param>
    /// <param name="period">Time between ticks, at least <c>ReminderOptions.MinimumReminderPeriod</c>.</param>
    /// <exception cref="ArgumentException">The name is empty, or the period too short.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A time is negative or infinite.</exception>
    /// <exception cref="InvalidOperationException">The class does not implement <see cref="IRemindable"/>.</exception>
    /// <exception cref="OrleansConfigurationException">The silo has no reminder service.</exception>
    /// <exception cref="ReminderException">The reminder could not be stored.</exception>
    public static Task<IGrainReminder> RegisterOrUpdateReminder(this Grain grain, string reminderName, TimeSpan dueTime, TimeSpan period) =>
        RegisterOrUpdate(grain, reminderName, dueTime, period);

    /// <inheritdoc cref="RegisterOrUpdateReminder(Grain, string, TimeSpan, TimeSpan)"/>
    public static Task<IGrainReminder> RegisterOrUpdateReminder(
        this IGrainBase grain, string reminderName, TimeSpan dueTime, TimeSpan period) =>
        RegisterOrUpdate(grain, reminderName, dueTime, period);

    /// <summary>Ends a reminder.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="reminder">As it was returned last: registering the reminder again makes it stale.</param>
    /// <exception cref="ReminderException">The reminder was replaced or removed since.</exception>
    public static Task UnregisterReminder(this Grain grain, IGrainReminder reminder) => Unregister(grain, reminder);

    /// <inheritdoc cref="UnregisterReminder(Grain, IGrainReminder)"/>
    public static Task UnregisterReminder(this IGrainBase grain, IGrainReminder reminder) => Unregister(grain, reminder);

    /// <summary>The reminder of that name, or null.</summary>
    public static Task<IGrainReminder?> GetReminder(this Grain grain, string reminderName) => Get(grain, reminderName);

    /// <inheritdoc cref="GetReminder(Grain, string)"/>
    public static Task<IGrainReminder?> GetReminder(this IGrainBase grain, string reminderName) => Get(grain, reminderName);

    /// <summary>All reminders of the grain.</summary>
    public static Task<List<IGrainReminder>> GetReminders(this Grain grain) => GetAll(grain);

    /// <inheritdoc cref="GetReminders(Grain)"/>
    public static Task<List<IGrainReminder>> GetReminders(this IGrainBase grain) => GetAll(grain);

    private static Task<IGrainReminder> RegisterOrUpdate(IGrainBase grain, string reminderName, TimeSpan dueTime, TimeSpan period)
    {
        ArgumentNullException.ThrowIfNull(grain);
        ThrowIfUnnamed(reminderName);
        var context = grain.GrainContext;
        return grain is IRemindable
            ? RegistryOf(context).RegisterOrUpdateReminder(context.GrainId, reminderName, dueTime, period)
            : throw new InvalidOperationException(
                "The grain " + context.GrainId + " cannot have reminders: its class does not implement IRemindable.");
    }

    /// <summary>The exception is that of Orleans, for an empty name too.</summary>
    private static void ThrowIfUnnamed(string reminderName)
    {
        if (string.IsNullOrEmpty(reminderName))
            throw new ArgumentNullException(nameof(reminderName));
    }

    private static Task Unregister(IGrainBase grain, IGrainReminder reminder)
    {
        ArgumentNullException.ThrowIfNull(grain);
        ArgumentNullException.ThrowIfNull(reminder);
        return RegistryOf(grain.GrainContext).UnregisterReminder(grain.GrainContext.GrainId, reminder);
    }

    private static Task<IGrainReminder?> Get(IGrainBase grain, string reminderName)
    {
        ArgumentNullException.ThrowIfNull(grain);
        ThrowIfUnnamed(reminderName);
        return RegistryOf(grain.GrainContext).GetReminder(grain.GrainContext.GrainId, reminderName);
    }

    private static Task<List<IGrainReminder>> GetAll(IGrainBase grain)
    {
        ArgumentNullException.ThrowIfNull(grain);
        return RegistryOf(grain.GrainContext).GetReminders(grain.GrainContext.GrainId);
    }

    private static IReminderRegistry RegistryOf(IGrainContext context) =>
        context.ActivationServices.GetService<IReminderRegistry>() ?? throw new OrleansConfigurationException(
            "The silo has no reminder service. Add one on the silo builder, for example with UseInMemoryReminderService().");
}
