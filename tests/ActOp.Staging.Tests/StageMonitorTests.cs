namespace ActOp.Staging.Tests;

public class StageMonitorTests
{
    private readonly OneTimer _time = new();
    private readonly Watched _watched = new();
    private readonly StageMonitor _monitor;

    public StageMonitorTests()
    {
        _monitor = new StageMonitor(_time);
        _monitor.Add(_watched);
    }

    [Fact]
    public void A_process_whose_threads_run_short_items_is_looked_at_every_8_milliseconds()
    {
        _watched.Sees = StageActivity.Running;
        Assert.Equal([8, 8, 8], _time.NextDues(3));
        Assert.Equal([8000, 8000], _watched.Intervals[1..]);
    }

    [Fact]
    public void An_item_that_a_look_saw_is_looked_at_again_after_2_milliseconds()
    {
        _watched.Sees = StageActivity.InsideItem;
        Assert.Equal([8, 2, 2], _time.NextDues(3));
        Assert.Equal([2000, 2000], _watched.Intervals[1..]);
    }

    [Fact]
    public void It_sleeps_after_four_looks_that_saw_nothing_run_and_wakes_when_a_thread_does()
    {
        Assert.Equal([8, 8, 8, 8, -1], _time.NextDues(5));
        Assert.False(_monitor.IsArmed);
        _monitor.Arm();
        Assert.Equal([8], _time.NextDues(1));
    }

    [Fact]
    public void A_thread_that_begins_to_run_while_the_monitor_goes_to_sleep_keeps_it_awake()
    {
        _watched.OnLook = look => _watched.Sees = look == 5 ? StageActivity.Running : StageActivity.None;
        Assert.Equal([8, 8, 8, 8, 8], _time.NextDues(5));
        Assert.True(_monitor.IsArmed);
    }

    [Fact]
    public void What_is_left_to_others_is_looked_at_after_a_millisecond_for_as_long_as_something_is()
    {
        _watched.Sees = StageActivity.Running;
        Assert.Equal([8], _time.NextDues(1));
        _monitor.SampleSoon();
        _watched.Sees = StageActivity.InlineRuns;
        Assert.Equal([1, 1, 1], _time.NextDues(3));
        _watched.Sees = StageActivity.Running;
        Assert.Equal([1, 8], _time.NextDues(2));
    }

    [Fact]
    public void A_look_that_was_asked_for_during_another_comes_soon()
    {
        _watched.Sees = StageActivity.Running;
        _watched.OnLook = _ => _monitor.SampleSoon();
        Assert.Equal([8, 1, 1], _time.NextDues(3));
    }

    [Fact]
    public void A_monitor_that_sleeps_can_be_asked_for_a_look_soon()
    {
        Assert.Equal([8, 8, 8, 8, -1], _time.NextDues(5));
        _monitor.SampleSoon();
        Assert.Equal([1], _time.NextDues(1));
    }

    private sealed class Watched : ISampled
    {
        internal List<int> Intervals { get; } = [];

        internal StageActivity Sees { get; set; }

        internal Action<int>? OnLook { get; set; }

        public StageActivity Sample(int microseconds)
        {
            Intervals.Add(microseconds);
            OnLook?.Invoke(Intervals.Count);
            return Sees;
        }
    }

    /// <summary>Time that goes on from one tick of its only timer to the next.</summary>
    private sealed class OneTimer : TimeProvider, ITimer
    {
        private Action? _callback;
        private TimeSpan _due;
        private long _now;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => _now;

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            _callback = () => callback(state);
            Change(dueTime, period);
            return this;
        }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            Assert.Equal(Timeout.InfiniteTimeSpan, period);
            _due = dueTime;
            return true;
        }

        public void Dispose()
        {
        }

        public ValueTask DisposeAsync() => default;

        /// <summary>After how many milliseconds the timer was due, each time; -1 when it is not and time stands still.</summary>
        internal List<int> NextDues(int count)
        {
            var dues = new List<int>();
            while (dues.Count < count)
            {
                var due = _due;
                dues.Add((int)due.TotalMilliseconds);
                if (due == Timeout.InfiniteTimeSpan)
                    continue;
                _now += due.Ticks;
                _due = Timeout.InfiniteTimeSpan;
                _callback!();
            }

            return dues;
        }
    }
}
