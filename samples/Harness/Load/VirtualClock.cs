namespace Harness.Load;

/// <summary>A clock that jumps to whatever is waited for, for tests of the load.</summary>
public sealed class VirtualClock : IClock
{
    private long _ticks;

    /// <inheritdoc/>
    public TimeSpan Now => TimeSpan.FromTicks(Volatile.Read(ref _ticks));

    /// <inheritdoc/>
    public void WaitUntil(TimeSpan time)
    {
        if (time > Now)
            Volatile.Write(ref _ticks, time.Ticks);
    }

    /// <summary>Lets time pass.</summary>
    public void Add(TimeSpan time) => Interlocked.Add(ref _ticks, time.Ticks);
}
