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
            var timer = new Timer(this, callback, state, _now + Math.Max(0, dueTime.Ticks));
            _timers.Add(timer);
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

                _timers.Remove(next);
                _now = Math.Max(_now, next.Due);
            }

            next.Fire();
        }
    }

    private sealed class Timer(FakeClock clock, TimerCallback callback, object? state, long due) : ITimer
    {
        public long Due { get; } = due;

        public void Fire() => callback(state);

        public bool Change(TimeSpan dueTime, TimeSpan period) => throw new NotSupportedException();

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
