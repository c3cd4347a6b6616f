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
    public void A_new_allocation_holds_at_once_and_what_was_used_stays_used()
    {
        var (gatekeeper, budget) = New();
        Assert.False(TickObserver.Observe(budget, 1.5 * Allocation));
        budget.Change(3 * Allocation);
        Assert.Equal(1.5 * Allocation, budget.Balance);
        budget.Change(Allocation);
        Assert.False(budget.IsActive);
        gatekeeper.Advance(Interval, static _ => { });
        Assert.Equal(Allocation / 2, budget.Balance);
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

    [Fact]
    public void An_item_begins_if_its_cost_fits_into_what_others_have_left()
    {
        var (gatekeeper, budget) = New();
        Assert.True(budget.Fits(0.6 * Allocation));
        budget.Reserve(0.6 * Allocation);
        Assert.False(budget.Fits(0.5 * Allocation));
        Assert.True(budget.Fits(0.4 * Allocation));
        // It has used less than was said.
        budget.EndReserved(0.6 * Allocation);
        TickObserver.Observe(budget, 0.3 * Allocation);
        Assert.True(budget.Fits(0.7 * Allocation));
        Assert.False(budget.Fits((0.7 * Allocation) + 1));
        gatekeeper.Advance(Interval, static _ => { });
        Assert.True(budget.Fits(Allocation));
    }

    [Fact]
    public void The_first_item_of_an_interval_fits_whatever_it_costs_unless_the_group_is_inactive()
    {
        var (gatekeeper, budget) = New();
        Assert.True(budget.Fits(5 * Allocation));
        budget.Reserve(5 * Allocation);
        Assert.False(budget.Fits(1));
        budget.EndReserved(5 * Allocation);
        TickObserver.Observe(budget, 1.5 * Allocation);
        Assert.False(budget.Fits(1));
        gatekeeper.Advance(Interval, static _ => { });
        Assert.True(budget.Fits(5 * Allocation));
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
}
