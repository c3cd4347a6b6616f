using System.Globalization;
using ActOp.Staging.Groups;

namespace ActOp.Staging.Tests.Groups;

/// <summary>Items with known costs, in groups with ticks, on one thread and in virtual time.</summary>
public sealed class ReservationTests
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly ManualClock _time = new();
    private readonly List<string> _ran = [];

    [Fact]
    public void What_does_not_fit_gives_way_to_what_does_and_comes_first_in_the_next_interval()
    {
        var groups = New(lends: false, new GroupShape("a", 100, Ticks: 100));
        Enqueue(groups, "a", 60, 70, 30, 80);
        Run(groups);
        Assert.Equal(["60", "30"], _ran);
        Assert.Equal((2, 0), (groups["a"].Held, groups["a"].Queued));
        Enqueue(groups, "a", 10);
        Run(groups);
        Assert.Equal(["60", "30", "10"], _ran);
        NextInterval();
        Run(groups);
        Assert.Equal(["60", "30", "10", "70"], _ran);
        NextInterval();
        Run(groups);
        Assert.Equal("80", _ran[^1]);
        Assert.Equal(0, groups["a"].Held);
    }

    [Fact]
    public void What_does_not_fit_runs_when_nothing_else_may_and_is_paid_later()
    {
        var groups = New(lends: true, new GroupShape("a", 100, Ticks: 100), new GroupShape("b", 100, Ticks: 100));
        Enqueue(groups, "a", 60, 70);
        Enqueue(groups, "b", 50, 60);
        Run(groups);
        // The group with most left begins: 50 of "b", 40 of "a".
        Assert.Equal(["60", "50", "60", "70"], _ran);
        // Both owe now: nothing of them runs, not even if nothing else does.
        Enqueue(groups, "a", 1);
        Run(groups);
        Assert.Equal(4, _ran.Count);
        NextInterval();
        Run(groups);
        Assert.Equal("1", _ran[^1]);
    }

    [Fact]
    public void The_budget_of_a_parent_holds_for_its_children()
    {
        var groups = New(lends: false, new GroupShape("tenant", 100, Ticks: 100), new("web", 100, "tenant"), new("batch", 100, "tenant"));
        Enqueue(groups, "web", 70);
        Run(groups);
        Enqueue(groups, "batch", 50);
        Run(groups);
        Assert.Equal(["70"], _ran);
        NextInterval();
        Run(groups);
        Assert.Equal(["70", "50"], _ran);
    }

    [Fact]
    public void An_item_that_costs_more_than_the_allocation_runs_first_in_an_interval()
    {
        var groups = New(lends: false, new GroupShape("a", 100, Ticks: 10));
        Enqueue(groups, "a", 1, 25, 1);
        Run(groups);
        Assert.Equal(["1", "1"], _ran);
        NextInterval();
        Run(groups);
        Assert.Equal(["1", "1", "25"], _ran);
        Assert.True(groups["a"].IsBlocked);
    }

    /// <summary>A thread has items of the group in its own queue, and runs them before those that have waited.</summary>
    [Theory]
    [InlineData("a")]
    [InlineData("child")]
    public void What_has_waited_for_an_interval_runs_in_it_although_others_begin_before(string name)
    {
        var groups = New(lends: false, new GroupShape("a", 100, Ticks: 10), new GroupShape("child", 100, "a"));
        Enqueue(groups, name, 1, 25);
        Run(groups);
        NextInterval();
        var group = groups.Switch(new Slice(null, _time.Now, _time.Now, 0), hasOwn: false, out var waited)!;
        var other = new Costly(group, 5);
        Assert.True(groups.TryReserve(group, 5_000, other));
        Assert.False(groups.TryReserve(group, 6_000, other));
        Assert.True(groups.TryReserve(group, 25_000, waited!));
        Assert.False(groups.TryReserve(group, 25_000, waited!));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_greater_budget_and_a_stop_let_what_waits_run(bool stops)
    {
        var groups = New(lends: false, new GroupShape("a", 100, Ticks: 100));
        Enqueue(groups, "a", 60, 70, 80);
        Run(groups);
        Assert.Equal(["60"], _ran);
        if (stops)
            groups.Release();
        else
            groups.Change(new("a", 100, Ticks: 1_000));
        Run(groups);
        Assert.Equal(["60", "70", "80"], _ran);
    }

    /// <summary>Compares with the paper's rule, played item by item, for random costs, allocations and intervals.</summary>
    [Fact]
    public void First_fit_is_that_of_the_paper()
    {
        for (var seed = 0; seed < 200; seed++)
        {
            _ran.Clear();
            var random = new Random(seed);
            var allocation = random.Next(20, 200);
            var groups = New(lends: false, new GroupShape("a", 100, Ticks: allocation));
            int[] costs = [.. Enumerable.Range(0, 30).Select(_ => random.Next(1, allocation + 1))];
            Enqueue(groups, "a", costs);
            List<string> expected = [];
            List<int> waiting = [.. costs];
            while (waiting.Count > 0)
            {
                var left = allocation;
                foreach (var cost in waiting.ToArray())
                {
                    if (cost > left)
                        continue;
                    left -= cost;
                    expected.Add(Text(cost));
                    waiting.Remove(cost);
                }

                Run(groups);
                Assert.Equal(expected, _ran);
                NextInterval();
            }
        }
    }

    private static string Text(int milliseconds) => milliseconds.ToString(CultureInfo.InvariantCulture);

    private StageGroups New(bool lends, params GroupShape[] shapes) =>
        new(shapes, new GroupSetting(TimeSpan.FromMicroseconds(200), Interval, Processors: 1, _time, lends));

    private static void Enqueue(StageGroups groups, string group, params int[] milliseconds)
    {
        foreach (var cost in milliseconds)
            groups.Enqueue(new Costly(groups[group], cost));
    }

    private void NextInterval() => _time.Advance(TimeSpan.FromTicks(Interval.Ticks - (_time.Now % Interval.Ticks)));

    /// <summary>Until nothing may run now.</summary>
    private void Run(StageGroups groups)
    {
        var slice = new Slice(null, _time.Now, _time.Now, 0);
        while (groups.Switch(slice, hasOwn: false, out var item) is { } group)
        {
            var (costly, began, reserved) = ((Costly)item!, _time.Now, 0);
            if (groups.TryReserve(group, 1_000 * costly.Milliseconds, costly))
            {
                reserved = 1_000 * costly.Milliseconds;
                _time.Advance(TimeSpan.FromMicroseconds(reserved));
                _ran.Add(Text(costly.Milliseconds));
            }

            slice = new Slice(group, began, _time.Now, 1, reserved);
        }
    }

    private sealed class Costly(StageGroup group, int milliseconds) : IStageItem
    {
        internal int Milliseconds { get; } = milliseconds;

        StageGroup? IStageItem.Group => group;

        public void Execute()
        {
        }
    }
}
