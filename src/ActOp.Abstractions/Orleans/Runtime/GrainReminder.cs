using System.Globalization;

namespace Orleans.Runtime;

/// <summary>A reminder as its grain has it: what unregisters it.</summary>
public interface IGrainReminder
{
    /// <summary>Its name.</summary>
    string ReminderName { get; }
}

/// <summary>The times of one tick, in UTC.</summary>
[GenerateSerializer]
public readonly struct TickStatus
{
    /// <summary>Creates the status of a tick.</summary>
    /// <param name="firstTickTime">When the first tick was due.</param>
    /// <param name="period">Time between ticks.</param>
    /// <param name="timeStamp">The time of this tick.</param>
    public TickStatus(DateTime firstTickTime, TimeSpan period, DateTime timeStamp) =>
        (FirstTickTime, Period, CurrentTickTime) = (firstTickTime, period, timeStamp);

    /// <summary>When the first tick was due.</summary>
    [Id(0)]
    public DateTime FirstTickTime { get; }

    /// <summary>Time between ticks.</summary>
    [Id(1)]
    public TimeSpan Period { get; }

    /// <summary>The time of this tick: when it was sent.</summary>
    [Id(2)]
    public DateTime CurrentTickTime { get; }

    /// <inheritdoc/>
    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"<{FirstTickTime:O}, {Period}, {CurrentTickTime:O}>");
}

/// <summary>A reminder could not be stored or removed.</summary>
public sealed class ReminderException : OrleansException
{
    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public ReminderException(string message)
        : base(message)
    {
    }
}
