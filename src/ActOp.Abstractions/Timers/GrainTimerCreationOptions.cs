using System.Diagnostics.CodeAnalysis;

namespace Orleans.Runtime;

/// <summary>When a timer ticks, and how its ticks mix with calls.</summary>
public readonly struct GrainTimerCreationOptions
{
    /// <summary>The longest time a timer takes, in milliseconds: that of <see cref="Timer"/>.</summary>
    private const double MaxMilliseconds = 0xfffffffe;

    /// <summary>The caller sets the times.</summary>
    public GrainTimerCreationOptions()
    {
    }

    /// <summary>Sets the times.</summary>
    [SetsRequiredMembers]
    public GrainTimerCreationOptions(TimeSpan dueTime, TimeSpan period)
    {
        DueTime = dueTime;
        Period = period;
    }

    /// <summary>Time to the first tick; infinite for not at all.</summary>
    public required TimeSpan DueTime { get; init; }

    /// <summary>True when ticks run beside calls and calls beside ticks.</summary>
    public bool Interleave { get; init; }

    /// <summary>True when ticks keep the activation from being idle.</summary>
    public bool KeepAlive { get; init; }

    /// <summary>Time from the end of one tick to the next; infinite for one tick only.</summary>
    public required TimeSpan Period { get; init; }

    /// <summary>Refuses times that no timer can take; for whatever takes them.</summary>
    internal static void CheckTimes(TimeSpan dueTime, TimeSpan period)
    {
        Check(dueTime, nameof(dueTime));
        Check(period, nameof(period));
    }

    private static void Check(TimeSpan time, string name)
    {
        if (time != Timeout.InfiniteTimeSpan && (time < TimeSpan.Zero || time.TotalMilliseconds > MaxMilliseconds))
            throw new ArgumentOutOfRangeException(name, time, "A timer takes times from zero to " + TimeSpan.FromMilliseconds(MaxMilliseconds) + ", or Timeout.InfiniteTimeSpan.");
    }
}
