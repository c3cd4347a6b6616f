using FsCheck;
using FsCheck.Fluent;

namespace ActOp.Staging.Tests;

public class TimerThreadTests
{
    [Fact]
    public void Timers_fire_in_the_order_in_which_they_are_due()
    {
        var fired = new List<int>();
        var clock = new ManualClock();
        var thread = new TimerThread(clock);
        foreach (var delay in new[] { 40, 10, 30, 20, 0 })
            thread.CreateTimer(state => Add(fired, (int)state!), delay, TimeSpan.FromMilliseconds(delay), Timeout.InfiniteTimeSpan);
        clock.Advance(TimeSpan.FromSeconds(1));
        Stages.Until(() => Count(fired) == 5);
        Assert.Equal([0, 10, 20, 30, 40], fired);
    }

    [Fact]
    public void A_timer_is_never_early()
    {
        var thread = new TimerThread(TimeProvider.System);
        var early = new List<int>();
        var fired = new List<int>();
        for (var delay = 1; delay <= 30; delay++)
        {
            var due = TimeSpan.FromMilliseconds(delay);
            var start = TimeProvider.System.GetTimestamp();
            thread.CreateTimer(
                state =>
                {
                    if (TimeProvider.System.GetElapsedTime(start) < due)
                        Add(early, (int)state!);
                    Add(fired, (int)state!);
                },
                delay,
                due,
                Timeout.InfiniteTimeSpan);
        }

        Stages.Until(() => Count(fired) == 30);
        Assert.Empty(early);
    }

    [Fact]
    public void A_timer_with_a_period_ticks_until_it_is_disposed()
    {
        var fired = new List<int>();
        var thread = new TimerThread(TimeProvider.System);
        ITimer? timer = null;
        timer = thread.CreateTimer(
            _ =>
            {
                Add(fired, 0);
                if (Count(fired) == 5)
                    timer!.Dispose();
            },
            null,
            Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan);
        // Not before the callback can see the timer.
        timer.Change(TimeSpan.FromMilliseconds(1), TimeSpan.FromMilliseconds(1));
        // Another one that is due after many periods shows that the first has stopped.
        var later = new List<int>();
        Stages.Until(() => Count(fired) >= 5);
        thread.CreateTimer(_ => Add(later, 0), null, TimeSpan.FromMilliseconds(20), Timeout.InfiniteTimeSpan);
        Stages.Until(() => Count(later) == 1);
        Assert.Equal(5, fired.Count);
        Assert.False(timer.Change(TimeSpan.Zero, Timeout.InfiniteTimeSpan));
    }

    [Fact]
    public void A_changed_timer_fires_when_it_is_due_then()
    {
        var fired = new List<int>();
        var clock = new ManualClock();
        var thread = new TimerThread(clock);
        var first = thread.CreateTimer(_ => Add(fired, 1), null, TimeSpan.FromHours(1), Timeout.InfiniteTimeSpan);
        var second = thread.CreateTimer(_ => Add(fired, 2), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Assert.True(first.Change(TimeSpan.FromMilliseconds(20), Timeout.InfiniteTimeSpan));
        Assert.True(second.Change(TimeSpan.FromMilliseconds(5), Timeout.InfiniteTimeSpan));
        clock.Advance(TimeSpan.FromSeconds(1));
        Stages.Until(() => Count(fired) == 2);
        Assert.Equal([2, 1], fired);
    }

    /// <summary>Oracle: a sorted list.</summary>
    [Fact]
    public void The_heap_yields_what_is_due_next_after_any_removals() => Prop.ForAll<int[], bool[]>(static (dues, leaves) =>
    {
        var thread = new TimerThread(TimeProvider.System);
        var heap = new TimerHeap();
        var timers = Array.ConvertAll(dues, due => new ThreadTimer(thread, static _ => { }, null) { Due = due });
        foreach (var timer in timers)
            heap.Add(timer);
        var left = timers.Where((timer, index) => index >= leaves.Length || !leaves[index]).ToList();
        foreach (var timer in timers.Except(left))
            heap.Remove(timer);
        var order = new List<long>();
        while (heap.Count > 0)
        {
            order.Add(heap.Top.Due);
            heap.Remove(heap.Top);
        }

        return order.SequenceEqual(left.Select(timer => timer.Due).Order()) && timers.All(timer => timer.HeapIndex == TimerHeap.Nowhere);
    }).QuickCheckThrowOnFailure();

    private static void Add(List<int> list, int value)
    {
        lock (list)
            list.Add(value);
    }

    private static int Count(List<int> list)
    {
        lock (list)
            return list.Count;
    }
}
