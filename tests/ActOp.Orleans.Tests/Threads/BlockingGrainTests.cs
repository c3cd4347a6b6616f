using ActOp.Orleans.Threads;
using Orleans.TestingHost;

namespace ActOp.Orleans.Tests.Threads;

/// <summary>A real silo on the real pool.</summary>
public class BlockingGrainTests
{
    /// <summary>Many more than processors; the pool alone adds one in half a second.</summary>
    private const int Grains = 48;

    [Fact]
    public async Task Grains_that_block_on_each_other_get_their_threads_in_a_few_decisions_and_the_stop_gives_them_back()
    {
        var pool = new DotNetPool();
        var host = pool.ReadLimits();
        using var released = new CountdownEvent(Grains);
        BlockingGrain.Arrivals = released;
        await using (var cluster = await Clusters.StartAsync(1, static silo => silo.AddActOpThreads()))
        {
            var silo = cluster.PartOf<PoolRounds>(0);
            // None ends before all have begun: each needs a thread of its own.
            var calls = Enumerable.Range(0, Grains).Select(key => cluster.Client.GetGrain<IBlockingGrain>(key).Block()).ToArray();
            Assert.All(await Task.WhenAll(calls), Assert.True);
            var status = cluster.PartOf<ThreadMetrics>(0).Status;
            Assert.NotNull(status);
            Assert.InRange(status.Threads, Grains / 2, 256);
            Assert.InRange(status.Changes, 1, 4);
            Assert.Null(silo.Failure);
        }

        Assert.Equal(host, pool.ReadLimits());
    }
}

/// <summary>A grain that keeps its thread.</summary>
public interface IBlockingGrain : IGrainWithIntegerKey
{
    /// <summary>Blocks until all have arrived; false if they did not within a minute.</summary>
    Task<bool> Block();
}

public sealed class BlockingGrain : Grain, IBlockingGrain
{
    public static CountdownEvent? Arrivals { get; set; }

    public Task<bool> Block()
    {
        Arrivals!.Signal();
        return Task.FromResult(Arrivals.Wait(TimeSpan.FromMinutes(1)));
    }
}
