using ActOp.Streams;
using ActOp.TestClusters;
using Orleans.Providers;

namespace ActOp.Streams.Tests;

public class MemoryQueueTests
{
    [Fact]
    public async Task A_producer_that_finds_no_room_in_time_is_told_so_and_its_message_is_not_delivered()
    {
        var clock = new FakeClock();
        var queue = new MemoryQueueGrain(clock);
        for (var i = 0; i < MemoryQueueGrain.Limit; i++)
            await queue.Enqueue(default);
        var late = queue.Enqueue(new MemoryMessageData { Payload = new byte[1] });
        Assert.False(late.IsCompleted);
        clock.Advance(TimeSpan.FromSeconds(20));
        var full = await Assert.ThrowsAsync<LimitExceededException>(() => late.WaitAsync(Gate.Patience));
        Assert.Contains("The queue is full", full.Message, StringComparison.Ordinal);

        var next = queue.Enqueue(new MemoryMessageData { Payload = new byte[2] });
        Assert.False(next.IsCompleted);
        await queue.Dequeue(1);
        await next.WaitAsync(Gate.Patience);
        var left = await queue.Dequeue(int.MaxValue);
        Assert.Equal(MemoryQueueGrain.Limit, left.Count);
        Assert.Equal([2], left.Select(static one => one.Payload.Count).Where(static count => count > 0));
    }
}
