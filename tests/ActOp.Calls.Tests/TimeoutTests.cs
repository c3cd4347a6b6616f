using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

public class TimeoutTests(VirtualTime cluster) : IClassFixture<VirtualTime>
{
    [Fact]
    public async Task A_call_without_an_answer_ends_after_the_response_timeout_and_says_which()
    {
        using var gate = new Gate();
        var grain = cluster.Silo.GetGrain<ISleepy>(1);
        var call = grain.Sleep(gate.Name);
        await gate.ArrivedAsync();
        cluster.Clock.Advance(TimeSpan.FromSeconds(29));
        await cluster.Silo.GetGrain<ISleepy>(2).Nap(null);
        Assert.False(call.IsCompleted);
        cluster.Clock.Advance(TimeSpan.FromSeconds(2));
        var exception = await Assert.ThrowsAsync<TimeoutException>(() => call.WaitAsync(Gate.Patience));
        Assert.Contains("ISleepy/Sleep", exception.Message, StringComparison.Ordinal);
        Assert.Contains(grain.GetGrainId().ToString(), exception.Message, StringComparison.Ordinal);
        Assert.Contains("timeout of 00:00:30 (from code outside of grains, silo ", exception.Message, StringComparison.Ordinal);
        Assert.EndsWith("Its request runs.", exception.Message, StringComparison.Ordinal);
        gate.Open();
    }

    [Fact]
    public async Task A_call_that_waits_until_its_timeout_names_what_runs()
    {
        using var gate = new Gate();
        var grain = cluster.Silo.GetGrain<ISleepy>(7);
        var running = grain.Sleep(gate.Name);
        await gate.ArrivedAsync();
        var waiting = grain.Nap(null);
        cluster.Clock.Advance(TimeSpan.FromSeconds(6));
        var exception = await Assert.ThrowsAsync<TimeoutException>(() => waiting.WaitAsync(Gate.Patience));
        Assert.Matches(
            @"timeout of 00:00:05 .* Its request waits while .*ISleepy/Sleep runs; \d requests wait or run there\.$", exception.Message);
        gate.Open();
        await Record.ExceptionAsync(() => running.WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task A_late_answer_is_nobodys_and_the_grain_goes_on()
    {
        using var gate = new Gate();
        var grain = cluster.Silo.GetGrain<ISleepy>(3);
        var call = grain.Sleep(gate.Name);
        await gate.ArrivedAsync();
        cluster.Clock.Advance(TimeSpan.FromSeconds(31));
        await Assert.ThrowsAsync<TimeoutException>(() => call.WaitAsync(Gate.Patience));
        gate.Open();
        for (var round = 0; round < 100; round++)
            Assert.Equal(round, await grain.Echo(round));
    }

    [Fact]
    public async Task A_method_may_have_its_own_timeout()
    {
        using var gate = new Gate();
        var call = cluster.Silo.GetGrain<ISleepy>(4).Nap(gate.Name);
        await gate.ArrivedAsync();
        cluster.Clock.Advance(TimeSpan.FromSeconds(6));
        await Assert.ThrowsAsync<TimeoutException>(() => call.WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task A_grain_that_stays_blocked_does_not_keep_the_requests_that_nobody_waits_for()
    {
        using var gate = new Gate();
        var node = cluster.Silo.ServiceProvider.GetRequiredService<Node>();
        var grain = cluster.Silo.GetGrain<ISleepy>(5);
        var blocking = grain.Sleep(gate.Name);
        await gate.ArrivedAsync();
        var calls = Enumerable.Range(0, 10).Select(_ => grain.Nap(null)).ToArray();
        Assert.True(node.Activations.TryGet(grain.GetGrainId(), out var activation));
        // The collector's round may come already in these seconds.
        var dropped = node.Metrics.Dropped;
        cluster.Clock.Advance(TimeSpan.FromSeconds(6));
        foreach (var call in calls)
            await Assert.ThrowsAsync<TimeoutException>(() => call.WaitAsync(Gate.Patience));
        Assert.False(blocking.IsCompleted);
        await TestingUtils.WaitUntilAsync(
            _ =>
            {
                // The collector's round; the blocking call itself may time out meanwhile, the grain goes on.
                cluster.Clock.Advance(cluster.Quantum);
                return Task.FromResult(node.Metrics.Dropped - dropped >= calls.Length);
            },
            Gate.Patience,
            TimeSpan.FromMilliseconds(5));
        Assert.Equal(1, gate.Count);
        Assert.False(activation!.IsIdle);
        gate.Open();
        await Record.ExceptionAsync(() => blocking.WaitAsync(Gate.Patience));
    }

    public interface ISleepy : IGrainWithIntegerKey
    {
        Task Sleep(string gate);

        [ResponseTimeout("00:00:05")]
        Task Nap(string? gate);

        ValueTask<int> Echo(int value);
    }

    public sealed class SleepyGrain : Grain, ISleepy
    {
        public Task Sleep(string gate) => Gate.PassAsync(gate);

        public Task Nap(string? gate) => Gate.PassAsync(gate);

        public ValueTask<int> Echo(int value) => new(value);
    }
}
