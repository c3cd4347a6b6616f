using ActOp.Runtime.Stages;
using ActOp.Staging.Measuring;
using ActOp.Staging.Model;

namespace ActOp.Hosting.Tests.Stages;

public class StarvationGuessTests
{
    private const long Microsecond = 1000;
    private static readonly StageDemand Demand = new(1000, 100e-6);
    private readonly StarvationGuess _lost = new();

    [Fact]
    public void Ready_time_counts_as_far_as_others_cause_it()
    {
        Assert.Equal(45e-6, Period(ready: 60, leastQueued: 0, share: 0.75), 9);
        Assert.Equal(0, Period(ready: 60, leastQueued: 0, share: 0), 9);
    }

    [Fact]
    public void A_stage_that_was_never_idle_beside_others_used_all_the_time_of_its_threads()
    {
        // 2 threads for a second, 1000 events: 2 ms each, of which 0.1 are accounted for.
        Assert.Equal(1.9e-3, Period(ready: 60, leastQueued: 5000, share: 0.75), 9);
    }

    [Fact]
    public void A_long_queue_of_a_process_that_has_the_machine_to_itself_is_its_own()
    {
        Assert.Equal(0, Period(ready: 60, leastQueued: 5000, share: 0.05), 5);
    }

    [Fact]
    public void Starvation_is_not_forgotten_as_soon_as_more_threads_have_ended_it()
    {
        var starved = Period(ready: 0, leastQueued: 5000, share: 0.75);
        double later = 0;
        for (var period = 0; period < 69; period++)
            later = Period(ready: 0, leastQueued: 0, share: 0.75);
        Assert.InRange(later, 0.45 * starved, 0.55 * starved);
        for (var period = 0; period < 2000; period++)
            later = Period(ready: 0, leastQueued: 0, share: 0.75);
        Assert.InRange(later, 0, 1e-6);
    }

    private double Period(long ready, int leastQueued, double share)
    {
        var busy = new BusyTime(100, 100 * (100 + ready) * Microsecond, 100 * 100 * Microsecond, 100 * ready * Microsecond);
        return _lost.PerEvent(Demand, new StageUsage(0, 0, default), new StageUsage(1000, leastQueued, busy), 2, leastQueued, 1, share);
    }
}
