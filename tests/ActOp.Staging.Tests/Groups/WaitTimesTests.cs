using ActOp.Staging.Groups;

namespace ActOp.Staging.Tests.Groups;

/// <summary>How long groups wait for a thread.</summary>
public sealed class WaitTimesTests
{
    [Fact]
    public void A_quantile_is_exact_to_a_quarter_and_never_too_small()
    {
        for (var seed = 0; seed < 200; seed++)
        {
            var random = new Random(seed);
            double[] waits = [.. Enumerable.Range(0, 1 + random.Next(2_000)).Select(_ => Math.Pow(10, random.NextDouble() * 7))];
            var times = new WaitTimes();
            foreach (var wait in waits)
                times.Add(wait);
            foreach (var share in (double[])[0.01, 0.5, 0.99, 1])
            {
                var exact = waits.Order().ElementAt(Math.Max(0, (int)Math.Ceiling(share * waits.Length) - 1));
                Assert.InRange(times.At(share) / exact, 1 - 1e-9, 1.25 + 1e-9);
            }
        }
    }

    [Fact]
    public void Old_waits_lose_weight()
    {
        var times = new WaitTimes();
        Assert.Equal(0, times.At(0.99));
        for (var i = 0; i < 10_000; i++)
            times.Add(1_000_000);
        for (var i = 0; i < 100_000; i++)
            times.Add(10);
        Assert.InRange(times.At(0.99), 10, 12.5);
        times.Add(double.MaxValue);
        times.Add(0);
    }

    [Fact]
    public void A_group_waits_from_its_first_item_until_a_thread_takes_one_and_while_others_have_the_threads()
    {
        var time = new ManualClock();
        // At 0 nothing waits.
        time.Advance(TimeSpan.FromMicroseconds(1));
        var groups = new StageGroups([new("a", 1), new("b", 1)], new GroupSetting(TimeSpan.FromMicroseconds(200), TimeSpan.FromSeconds(1), 1, time));
        var (a, b) = (new Item(groups["a"]), new Item(groups["b"]));
        groups.Enqueue(a);
        groups.Enqueue(a);
        time.Advance(TimeSpan.FromMicroseconds(3_000));
        groups.Enqueue(b);
        time.Advance(TimeSpan.FromMicroseconds(1_000));
        Assert.Same(groups["a"], groups.Switch(new Slice(null, time.Now, time.Now, 0), hasOwn: false, out _));
        Assert.InRange(groups["a"].Waits.At(1), 4_000, 5_000);
        // The slice of "a" takes 500 us, and "b" has waited 1,500.
        var began = time.Now;
        time.Advance(TimeSpan.FromMicroseconds(500));
        Assert.Same(groups["b"], groups.Switch(new Slice(groups["a"], began, time.Now, 1), hasOwn: false, out _));
        Assert.InRange(groups["b"].Waits.At(1), 1_500, 1_875);
        began = time.Now;
        time.Advance(TimeSpan.FromMicroseconds(100));
        Assert.Same(groups["a"], groups.Switch(new Slice(groups["b"], began, time.Now, 1), hasOwn: false, out _));
        // Since the thread went on with it, 600 us ago.
        Assert.InRange(groups["a"].Waits.At(0.5), 600, 750);
    }

    private sealed class Item(StageGroup group) : IStageItem
    {
        StageGroup? IStageItem.Group => group;

        public void Execute()
        {
        }
    }
}
