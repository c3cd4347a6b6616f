namespace ActOp.Testing.Simulated;

/// <summary>
/// The time of one machine: as fast as its rate says, its wall clock as wrong as the faults make it; its timers are events of the pump.
/// </summary>
internal sealed class MachineClock(Pump pump, Machine machine, Dice dice, double rate) : TimeProvider
{
    internal static readonly DateTimeOffset Start = new(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>How wrong the wall clock is; the monotonic one never jumps.</summary>
    internal long WallError { get; set; }

    /// <summary>Timers that are set.</summary>
    internal int Timers { get; private set; }

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

    // A machine has been up for a while when a process starts.
    public override long GetTimestamp() => (long)((pump.Now + Pump.Second) * rate);

    public override DateTimeOffset GetUtcNow() => Start + new TimeSpan(pump.Now + WallError);

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new VirtualTimer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    private sealed class VirtualTimer(MachineClock clock, TimerCallback callback, object? state) : ITimer
    {
        private TimerCallback? _callback = callback;
        private TimeSpan _period;
        private PumpEvent? _next;

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            if (_callback is null)
                return false;
            Clear();
            _period = period;
            if (dueTime != Timeout.InfiniteTimeSpan)
                Set(dueTime);
            return true;
        }

        public void Dispose()
        {
            Clear();
            _callback = null;
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return default;
        }

        private void Clear()
        {
            if (_next is null)
                return;
            _next.IsCancelled = true;
            _next = null;
            clock.Timers--;
        }

        private void Set(TimeSpan dueTime)
        {
            clock.Timers++;
            // Never early, often a little late.
            var late = clock.Dice.Chance(0.5) ? clock.Dice.Between(0, Pump.Millisecond) : 0;
            _next = clock.Pump.After((long)(dueTime.Ticks / clock.Rate) + late, clock.Machine, EventKind.Timer, "timer", Fire);
        }

        private void Fire()
        {
            _next = null;
            clock.Timers--;
            if (_callback is not { } call)
                return;
            if (_period > TimeSpan.Zero)
                Set(_period);
            call(state);
        }
    }

    private Pump Pump => pump;

    private Machine Machine => machine;

    private Dice Dice => dice;

    /// <summary>How fast it is; 1 for as fast as the world's.</summary>
    internal double Rate => rate;
}
