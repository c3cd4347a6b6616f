namespace ActOp.Staging;

/// <summary>One timer of a <see cref="TimerThread"/>, which guards all of it.</summary>
internal sealed class ThreadTimer(TimerThread thread, TimerCallback callback, object? state) : ITimer
{
    /// <summary>Null once the timer is disposed: it keeps nothing alive then.</summary>
    internal TimerCallback? Callback = callback;

    internal object? State = state;

    /// <summary>When it is due, in milliseconds of the thread's clock.</summary>
    internal long Due;

    /// <summary>Milliseconds from one due time to the next; negative for none.</summary>
    internal long Period;

    internal int Place = TimerHeap.Nowhere;

    public bool Change(TimeSpan dueTime, TimeSpan period) => thread.Change(this, dueTime, period);

    public void Dispose() => thread.Remove(this);

    public ValueTask DisposeAsync()
    {
        Dispose();
        return default;
    }
}
