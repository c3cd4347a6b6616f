using ActOp.Calls;
using Orleans.Runtime;
using Orleans.Services;

namespace Orleans.Timers;

/// <summary>Makes timers.</summary>
public interface ITimerRegistry
{
    /// <summary>Makes a timer that ends with the activation.</summary>
    /// <param name="grainContext">The activation, whose turn it must be.</param>
    /// <param name="callback">Gets <paramref name="state"/> and a token that is signalled when the timer ends.</param>
    /// <param name="state">Anything.</param>
    /// <param name="options">When it ticks.</param>
    /// <exception cref="ArgumentOutOfRangeException">A time is negative (and not infinite) or longer than about 49 days.</exception>
    IGrainTimer RegisterGrainTimer<TState>(
        IGrainContext grainContext, Func<TState, CancellationToken, Task> callback, TState state, GrainTimerCreationOptions options);
}

/// <summary>Creates and finds the reminders of grains. To be used on turns of grains.</summary>
public interface IReminderRegistry : IGrainServiceClient<IReminderService>
{
    /// <summary>Creates a reminder, or replaces the one of that name.</summary>
    /// <param name="callingGrainId">The grain.</param>
    /// <param name="reminderName">The name.</param>
    /// <param name="dueTime">Time to the first tick.</param>
    /// <param name="period">Time between ticks, at least <c>ReminderOptions.MinimumReminderPeriod</c>.</param>
    /// <exception cref="ArgumentException">The name is empty, or the period too short.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A time is negative or infinite.</exception>
    /// <exception cref="InvalidOperationException">The caller is no grain.</exception>
    /// <exception cref="OrleansConfigurationException">The silo has no table of reminders.</exception>
    Task<IGrainReminder> RegisterOrUpdateReminder(GrainId callingGrainId, string reminderName, TimeSpan dueTime, TimeSpan period);

    /// <summary>Ends a reminder.</summary>
    /// <exception cref="ReminderException">It was replaced or removed since.</exception>
    Task UnregisterReminder(GrainId callingGrainId, IGrainReminder reminder);

    /// <summary>The grain's reminder of that name, or null.</summary>
    Task<IGrainReminder?> GetReminder(GrainId callingGrainId, string reminderName);

    /// <summary>All reminders of the grain.</summary>
    Task<List<IGrainReminder>> GetReminders(GrainId callingGrainId);

    /// <inheritdoc cref="RegisterOrUpdateReminder(GrainId, string, TimeSpan, TimeSpan)"/>
    /// <remarks>A cancelled caller waits no longer; whether the reminder is stored is unknown then.</remarks>
    Task<IGrainReminder> RegisterOrUpdateReminder(
        GrainId callingGrainId, string reminderName, TimeSpan dueTime, TimeSpan period, CancellationToken cancellationToken) =>
        cancellationToken.IsCancellationRequested ? Task.FromCanceled<IGrainReminder>(cancellationToken)
            : Given.Task(RegisterOrUpdateReminder(callingGrainId, reminderName, dueTime, period)).WaitAsync(cancellationToken);

    /// <inheritdoc cref="UnregisterReminder(GrainId, IGrainReminder)"/>
    /// <remarks>A cancelled caller waits no longer; whether the reminder is there is unknown then.</remarks>
    Task UnregisterReminder(GrainId callingGrainId, IGrainReminder reminder, CancellationToken cancellationToken) =>
        cancellationToken.IsCancellationRequested ? Task.FromCanceled(cancellationToken)
            : Given.Task(UnregisterReminder(callingGrainId, reminder)).WaitAsync(cancellationToken);

    /// <inheritdoc cref="GetReminder(GrainId, string)"/>
    Task<IGrainReminder?> GetReminder(GrainId callingGrainId, string reminderName, CancellationToken cancellationToken) =>
        cancellationToken.IsCancellationRequested ? Task.FromCanceled<IGrainReminder?>(cancellationToken)
            : Given.Task(GetReminder(callingGrainId, reminderName)).WaitAsync(cancellationToken);

    /// <inheritdoc cref="GetReminders(GrainId)"/>
    Task<List<IGrainReminder>> GetReminders(GrainId callingGrainId, CancellationToken cancellationToken) =>
        cancellationToken.IsCancellationRequested ? Task.FromCanceled<List<IGrainReminder>>(cancellationToken)
            : Given.Task(GetReminders(callingGrainId)).WaitAsync(cancellationToken);
}
