using Orleans.Runtime;
using Orleans.Services;

namespace Orleans.Timers;

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
}
