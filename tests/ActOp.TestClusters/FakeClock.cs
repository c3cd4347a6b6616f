namespace ActOp.TestClusters;

/// <summary>A clock that stands still until a test moves it on; timers fire on the thread that does, in order of their times.</summary>
public sealed class FakeClock : TimeProvider
{
    private readonly Lock _gate = new();
    private readonly List<FakeTimer> _timers = [];
    private readonly List<(long Due, TimeSpan Length, TaskCompletionSource Set)> _awaited = [];
    private long _now = TimeSpan.FromDays(1).Ticks;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp()
    {
        lock (_gate)
            return _now;
    }

    public override DateTimeOffset GetUtcNow() => new DateTimeOffset(2030, 1, 1, 0, 0, 0, TimeSpan.Zero).AddTicks(GetTimestamp());

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new FakeTimer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Timers that wait; tells a test that the code under test has come as far as waiting.</summary>
    public int Waiting
    {
        get
        {
            lock (_gate)
                return _timers.Count;
        }
    }

    /// <summary>
    /// Ends when there is a timer that is due so long from now, or one is set for so long: the code under test has come as far as waiting
    /// for it. If time passes meanwhile, the latter happens at a time that nobody knows before.
    /// </summary>
    public Task TimerSetAsync(TimeSpan dueTime)
    {
        lock (_gate)
        {
            var due = _now + dueTime.Ticks;
            if (_timers.Exists(timer => timer.Due == due))
                return Task.CompletedTask;
            var set = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _awaited.Add((due, dueTime, set));
            return set.Task;
        }
    }

    public void Advance(TimeSpan time)
    {
        var end = GetTimestamp() + time.Ticks;
        while (TakeDue(end) is { } due)
            due.Fire();
        lock (_gate)
            _now = Math.Max(_now, end);
    }

    private FakeTimer? TakeDue(long end)
    {
        lock (_gate)
        {
            var due = _timers.Where(timer => timer.Due <= end).MinBy(timer => timer.Due);
            if (due is null)
                return null;
            _now = Math.Max(_now, due.Due);
            if (due.Period > 0)
                due.Due += due.Period;
            else
                _timers.Remove(due);
            return due;
        }
    }

    private sealed class FakeTimer(FakeClock clock, TimerCallback callback, object? state) : ITimer
    {
        internal long Due;
        internal long Period;

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (clock._gate)
            {
                clock._timers.Remove(this);
                Period = period == Timeout.InfiniteTimeSpan ? 0 : period.Ticks;
                if (dueTime == Timeout.InfiniteTimeSpan)
                    return true;
                Due = clock._now + dueTime.Ticks;
                clock._timers.Add(this);
                foreach (var awaited in clock._awaited.FindAll(awaited => awaited.Due == Due || awaited.Length == dueTime))
                    awaited.Set.TrySetResult();
                clock._awaited.RemoveAll(static awaited => awaited.Set.Task.IsCompleted);
                return true;
            }
        }

        public void Dispose()
        {
            lock (clock._gate)
                clock._timers.Remove(this);
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return default;
        }

        internal void Fire() => callback(state);
    }
}
