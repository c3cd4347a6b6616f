using ActOp.TestClusters;

namespace ActOp.Calls.Tests.Concurrency;

/// <summary>Calls back into a grain that waits for the chain they are part of.</summary>
public class CallChainTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Theory]
    [InlineData(0, 0)]
    [InlineData(0, 1)]
    [InlineData(1, 0)]
    public async Task A_chain_may_come_back_when_the_caller_allows_it(int first, int second)
    {
        var one = cluster.Client.GetGrain<IChain>(Guid.NewGuid());
        var two = cluster.Client.GetGrain<IChain>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(first), one.Finish);
        await Place.On(cluster.AddressOf(second), two.Finish);
        Assert.Equal("finished", await one.Start(two, "allow", null));
    }

    [Fact]
    public async Task Others_still_wait_while_a_chain_may_come_back()
    {
        using var gate = new Gate();
        var one = cluster.Client.GetGrain<IChain>(Guid.NewGuid());
        var two = cluster.Client.GetGrain<IChain>(Guid.NewGuid());
        var chain = one.Start(two, "allow", gate.Name);
        await gate.ArrivedAsync();
        var stranger = one.Finish();
        await one.Look();
        Assert.False(stranger.IsCompleted);
        gate.Open();
        Assert.Equal("finished", await chain);
        Assert.Equal("finished", await stranger);
    }

    public interface IChain : IGrainWithGuidKey
    {
        Task<string> Start(IChain other, string mode, string? gate);

        Task<string> Back(IChain first, bool suppress, string? gate);

        Task<string> Finish();

        [AlwaysInterleave]
        Task Look();
    }

    public sealed class ChainGrain : Grain, IChain
    {
        public async Task<string> Start(IChain other, string mode, string? gate)
        {
            var self = this.AsReference<IChain>();
            switch (mode)
            {
                case "allow" or "suppress":
                    {
                        using var section = RequestContext.AllowCallChainReentrancy();
                        return await other.Back(self, mode == "suppress", gate);
                    }

                case "ended":
                    using (RequestContext.AllowCallChainReentrancy())
                        await other.Finish();
                    return await other.Back(self, false, gate);
                default:
                    return await other.Back(self, false, gate);
            }
        }

        public async Task<string> Back(IChain first, bool suppress, string? gate)
        {
            await Gate.PassAsync(gate);
            if (!suppress)
                return await first.Finish();
            using var section = RequestContext.SuppressCallChainReentrancy();
            return await first.Finish();
        }

        public Task<string> Finish() => Task.FromResult("finished");

        public Task Look() => Task.CompletedTask;
    }
}
