using System.Diagnostics.CodeAnalysis;

namespace Orleans.Runtime;

/// <summary>A timer of an activation; ends with it, or when disposed.</summary>
public interface IGrainTimer : IDisposable
{
    /// <summary>Changes when the timer ticks; inside its callback, from the end of the callback on.</summary>
    /// <param name="dueTime">Time to the next tick; infinite for not at all.</param>
    /// <param name="period">Time from the end of one tick to the next; infinite for one tick only.</param>
    /// <exception cref="ArgumentOutOfRangeException">A time is negative (and not infinite) or longer than about 49 days.</exception>
    void Change(TimeSpan dueTime, TimeSpan period);
}

/// <summary>When a timer ticks, and how its ticks mix with calls.</summary>
public readonly record struct GrainTimerCreationOptions
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
        {
            throw new ArgumentOutOfRangeException(
                name, time, "A timer takes times from zero to " + TimeSpan.FromMilliseconds(MaxMilliseconds) +
                    ", or Timeout.InfiniteTimeSpan.");
        }
    }
}
