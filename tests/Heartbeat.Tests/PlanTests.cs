using Heartbeat.Bench;
using Heartbeat.Bench.Experiments;
using Heartbeat.Bench.Load;
using Heartbeat.Bench.Runs;

namespace Heartbeat.Tests;

public sealed class PlanTests
{
    private static readonly Allocation[] All = Enum.GetValues<Allocation>();
    private static readonly double[] Compute = [0, 200];
    private static readonly double[] Blocking = [0, 10];

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void A_comparison_has_every_cell_as_often_as_asked(int repeats)
    {
        var plan = ComparePlan.Build(All, Compute, Blocking, repeats);
        Assert.Equal(All.Length * Compute.Length * Blocking.Length * repeats, plan.Count);
        Assert.Equal(plan.Count, plan.Distinct().Count());
        Assert.All(plan.GroupBy(cell => (cell.Allocation, cell.ComputeUs, cell.BlockingPercent)), cells =>
            Assert.Equal(Enumerable.Range(1, repeats), cells.Select(cell => cell.Repeat)));
    }

    [Theory]
    [InlineData(2)]
    [InlineData(4)]
    [InlineData(5)]
    public void Allocations_alternate_and_in_another_pass_another_one_is_first(int count)
    {
        PlannedRun[][] rows = [.. ComparePlan.Build(All[..count], Compute, Blocking, count).Chunk(count)];
        Assert.Equal(count * Compute.Length * Blocking.Length, rows.Length);
        Assert.All(rows, row =>
        {
            Assert.Equal(All[..count], row.Select(run => run.Allocation).Order());
            Assert.Single(row.Select(run => (run.Repeat, run.ComputeUs, run.BlockingPercent)).Distinct());
        });
        Assert.All(rows.GroupBy(row => (row[0].ComputeUs, row[0].BlockingPercent)), passes =>
            Assert.Equal(All[..count], passes.Select(row => row[0].Allocation).Order()));
    }

    [Fact]
    public void Every_load_of_a_run_has_a_warm_up_and_begins_with_nothing_in_flight()
    {
        var options = new HeartbeatOptions { Warmup = 4, Measure = 2 };
        Segment[] segments = [.. ComparePlan.Segments(options, [(LoadLevel.Low, 500), (LoadLevel.High, 800)])];
        Assert.Equal(["compile", "warmup", "measure Low", "rest", "warmup", "measure High"], segments.Select(segment => segment.Name));
        Assert.Equal([0, 500, 500, 0, 800, 800], segments.Select(segment => segment.Rate));
        Assert.Equal([4, 2], segments[1..3].Select(segment => segment.Seconds));
        Assert.Equal(0, segments[3].Concurrency);
    }

    [Fact]
    public void The_time_of_a_comparison_grows_with_runs_loads_and_searches()
    {
        HeartbeatOptions options = new() { Warmup = 4, Measure = 2 };
        var few = ComparePlan.Seconds(options, 1, 1, 0);
        Assert.Equal(12, ComparePlan.Seconds(options, 1, 3, 0) - few, 6);
        Assert.Equal(few, ComparePlan.Seconds(options, 2, 1, 0) - few, 6);
        Assert.True(ComparePlan.Seconds(options, 1, 1, 1) > few);
    }

    [Fact]
    public void A_heat_map_goes_back_the_way_it_came()
    {
        var plan = HeatPlan.Build([1, 2, 4], [1, 8], 2);
        Assert.Equal(12, plan.Count);
        Assert.Equal(6, plan.Distinct().Count());
        Assert.Equal(plan, plan.Reverse());
    }

    [Fact]
    public void Loads_are_shares_of_the_peak_that_somebody_can_reach()
    {
        Assert.Equal([500, 650, 800], Enum.GetValues<LoadLevel>().Select(load => Peaks.Rate(load, 1000, double.PositiveInfinity)));
        // Two workers, a tenth of the calls blocking 5 ms: from what they can just answer to well above it.
        var limit = Peaks.Limit(2, 10, 5);
        Assert.Equal(4000, limit, 6);
        Assert.Equal([4000, 5200, 6400], Enum.GetValues<LoadLevel>().Select(load => Math.Round(Peaks.Rate(load, 100_000, limit), 6)));
        Assert.Equal(double.PositiveInfinity, Peaks.Limit(2, 0, 5));
    }
}
