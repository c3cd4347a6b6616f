using ActOp.TestClusters;

namespace ActOp.Calls.Tests.Concurrency;

/// <summary>A cycle of calls that nobody allowed ends by the response timeout.</summary>
public class DeadlockTests(VirtualTime cluster) : IClassFixture<VirtualTime>
{
    [Theory]
    [InlineData("plain")]
    [InlineData("suppress")]
    [InlineData("ended")]
    public async Task A_cycle_of_calls_times_out(string mode)
    {
        using var gate = new Gate();
        var one = cluster.Silo.GetGrain<CallChainTests.IChain>(Guid.NewGuid());
        var two = cluster.Silo.GetGrain<CallChainTests.IChain>(Guid.NewGuid());
        var chain = one.Start(two, mode, gate.Name);
        await gate.ArrivedAsync();
        gate.Open();
        Assert.False(chain.IsCompleted);
        cluster.Clock.Advance(TimeSpan.FromSeconds(31));
        var exception = await Assert.ThrowsAsync<TimeoutException>(() => chain.WaitAsync(Gate.Patience));
        Assert.DoesNotContain("has timed out", exception.Message, StringComparison.Ordinal);
    }
}
