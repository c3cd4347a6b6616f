using ActOp.Staging.Groups;

namespace ActOp.Staging.Tests.Groups;

/// <summary>Budgets per interval, as in the paper on actor groups, in virtual time.</summary>
public sealed class TicksTests
{
    private const double Interval = 1_000_000;
    private const double Allocation = 10_000;

    [Fact]
    public void A_group_is_inactive_when_it_has_used_its_ticks_and_active_in_the_next_interval()
    {
        var (gatekeeper, budget) = New();
        Assert.True(TickObserver.Observe(budget, Allocation - 1));
        Assert.False(TickObserver.Observe(budget, 1));
        Assert.False(gatekeeper.Advance(Interval - 1, Never));
        List<TickBudget> active = [];
        Assert.True(gatekeeper.Advance(Interval, active.Add));
        Assert.Equal([budget], active);
        Assert.Equal(Allocation, budget.Balance);
    }

    [Fact]
    public void Unused_ticks_expire()
    {
        var (gatekeeper, budget) = New();
        TickObserver.Observe(budget, 1);
        gatekeeper.Advance(20 * Interval, static _ => { });
        Assert.Equal(Allocation, budget.Balance);
        Assert.Equal(21 * Interval, gatekeeper.Ends);
    }

    [Fact]
    public void A_debt_of_several_allocations_is_paid_by_as_many_intervals_which_are_shorter_by_what_is_paid()
    {
        var (gatekeeper, budget) = New();
        Assert.False(TickObserver.Observe(budget, 3.5 * Allocation));
        for (var interval = 1; interval <= 2; interval++)
        {
            var ended = gatekeeper.Ends;
            gatekeeper.Advance(ended, Never);
            Assert.False(budget.IsActive);
            Assert.Equal(Allocation / Interval, gatekeeper.Downsizing, 9);
            Assert.Equal(ended + Interval - Allocation, gatekeeper.Ends, 3);
        }

        var began = gatekeeper.Ends;
        gatekeeper.Advance(began, static _ => { });
        Assert.True(budget.IsActive);
        Assert.Equal(Allocation / 2, budget.Balance, 3);
        Assert.Equal(began + Interval - (Allocation / 2), gatekeeper.Ends, 3);
        gatekeeper.Advance(gatekeeper.Ends, static _ => { });
        Assert.Equal(0, gatekeeper.Downsizing);
    }

    [Fact]
    public void An_interval_is_never_shorter_than_one_tick()
    {
        var gatekeeper = new Gatekeeper(Interval, processors: 1, downsizes: true);
        foreach (var budget in Budgets(gatekeeper, 100))
            TickObserver.Observe(budget, 50 * Allocation);
        gatekeeper.Advance(Interval, Never);
        Assert.Equal(Interval + Gatekeeper.Tick, gatekeeper.Ends);
    }

    /// <summary>Figure 14 of the paper: 100 groups of 10 ticks, of which ten use more than that in each turn.</summary>
    [Theory]
    [InlineData(10)]
    [InlineData(50)]
    [InlineData(100)]
    [InlineData(150)]
    public void Groups_that_overrun_by_a_Poisson_time_get_their_allocation_and_the_intervals_settle(int meanOverrun)
    {
        var random = new Random(meanOverrun);
        var gatekeeper = new Gatekeeper(Interval, processors: 1, downsizes: true);
        var budgets = Budgets(gatekeeper, 100);
        var used = new double[budgets.Length];
        List<double> downsizing = [];
        for (var interval = 0; interval < 1_000; interval++)
        {
            for (var i = 0; i < budgets.Length; i++)
            {
                if (!budgets[i].IsActive)
                    continue;
                var turn = Allocation + (i < 10 ? 1_000 * Poisson(random, meanOverrun) : 0);
                used[i] += turn;
                TickObserver.Observe(budgets[i], turn);
            }

            gatekeeper.Advance(gatekeeper.Ends, static _ => { });
            downsizing.Add(gatekeeper.Downsizing);
        }

        TestContext.Current.TestOutputHelper?.WriteLine(
            meanOverrun + " ms: " + downsizing[0].ToString("P1") + ", then " + downsizing.Skip(500).Average().ToString("P1"));
        // What ten groups get of an interval is a tenth; no interval loses more than that.
        Assert.All(downsizing, static one => Assert.InRange(one, 0, 0.1 + 1e-9));
        var share = used.Take(10).Average() / (gatekeeper.Ends - Interval) * Interval / Allocation;
        Assert.InRange(share, 0.9, 1.15);
        // The others have lost nothing: as much per time as they were given, and a little more, because intervals are shorter.
        Assert.InRange(used.Skip(10).Average() / (gatekeeper.Ends - Interval) * Interval / Allocation, 0.99, 1.15);
    }

    private static (Gatekeeper Gatekeeper, TickBudget Budget) New()
    {
        var gatekeeper = new Gatekeeper(Interval, processors: 1, downsizes: true);
        return (gatekeeper, Budgets(gatekeeper, 1)[0]);
    }

    private static TickBudget[] Budgets(Gatekeeper gatekeeper, int count)
    {
        var budgets = new TickBudget[count];
        for (var i = 0; i < count; i++)
            gatekeeper.Add(budgets[i] = new TickBudget(new StageGroup(new GroupShape("g" + i, 100), null), Allocation));
        return budgets;
    }

    private static void Never(TickBudget budget) => Assert.Fail("Active: " + budget.Group.Shape.Name);

    private static int Poisson(Random random, double mean)
    {
        // Knuth, The Art of Computer Programming, volume 2, 3.4.1.
        var (limit, count, product) = (Math.Exp(-mean), -1, 1.0);
        do
        {
            count++;
            product *= random.NextDouble();
        }
        while (product > limit);

        return count;
    }
}
