using System.Diagnostics;
using ActOp.Staging.Groups;

namespace ActOp.Staging.Tests.Groups;

/// <summary>Stages with threads that divide their time among groups.</summary>
public sealed class GroupedStageTests
{
    private static readonly GroupSetting Setting = new(TimeSpan.FromMicroseconds(200), TimeSpan.FromSeconds(1), 2, TimerThread.Shared);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Groups_with_more_work_than_time_get_it_by_weight(int threads)
    {
        var groups = new StageGroups([new("a", 1), new("b", 2), new("c", 4)], Setting);
        using var stage = NewStage(threads, groups);
        var run = new Floods(stage);
        foreach (var group in groups.All)
        {
            for (var i = 0; i < 10; i++)
                stage.Post(new Flood(run, group, microseconds: 20));
        }

        var used = await run.UsedInAsync(TimeSpan.FromSeconds(1));
        foreach (var group in groups.All)
            Assert.InRange(used[group] - (group.Shape.Weight / 7), -0.06, 0.06);
        await run.EndAsync();
    }

    [Fact]
    public void A_group_whose_items_are_in_the_queue_of_a_thread_keeps_its_credit()
    {
        var groups = new StageGroups([new("small", 100), new("large", 300)], Setting);
        RunInVirtualTime(groups, "small", "large");
        Assert.InRange(groups["large"].Used / groups["small"].Used, 2.95, 3.05);
    }

    [Fact]
    public void Children_divide_the_share_of_their_parent()
    {
        var groups = new StageGroups(
            [new("tenant", 100), new("batch", 100, "tenant"), new("web", 300, "tenant"), new("other", 100)], Setting);
        RunInVirtualTime(groups, "batch", "web", "other");
        var total = groups.All.Sum(static group => group.Used);
        Assert.InRange(groups["other"].Used / total, 0.49, 0.51);
        Assert.InRange(groups["web"].Used / total, 0.365, 0.385);
        Assert.InRange(groups["batch"].Used / total, 0.12, 0.13);
    }

    [Fact]
    public async Task The_item_of_a_quiet_group_waits_for_one_slice_of_a_flood_at_most()
    {
        var groups = new StageGroups([new("flood", 100), new("quiet", 100)], Setting);
        using var stage = NewStage(1, groups);
        var run = new Floods(stage);
        for (var i = 0; i < 20; i++)
            stage.Post(new Flood(run, groups["flood"], microseconds: 20));
        await run.WaitForAsync(TimeSpan.FromMilliseconds(100));
        for (var i = 0; i < 100; i++)
        {
            var one = new Once(groups["quiet"]);
            Assert.InRange(await SlicesUntilRunAsync(stage, groups["flood"], one), 0, 1);
        }

        await run.EndAsync();
    }

    [Fact]
    public async Task The_items_of_the_runtime_wait_for_one_slice_of_a_flood_at_most()
    {
        var groups = new StageGroups([new("flood", 10_000)], Setting);
        using var stage = NewStage(1, groups);
        var run = new Floods(stage);
        for (var i = 0; i < 20; i++)
            stage.Post(new Flood(run, groups["flood"], microseconds: 20));
        for (var i = 0; i < 100; i++)
            Assert.InRange(await SlicesUntilRunAsync(stage, groups["flood"], new Once(null)), 0, 1);

        await run.EndAsync();
    }

    [Fact]
    public async Task A_group_whose_share_is_capped_gets_no_more_although_nothing_else_waits()
    {
        var groups = new StageGroups([new("capped", 100, Max: 0.1)], Setting);
        using var stage = NewStage(2, groups);
        var run = new Floods(stage);
        for (var i = 0; i < 10; i++)
            stage.Post(new Flood(run, groups["capped"], microseconds: 20));
        var began = Stopwatch.GetTimestamp();
        await run.WaitForAsync(TimeSpan.FromMilliseconds(200));
        // A tenth of two processors is 20 ms in 100 ms. Without a cap two threads would need 100 ms.
        Assert.InRange(Stopwatch.GetElapsedTime(began), TimeSpan.FromMilliseconds(700), TimeSpan.FromSeconds(60));
        await run.EndAsync();
    }

