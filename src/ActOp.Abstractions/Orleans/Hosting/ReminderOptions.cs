namespace Orleans.Hosting;

/// <summary>Options of reminders.</summary>
public sealed class ReminderOptions
{
    /// <summary>The shortest period that a reminder may have. Default: 1 min.</summary>
    public TimeSpan MinimumReminderPeriod { get; set; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Time between two reads of the table by a silo: it finds reminders that were written while the silos disagreed about who is
    /// responsible. Default: 5 min.
    /// </summary>
    public TimeSpan RefreshReminderListPeriod { get; set; } = TimeSpan.FromMinutes(5);

    /// <summary>
    /// A silo keeps in memory the reminders that are due within this time, and reads the others when their time comes near. It must be
    /// longer than <see cref="RefreshReminderListPeriod"/>. Default: 10 min.
    /// </summary>
    public TimeSpan ReminderLoadingWindow { get; set; } = TimeSpan.FromMinutes(10);

    /// <summary>How long the start of a silo waits for the table. Default: 5 min.</summary>
    public TimeSpan InitializationTimeout { get; set; } = TimeSpan.FromMinutes(5);
}
