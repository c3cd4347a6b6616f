using Orleans.Runtime;
using Orleans.Services;

namespace Orleans;

/// <summary>A silo's part of the reminders: those of the grains that it is responsible for.</summary>
public interface IReminderService : IGrainService
{
    /// <summary>Begins to serve reminders.</summary>
    Task Start();

    /// <summary>Ends the ticks of this silo.</summary>
    Task Stop();

    /// <summary>Creates a reminder, or replaces the one of that name.</summary>
    Task<IGrainReminder> RegisterOrUpdateReminder(GrainId grainId, string reminderName, TimeSpan dueTime, TimeSpan period);

    /// <summary>Ends a reminder.</summary>
    /// <exception cref="ReminderException">It was replaced or removed since.</exception>
    Task UnregisterReminder(IGrainReminder reminder);

    /// <summary>The grain's reminder of that name, or null.</summary>
    Task<IGrainReminder?> GetReminder(GrainId grainId, string reminderName);

    /// <summary>All reminders of a grain.</summary>
    Task<List<IGrainReminder>> GetReminders(GrainId grainId);
}
