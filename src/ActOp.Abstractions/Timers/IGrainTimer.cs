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
