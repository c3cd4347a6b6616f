namespace Orleans.Reminders;

/// <summary>Names of clocks.</summary>
public static class ReminderTimeProviderNames
{
    /// <summary>
    /// The key under which an application may register a <see cref="TimeProvider"/> for reminders alone; without one they have the silo's.
    /// </summary>
    public const string Reminders = "Orleans.Reminders";
}
