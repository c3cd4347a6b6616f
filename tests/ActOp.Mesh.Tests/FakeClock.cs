namespace ActOp.Mesh.Tests;

/// <summary>A clock that moves only when told; timers fire inside Advance, in the order of their times.</summary>
internal sealed class FakeClock : TimeProvider
{
    private readonly List<Timer> _timers = [];
    private long _now;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => _now;

    public override DateTimeOffset GetUtcNow() => new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero).AddTicks(_now);

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        lock (_timers)
        {
            var timer = new Timer(this, callback, state);
            timer.Change(dueTime, period);
            return timer;
        }
    }

    public void Advance(TimeSpan by)
    {
        var until = _now + by.Ticks;
        while (true)
        {
            Timer? next;
            lock (_timers)
            {
                next = _timers.Where(timer => timer.Due <= until).MinBy(timer => timer.Due);
                if (next is null)
                {
                    _now = until;
                    return;
                }

                _now = Math.Max(_now, next.Due);
                if (next.Period > 0)
                {
                    next.Due += next.Period;
                }
                else
                {
                    _timers.Remove(next);
                }
            }

            next.Fire();
        }
    }

    private sealed class Timer(FakeClock clock, TimerCallback callback, object? state) : ITimer
    {
        public long Due { get; set; }

        public long Period { get; private set; }

        public void Fire() => callback(state);

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (clock._timers)
            {
                clock._timers.Remove(this);
                Period = Math.Max(0, period.Ticks);
                if (dueTime != Timeout.InfiniteTimeSpan)
                {
                    Due = clock._now + dueTime.Ticks;
                    clock._timers.Add(this);
                }

                return true;
            }
        }

        public void Dispose()
        {
            lock (clock._timers)
            {
                clock._timers.Remove(this);
            }
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
