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
        RegisterOrUpdate(grain, reminderName, dueTime, period, CancellationToken.None);

    /// <inheritdoc cref="RegisterOrUpdateReminder(Grain, string, TimeSpan, TimeSpan)"/>
    public static Task<IGrainReminder> RegisterOrUpdateReminder(
        this IGrainBase grain, string reminderName, TimeSpan dueTime, TimeSpan period) =>
        RegisterOrUpdate(grain, reminderName, dueTime, period, CancellationToken.None);

    /// <summary>Ends a reminder.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="reminder">As it was returned last: registering the reminder again makes it stale.</param>
    /// <exception cref="ReminderException">The reminder was replaced or removed since.</exception>
    public static Task UnregisterReminder(this Grain grain, IGrainReminder reminder) => Unregister(grain, reminder, CancellationToken.None);

    /// <inheritdoc cref="UnregisterReminder(Grain, IGrainReminder)"/>
    public static Task UnregisterReminder(this IGrainBase grain, IGrainReminder reminder) =>
        Unregister(grain, reminder, CancellationToken.None);

    /// <summary>The reminder of that name, or null.</summary>
    public static Task<IGrainReminder?> GetReminder(this Grain grain, string reminderName) =>
        Get(grain, reminderName, CancellationToken.None);

    /// <inheritdoc cref="GetReminder(Grain, string)"/>
    public static Task<IGrainReminder?> GetReminder(this IGrainBase grain, string reminderName) =>
        Get(grain, reminderName, CancellationToken.None);

    /// <summary>All reminders of the grain.</summary>
    public static Task<List<IGrainReminder>> GetReminders(this Grain grain) => GetAll(grain, CancellationToken.None);

    /// <inheritdoc cref="GetReminders(Grain)"/>
    public static Task<List<IGrainReminder>> GetReminders(this IGrainBase grain) => GetAll(grain, CancellationToken.None);

    /// <inheritdoc cref="RegisterOrUpdateReminder(Grain, string, TimeSpan, TimeSpan)"/>
    /// <remarks>A cancelled caller waits no longer; whether the reminder is stored is unknown then.</remarks>
    public static Task<IGrainReminder> RegisterOrUpdateReminder(
        this Grain grain, string reminderName, TimeSpan dueTime, TimeSpan period, CancellationToken cancellationToken) =>
        RegisterOrUpdate(grain, reminderName, dueTime, period, cancellationToken);

    /// <inheritdoc cref="UnregisterReminder(Grain, IGrainReminder)"/>
    /// <remarks>A cancelled caller waits no longer; whether the reminder is there is unknown then.</remarks>
    public static Task UnregisterReminder(this Grain grain, IGrainReminder reminder, CancellationToken cancellationToken) =>
        Unregister(grain, reminder, cancellationToken);

    /// <inheritdoc cref="GetReminder(Grain, string)"/>
    public static Task<IGrainReminder?> GetReminder(this Grain grain, string reminderName, CancellationToken cancellationToken) =>
        Get(grain, reminderName, cancellationToken);

    /// <inheritdoc cref="GetReminders(Grain)"/>
    public static Task<List<IGrainReminder>> GetReminders(this Grain grain, CancellationToken cancellationToken) =>
        GetAll(grain, cancellationToken);

    /// <inheritdoc cref="RegisterOrUpdateReminder(Grain, string, TimeSpan, TimeSpan)"/>
    /// <remarks>A cancelled caller waits no longer; whether the reminder is stored is unknown then.</remarks>
    public static Task<IGrainReminder> RegisterOrUpdateReminder(
        this IGrainBase grain, string reminderName, TimeSpan dueTime, TimeSpan period, CancellationToken cancellationToken) =>
        RegisterOrUpdate(grain, reminderName, dueTime, period, cancellationToken);

    /// <inheritdoc cref="UnregisterReminder(Grain, IGrainReminder)"/>
    /// <remarks>A cancelled caller waits no longer; whether the reminder is there is unknown then.</remarks>
    public static Task UnregisterReminder(this IGrainBase grain, IGrainReminder reminder, CancellationToken cancellationToken) =>
        Unregister(grain, reminder, cancellationToken);

    /// <inheritdoc cref="GetReminder(Grain, string)"/>
    public static Task<IGrainReminder?> GetReminder(this IGrainBase grain, string reminderName, CancellationToken cancellationToken) =>
        Get(grain, reminderName, cancellationToken);

    /// <inheritdoc cref="GetReminders(Grain)"/>
    public static Task<List<IGrainReminder>> GetReminders(this IGrainBase grain, CancellationToken cancellationToken) =>
        GetAll(grain, cancellationToken);

    private static Task<IGrainReminder> RegisterOrUpdate(
        IGrainBase grain, string reminderName, TimeSpan dueTime, TimeSpan period, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(grain);
        ThrowIfUnnamed(reminderName);
        var context = grain.GrainContext;
        return grain is IRemindable
            ? RegistryOf(context).RegisterOrUpdateReminder(context.GrainId, reminderName, dueTime, period, cancellationToken)
            : throw new InvalidOperationException(
                "The grain " + context.GrainId + " cannot have reminders: its class does not implement IRemindable.");
    }

    /// <summary>The exception is that of Orleans, for an empty name too.</summary>
    private static void ThrowIfUnnamed(string reminderName)
    {
        if (string.IsNullOrEmpty(reminderName))
            throw new ArgumentNullException(nameof(reminderName));
    }

    private static Task Unregister(IGrainBase grain, IGrainReminder reminder, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(grain);
        ArgumentNullException.ThrowIfNull(reminder);
        return RegistryOf(grain.GrainContext).UnregisterReminder(grain.GrainContext.GrainId, reminder, cancellationToken);
    }

    private static Task<IGrainReminder?> Get(IGrainBase grain, string reminderName, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(grain);
        ThrowIfUnnamed(reminderName);
        return RegistryOf(grain.GrainContext).GetReminder(grain.GrainContext.GrainId, reminderName, cancellationToken);
    }

    private static Task<List<IGrainReminder>> GetAll(IGrainBase grain, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(grain);
        return RegistryOf(grain.GrainContext).GetReminders(grain.GrainContext.GrainId, cancellationToken);
    }

    private static IReminderRegistry RegistryOf(IGrainContext context) =>
        context.ActivationServices.GetService<IReminderRegistry>() ?? throw new OrleansConfigurationException(
            "The silo has no reminder service. Add one on the silo builder, for example with UseInMemoryReminderService().");
}
