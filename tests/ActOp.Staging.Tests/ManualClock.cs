namespace ActOp.Staging.Tests;

/// <summary>Time that stands still until a test moves it on. Its timers never fire.</summary>
internal sealed class ManualClock : TimeProvider
{
    private long _ticks;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    internal long Now => Volatile.Read(ref _ticks);

    public override long GetTimestamp() => Now;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        System.CreateTimer(static _ => { }, null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);

    internal void Advance(TimeSpan time) => Interlocked.Add(ref _ticks, time.Ticks);
}
