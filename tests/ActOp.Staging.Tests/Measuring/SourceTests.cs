using ActOp.Staging.Measuring;
using ActOp.Staging.Tracing;

namespace ActOp.Staging.Tests.Measuring;

/// <summary>
/// Real stages with known work. What is asserted are ratios of measured to known costs, not how long anything takes: items compute until
/// their thread's own processor clock has moved on, and wait for a handle that is never set. What a source cannot tell apart when other
/// processes take the processors (the trace: ready from blocked; the ratio: a stage that was ready more often than the other) is taken from
/// the scheduler's own count for the same sample.
/// </summary>
[Collection(nameof(Exclusive))]
public class SourceTests
{
    [Fact]
    public async Task The_scheduler_tells_computing_from_blocking()
    {
        Assert.SkipUnless(SchedulerSource.IsSupported, "The system's scheduler does not tell ready times.");
        await SyntheticLoad.AssertSourceSees(static () => new SchedulerSource(), 0.10, SyntheticLoad.Known);
    }

    [Fact]
    public async Task The_trace_tells_computing_from_blocking()
    {
        await SyntheticLoad.AssertSourceSees(static () => new TraceSource(SyntheticLoad.StageNames), 0.15, SyntheticLoad.KnownAndReady);
    }

    [Fact]
    public async Task The_ratio_of_ready_to_processor_time_tells_computing_from_blocking()
    {
        await SyntheticLoad.AssertSourceSees(
            static () => new RatioSource(SyntheticLoad.NeverBlock), 0.15, SyntheticLoad.KnownButForTheRatio);
    }

    [Fact]
    public void Of_what_a_trace_tells_of_a_thread_the_waits_inside_a_busy_time_are_blocked()
    {
        var thread = new TracedThread();
        thread.BeginWait(1); // For work.
        thread.Begin(5);
        thread.EndWait(6);
        thread.BeginWait(7);
        thread.EndWait(10);
        thread.BeginWait(12);
        Assert.Equal(3 + 2, thread.End(14));
        thread.EndWait(20);
        thread.BeginWait(21);
        thread.EndWait(30);
        thread.Begin(31);
        Assert.Equal(0, thread.End(40));
    }

    [Fact]
    public void A_stage_without_a_sample_keeps_its_last_costs_and_its_own_arrivals()
    {
        var source = new RatioSource([true]);
        var first = new StageUsage(100, 0, new BusyTime(10, 20_000, 10_000, 0));
        var measured = source.Estimate([(default, first)], 2)[0];
        Assert.Equal((50, 0), (measured.Arrivals, measured.Blocked));
        Assert.Equal(1e-6, measured.Compute, 1e-12);
        Assert.Equal(measured with { Arrivals = 10 }, source.Estimate([(first, first with { Executed = 105, Queued = 15 })], 2)[0]);
    }

    [Fact]
    public void A_stage_that_never_ran_has_no_demand() =>
        Assert.Equal(default, new RatioSource([true]).Estimate([(default, default)], 1)[0]);

    [Fact]
    public void Alpha_is_the_mean_ratio_of_the_stages_that_never_block()
    {
        // Ratios of 1 and 3: alpha 2, so of 100 us with 10 us of processor 20 us were ready and 70 us blocked.
        (StageUsage, StageUsage)[] stages =
        [
            (default, new StageUsage(10, 0, new BusyTime(10, 200_000, 100_000, 0))),
            (default, new StageUsage(10, 0, new BusyTime(10, 400_000, 100_000, 0))),
            (default, new StageUsage(10, 0, new BusyTime(10, 1_000_000, 100_000, 0))),
        ];
        var demands = new RatioSource([true, true, false]).Estimate(stages, 1);
        Assert.Equal(70e-6, demands[2].Blocked, 1e-9);
        Assert.Equal(0, demands[0].Blocked);
    }
}
