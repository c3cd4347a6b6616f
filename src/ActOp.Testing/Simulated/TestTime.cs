namespace ActOp.Testing.Simulated;

/// <summary>The time of a test: that of the world, without the errors of a machine's clock.</summary>
/// <remarks>Owns no timer: each is an event of the pump. Only the thread of the pump uses it.</remarks>
internal sealed class TestTime(Pump pump) : TimeProvider
{
    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

    public override long GetTimestamp() => pump.Now;

    public override DateTimeOffset GetUtcNow() => MachineClock.Start + new TimeSpan(pump.Now);

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new EventTimer(pump, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>One timer: its next event, which is cancelled when the timer changes.</summary>
    private sealed class EventTimer(Pump pump, TimerCallback callback, object? state) : ITimer
    {
        private PumpEvent? _next;
        private TimeSpan _period;
        private bool _isDisposed;

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            if (_isDisposed)
                return false;
            if (_next is not null)
                _next.IsCancelled = true;
            (_next, _period) = (null, period);
            if (dueTime != Timeout.InfiniteTimeSpan)
                _next = pump.After(dueTime.Ticks, null, EventKind.Timer, "timer of the test", Fire);
            return true;
        }

        public void Dispose()
        {
            Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            _isDisposed = true;
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return default;
        }

        private void Fire()
        {
            _next = _period > TimeSpan.Zero ? pump.After(_period.Ticks, null, EventKind.Timer, "timer of the test", Fire) : null;
            callback(state);
        }
    }
}

/// <summary>Random numbers of a test, from the seed of its run.</summary>
internal sealed class DiceRandom(Dice dice) : Random
{
    public override int Next() => dice.Below(int.MaxValue);

    public override int Next(int maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(maxValue);
        return maxValue == 0 ? 0 : dice.Below(maxValue);
    }

    public override int Next(int minValue, int maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minValue, maxValue);
        return minValue == maxValue ? minValue : (int)dice.Between(minValue, (long)maxValue - 1);
    }

    public override long NextInt64() => (long)(dice.Next() >> 1) % long.MaxValue;

    public override long NextInt64(long maxValue) => NextInt64(0, maxValue);

    public override long NextInt64(long minValue, long maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minValue, maxValue);
        return minValue == maxValue ? minValue : minValue + (long)(dice.Next() % (ulong)(maxValue - minValue));
    }

    public override double NextDouble() => dice.Unit();

    public override float NextSingle() => (float)(dice.Next() >> 40) / (1 << 24);

    public override void NextBytes(byte[] buffer)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        NextBytes(buffer.AsSpan());
    }

    public override void NextBytes(Span<byte> buffer)
    {
        for (var index = 0; index < buffer.Length; index++)
            buffer[index] = (byte)dice.Next();
    }

    protected override double Sample() => dice.Unit();
}
