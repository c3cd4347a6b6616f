using Heartbeat.Compare;
using Heartbeat.Heatmap;
using Heartbeat.Options;
using Heartbeat.Runs;

namespace Heartbeat.Tests;

public sealed class PlanTests
{
    private static readonly Allocation[] All = Enum.GetValues<Allocation>();
    private static readonly LoadLevel[] Loads = [LoadLevel.Low, LoadLevel.High];
    private static readonly double[] Blocking = [0, 10];

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void A_comparison_has_every_cell_as_often_as_asked(int repeats)
    {
        IReadOnlyList<PlannedCell> plan = CellPlan.Build(All, Loads, Blocking, repeats);
        Assert.Equal(All.Length * Loads.Length * Blocking.Length * repeats, plan.Count);
        Assert.Equal(plan.Count, plan.Distinct().Count());
        Assert.All(plan.GroupBy(cell => (cell.Allocation, cell.Load, cell.BlockingPercent)), cells =>
            Assert.Equal(Enumerable.Range(1, repeats), cells.Select(cell => cell.Repeat)));
    }

    [Fact]
    public void Allocations_alternate_and_each_is_first_in_its_turn()
    {
        PlannedCell[][] rows = [.. CellPlan.Build(All, Loads, Blocking, 5).Chunk(All.Length)];
        Assert.All(rows, row =>
        {
            Assert.Equal(All, row.Select(cell => cell.Allocation).Order());
            Assert.Single(row.Select(cell => (cell.Repeat, cell.Load, cell.BlockingPercent)).Distinct());
        });
        Assert.Equal([4, 4, 4, 4, 4], rows.GroupBy(row => row[0].Allocation).Select(group => group.Count()));
    }

    [Fact]
    public void A_heat_map_goes_back_the_way_it_came()
    {
        IReadOnlyList<(int Workers, int Senders)> plan = HeatPlan.Build([1, 2, 4], [1, 8], 2);
        Assert.Equal(12, plan.Count);
        Assert.Equal(6, plan.Distinct().Count());
        Assert.Equal(plan, plan.Reverse());
    }

    [Fact]
    public void Loads_are_shares_of_the_peak_that_somebody_can_reach()
    {
        Assert.Equal([500, 650, 800], Enum.GetValues<LoadLevel>().Select(load => Peaks.Rate(load, 1000, double.PositiveInfinity)));
        // Two workers, a tenth of the calls blocking 5 ms: from what they can just answer to well above it.
        double limit = Peaks.Limit(2, 10, 5);
        Assert.Equal(4000, limit, 6);
        Assert.Equal([4000, 5200, 6400], Enum.GetValues<LoadLevel>().Select(load => Math.Round(Peaks.Rate(load, 100_000, limit), 6)));
        Assert.Equal(double.PositiveInfinity, Peaks.Limit(2, 0, 5));
    }
}