    [Fact]
    public async Task A_stop_runs_also_what_a_spent_budget_holds_back()
    {
        var groups = new StageGroups([new("spent", 100, Ticks: 1)], Setting with { Interval = TimeSpan.FromHours(1) });
        var stage = NewStage(1, groups);
        var items = Enumerable.Range(0, 1_000).Select(_ => new Once(groups["spent"]) { Microseconds = 50 }).ToArray();
        foreach (var item in items)
            stage.Post(item);
        while (!groups["spent"].IsBlocked)
            await Task.Yield();
        Assert.Contains(items, static item => !item.Ran.Task.IsCompleted);
        await stage.StopAsync().WaitAsync(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken);
        Assert.All(items, static item => Assert.True(item.Ran.Task.IsCompletedSuccessfully));
    }

    [Fact]
    public async Task A_cap_that_comes_while_a_group_floods_holds_it_from_then_on()
    {
        var groups = new StageGroups([new("flood", 100)], Setting);
        using var stage = NewStage(2, groups);
        var run = new Floods(stage);
        for (var i = 0; i < 10; i++)
            stage.Post(new Flood(run, groups["flood"], microseconds: 20));
        await run.WaitForAsync(TimeSpan.FromMilliseconds(20));
        groups.Change(new("flood", 100, Max: 0.1));
        var (began, used) = (Stopwatch.GetTimestamp(), groups["flood"].Used);
        await run.WaitForAsync(TimeSpan.FromMicroseconds(used) + TimeSpan.FromMilliseconds(200));
        // As with a cap from the start.
        Assert.InRange(Stopwatch.GetElapsedTime(began), TimeSpan.FromMilliseconds(700), TimeSpan.FromSeconds(60));
        await run.EndAsync();
    }

