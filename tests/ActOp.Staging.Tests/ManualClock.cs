namespace ActOp.Staging.Tests;

/// <summary>Time that stands still until a test moves it on.</summary>
internal sealed class ManualClock : TimeProvider
{
    private long _ticks;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => Volatile.Read(ref _ticks);

    internal void Advance(TimeSpan time) => Interlocked.Add(ref _ticks, time.Ticks);
}
