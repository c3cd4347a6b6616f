using ActOp.Staging;
using ActOp.Staging.Groups;

namespace ActOp.Lab.Groups;

/// <summary>What came of groups whose messages have known costs.</summary>
/// <param name="MessageTime">The time of a message, in ms: the mean.</param>
/// <param name="Lends">Whether a message that does not fit runs if nothing else may.</param>
/// <param name="Idle">The share of the time in which nothing ran, although messages waited.</param>
/// <param name="Least">What the group with the least time got, as a multiple of the mean of all groups.</param>
/// <param name="Most">The same of the group with the most time.</param>
internal sealed record IdleReport(int MessageTime, bool Lends, double Idle, double Least, double Most);

/// <summary>
/// Ten groups of one actor with 100 ticks of 1 ms each in an interval of 1,000 ms, on one processor, whose messages take from half to one
/// and a half of a mean time that is known before (paper on actor groups, section 4.3, Figure 13). Played in virtual time by the code of
/// silos.
/// </summary>
internal static class IdleStudy
{
    private const int Groups = 10;
    private const double Ticks = 100;
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    /// <param name="messageTime">The mean time of a message, in ms.</param>
    /// <param name="lends">Whether a message that does not fit runs if nothing else may.</param>
    /// <param name="intervals">For how long.</param>
    internal static IdleReport Play(int messageTime, bool lends, int intervals)
    {
        Random random = new(messageTime);
        VirtualTime time = new();
        StageGroups groups = new(
            [.. Enumerable.Range(0, Groups).Select(static index => new GroupShape("g" + index, 100, Ticks: Ticks))],
            new GroupSetting(TimeSpan.FromMicroseconds(200), Interval, Processors: 1, time, lends));
        foreach (var group in groups.All)
            groups.Enqueue(new Actor(group) { Cost = Draw(random, messageTime) });
        long idle = 0;
        var slice = new Slice(null, time.Now, time.Now, 0);
        var end = intervals * (long)Interval.TotalMicroseconds;
        while (time.Now < end)
        {
            var next = groups.Switch(slice, hasOwn: false, out var item);
            var (began, reserved) = (time.Now, 0L);
            if (item is not Actor actor)
            {
                time.AdvanceToTimer();
                idle += time.Now - began;
            }
            else if (groups.TryReserve(next!, actor.Cost, actor))
            {
                reserved = actor.Cost;
                time.Advance(actor.Cost);
                actor.Cost = Draw(random, messageTime);
                groups.Enqueue(actor);
            }

            slice = new Slice(next, began, time.Now, Items: 1, reserved);
        }

        var mean = groups.All.Average(static group => group.Used);
        return new(messageTime, lends, (double)idle / time.Now,
            groups.All.Min(static group => group.Used) / mean, groups.All.Max(static group => group.Used) / mean);
    }

    private static long Draw(Random random, int messageTime) => (long)(1_000 * messageTime * (0.5 + random.NextDouble()));

    /// <param name="group">Its group.</param>
    private sealed class Actor(StageGroup group) : IStageItem
    {
        /// <summary>The time of its next message, in microseconds.</summary>
        internal long Cost { get; set; }

        StageGroup? IStageItem.Group => group;

        public void Execute()
        {
        }
    }

    /// <summary>A clock in microseconds, with the one timer of the groups.</summary>
    private sealed class VirtualTime : TimeProvider
    {
        private readonly Timer _timer = new();

        internal long Now { get; private set; }

        public override long TimestampFrequency => 1_000_000;

        public override long GetTimestamp() => Now;

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            (_timer.Callback, _timer.Time) = (() => callback(state), this);
            return _timer;
        }

        internal void Advance(long microseconds) => Now += microseconds;

        internal void AdvanceToTimer()
        {
            var due = _timer.Due ?? throw new InvalidOperationException("Nothing runs, and no timer is set.");
            Now = Math.Max(Now, due);
            _timer.Due = null;
            _timer.Callback!();
        }

        private sealed class Timer : ITimer
        {
            internal Action? Callback { get; set; }

            internal VirtualTime? Time { get; set; }

            internal long? Due { get; set; }

            public bool Change(TimeSpan dueTime, TimeSpan period)
            {
                Due = dueTime == Timeout.InfiniteTimeSpan ? null : Time!.Now + (long)Math.Ceiling(dueTime.TotalMicroseconds);
                return true;
            }

            public void Dispose() => Due = null;

            public ValueTask DisposeAsync()
            {
                Dispose();
                return default;
            }
        }
    }
}
