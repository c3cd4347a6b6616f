using ActOp.Foundation;
using ActOp.TestClusters;

namespace ActOp.Hosting.Tests;

/// <summary>A node's timers end with it, and none of them takes the process with it.</summary>
public sealed class NodeTimeTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly FakeClock _clock = new();
    private readonly List<Exception> _errors = [];
    private readonly NodeTime _time;

    public NodeTimeTests() => _time = new NodeTime(_clock, _errors.Add);

    [Fact]
    public void Timers_fire_as_they_do_at_their_source()
    {
        var fired = new List<string>();
        _time.CreateTimer(_ => fired.Add("once"), null, Second, Timeout.InfiniteTimeSpan);
        _time.CreateTimer(_ => fired.Add("each"), null, Second * 2, Second * 2);
        using var changed = _time.CreateTimer(_ => fired.Add("changed"), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        changed.Change(Second * 3, Timeout.InfiniteTimeSpan);
        _clock.Advance(Second * 5);
        Assert.Equal(["once", "each", "changed", "each"], fired);
    }

    [Fact]
    public void No_timer_fires_after_the_end_and_none_is_left_at_the_source()
    {
        var fired = 0;
        var old = _time.CreateTimer(_ => fired++, null, Second, Second);
        _time.CreateTimer(_ => fired++, null, Second, Timeout.InfiniteTimeSpan);
        _time.Dispose();
        Assert.False(old.Change(Second, Second));
        _time.CreateTimer(_ => fired++, null, Second, Second);
        _clock.Advance(Second * 5);
        Assert.Equal(0, fired);
        Assert.Equal(0, _clock.Waiting);
    }

    [Fact]
    public void What_a_callback_throws_is_told_and_the_next_period_goes_on()
    {
        _time.CreateTimer(_ => throw new FormatException(), null, Second, Second);
        _clock.Advance(Second * 3);
        Assert.Equal(3, _errors.Count);
    }

    [Fact]
    public void A_disposed_timer_keeps_nothing_alive_and_does_not_fire()
    {
        var fired = 0;
        var timers = Enumerable.Range(0, 5).Select(_ => _time.CreateTimer(_ => fired++, null, Second, Second)).ToList();
        foreach (var index in new[] { 2, 0, 4, 2 })
            timers[index].Dispose();
        Assert.Equal(2, _clock.Waiting);
        _clock.Advance(Second);
        Assert.Equal(2, fired);
        _time.Dispose();
        Assert.Equal(0, _clock.Waiting);
    }
}
