using ActOp.Staging.Control;

namespace ActOp.Staging.Tests.Control;

public class QueueLengthControllerTests
{
    [Fact]
    public void A_long_queue_gets_a_thread_and_a_short_one_loses_one()
    {
        var controller = new QueueLengthController(100, 10, 4);
        Assert.Equal([3, 1, 2], controller.Decide([new(2, 101, default), new(2, 9, default), new(2, 50, default)]).Threads);
    }

    [Fact]
    public void Threads_stay_between_one_and_the_most()
    {
        var controller = new QueueLengthController(100, 10, 4);
        Assert.Equal([4, 1], controller.Decide([new(4, 1000, default), new(1, 0, default)]).Threads);
    }

    [Fact]
    public void A_stage_keeps_the_fewest_threads_that_it_needs() => Assert.Equal([2, 4, 1], new QueueLengthController(100, 10, 4)
        .Decide([new(2, 0, default, Fewest: 2), new(4, 0, default, Fewest: 9), new(2, 0, default)]).Threads);

    [Fact]
    public void Crossed_thresholds_are_refused() => Assert.Throws<ArgumentOutOfRangeException>(() => new QueueLengthController(5, 10, 4));
}
