using HaloPresence.Load;

namespace HaloPresence.Tests;

/// <summary>A clock that jumps to whatever is waited for.</summary>
public sealed class VirtualClock : IClock
{
    private long _ticks;

    public TimeSpan Now => TimeSpan.FromTicks(Volatile.Read(ref _ticks));

    public void WaitUntil(TimeSpan time)
    {
        if (time > Now)
            Volatile.Write(ref _ticks, time.Ticks);
    }

    public void Add(TimeSpan time) => Interlocked.Add(ref _ticks, time.Ticks);
}