    [Theory]
    [InlineData(null)]
    [InlineData(1_000_000.0)]
    public async Task What_a_spent_budget_holds_back_runs_when_the_budget_is_greater_or_gone(double? ticks)
    {
        var groups = new StageGroups([new("spent", 100, Ticks: 1)], Setting with { Interval = TimeSpan.FromHours(1) });
        using var stage = NewStage(1, groups);
        var items = Enumerable.Range(0, 1_000).Select(_ => new Once(groups["spent"]) { Microseconds = 50 }).ToArray();
        foreach (var item in items)
            stage.Post(item);
        while (!groups["spent"].IsBlocked)
            await Task.Yield();
        groups.Change(new("spent", 100, Ticks: 2));
        groups.Change(new("spent", 100, Ticks: ticks));
        await Task.WhenAll(items.Select(static item => item.Ran.Task))
            .WaitAsync(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task Items_that_post_each_other_across_groups_all_run()
    {
        var groups = new StageGroups([.. Enumerable.Range(0, 20).Select(static i => new GroupShape("g" + i, 100))], Setting);
        using var stage = NewStage(2, groups);
        var all = groups.All.ToArray();
        var chains = Enumerable.Range(0, 50).Select(i => new Chain(stage, all, start: i, length: 20_000)).ToArray();
        foreach (var chain in chains)
            stage.Post(chain);
        await Task.WhenAll(chains.Select(static chain => chain.Ended.Task))
            .WaitAsync(TimeSpan.FromSeconds(60), TestContext.Current.CancellationToken);
        Assert.Equal(0, groups.Waiting);
    }

    [Fact]
    public async Task Threads_that_come_and_go_lose_no_item()
    {
        var groups = new StageGroups([.. Enumerable.Range(0, 5).Select(static i => new GroupShape("g" + i, 100))], Setting);
        using var stage = NewStage(4, groups);
        var all = groups.All.ToArray();
        var chains = Enumerable.Range(0, 8).Select(i => new Chain(stage, all, start: i, length: 50_000)).ToArray();
        foreach (var chain in chains)
            stage.Post(chain);
        var ended = Task.WhenAll(chains.Select(static chain => chain.Ended.Task));
        for (var i = 0; !ended.IsCompleted && i < 1_000_000; i++)
        {
            stage.SetThreads(1 + (i % 4));
            await Task.Yield();
        }

        await ended.WaitAsync(TimeSpan.FromSeconds(60), TestContext.Current.CancellationToken);
    }

    /// <summary>
    /// One thread that runs slices of one to three quanta. The one item of a group runs, or waits in the queue of the thread or of the
    /// group.
    /// </summary>
    private static void RunInVirtualTime(StageGroups groups, params string[] names)
    {
        foreach (var name in names)
            groups.Enqueue(new Once(groups[name]));
        StageGroup? serving = null;
        var own = new Dictionary<StageGroup, IStageItem>();
        long now = 0;
        for (var slices = 0; slices < 10_000; slices++)
        {
            var began = now;
            now += groups.QuantumTicks * (serving is null ? 0 : 1 + (slices % 3));
            var next = groups.Switch(new Slice(serving, began, now, 1), serving is not null, out var first)!;
            if (!ReferenceEquals(next, serving))
            {
                if (serving is not null)
                    groups.Enqueue(own[serving]);
                own[next] = first!;
            }

            serving = next;
        }
    }

    /// <summary>Posts an item from an item of a flood, and counts the slices of the flood that end before it runs.</summary>
    private static async Task<long> SlicesUntilRunAsync(Stage stage, StageGroup flood, Once item)
    {
        long before = -1;
        long after = -1;
        item.Action = () => after = flood.Slices;
        stage.Post(new Once(flood)
        {
            Action = () =>
            {
                before = flood.Slices;
                stage.Post(item);
            },
        });
        await item.Ran.Task.WaitAsync(TimeSpan.FromSeconds(10), TestContext.Current.CancellationToken);
        return after - before;
    }

    private static Stage NewStage(int threads, StageGroups groups) =>
        new("grouped", threads, StageMode.OwnThreads, static exception => Assert.Fail(exception.ToString()), null, groups);

    private static void Spin(int microseconds)
    {
        var end = Stopwatch.GetTimestamp() + (microseconds * Stopwatch.Frequency / 1_000_000);
        while (Stopwatch.GetTimestamp() < end)
        {
        }
    }

    /// <summary>Items that post themselves until the test ends.</summary>
    private sealed class Floods(Stage stage)
    {
        internal Stage Stage { get; } = stage;

        internal volatile bool IsOver;
        private volatile TaskCompletionSource? _reached;
        private double _target;

        /// <summary>Until the threads have worked for this time together.</summary>
        internal async Task WaitForAsync(TimeSpan used)
        {
            _target = used.TotalMicroseconds;
            var reached = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _reached = reached;
            await reached.Task.WaitAsync(TimeSpan.FromSeconds(60), TestContext.Current.CancellationToken);
        }

        /// <summary>Called by each item.</summary>
        internal void Check()
        {
            if (_reached is { } reached && Stage.Groups!.All.Sum(static group => group.Used) >= _target)
                reached.TrySetResult();
        }

        /// <summary>The share of each group in the next so long time of all threads, from when all floods are posted.</summary>
        internal async Task<Dictionary<StageGroup, double>> UsedInAsync(TimeSpan used)
        {
            var before = Stage.Groups!.All.ToDictionary(static group => group, static group => group.Used);
            var total = before.Values.Sum();
            await WaitForAsync(TimeSpan.FromMicroseconds(total) + used);
            var after = before.ToDictionary(static one => one.Key, static one => one.Key.Used - one.Value);
            total = after.Values.Sum();
            return after.ToDictionary(static one => one.Key, one => one.Value / total);
        }

        internal async Task EndAsync()
        {
            IsOver = true;
            await Stage.StopAsync().WaitAsync(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken);
        }
    }

    private sealed class Flood(Floods run, StageGroup group, int microseconds) : IStageItem
    {
        StageGroup? IStageItem.Group => group;

        public void Execute()
        {
            Spin(microseconds);
            run.Check();
            if (!run.IsOver)
                run.Stage.Post(this);
        }
    }

    private sealed class Once(StageGroup? group) : IStageItem
    {
        StageGroup? IStageItem.Group => group;

        internal TaskCompletionSource Ran { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        internal int Microseconds { get; init; }

        internal Action? Action { get; set; }

        public void Execute()
        {
            Spin(Microseconds);
            Action?.Invoke();
            Ran.TrySetResult();
        }
    }

    private sealed class Chain(Stage stage, StageGroup[] groups, int start, int length) : IStageItem
    {
        private int _step;

        internal TaskCompletionSource Ended { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        StageGroup? IStageItem.Group => groups[(start + (_step / 3)) % groups.Length];

        public void Execute()
        {
            if (++_step == length)
                Ended.TrySetResult();
            else
                stage.Post(this);
        }
    }
}
