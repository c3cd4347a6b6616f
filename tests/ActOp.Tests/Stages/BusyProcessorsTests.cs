using ActOp.Runtime.Stages;
using ActOp.Staging.Model;

namespace ActOp.Tests.Stages;

public sealed class BusyProcessorsTests
{
    [Theory]
    [InlineData(0, 1, 1)]
    [InlineData(0.5, 1, 2)] // M/M/1 at one half.
    [InlineData(1.7, 2, 3.6036)] // M/M/2 at 85 %.
    [InlineData(0.25, 0.5, 2)] // Half a processor is one that is half as fast.
    public void A_loaded_machine_stretches_events_as_a_queue_does(double used, double processors, double expected) =>
        Assert.Equal(expected, BusyProcessors.Stretch(used, processors), 4);

    [Fact]
    public void More_than_nine_tenths_of_the_processors_is_not_believed() =>
        Assert.Equal(BusyProcessors.Stretch(1.8, 2), BusyProcessors.Stretch(5, 2));

    [Fact]
    public void Events_that_never_block_need_no_threads_for_their_wait_for_processors() =>
        Assert.Equal(0, BusyProcessors.Wait(new StageDemand(1000, 1e-3), 3));

    [Fact]
    public void Events_that_mostly_block_hold_their_threads_while_they_wait_for_processors() =>
        Assert.Equal(0.9 * 2e-3, BusyProcessors.Wait(new StageDemand(1000, 1e-3, 9e-3), 3), 9);
}
