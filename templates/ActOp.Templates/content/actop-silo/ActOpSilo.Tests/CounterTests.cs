using Orleans.TestingHost;
using Xunit;

namespace ActOpSilo.Tests;

public class CounterTests
{
    [Fact]
    public async Task A_counter_counts()
    {
        // Silos and a client in this process; the state is in memory.
        var builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureSilo((_, silo) => silo.AddMemoryGrainStorageAsDefault());
        await using var cluster = builder.Build();
        await cluster.DeployAsync(TestContext.Current.CancellationToken);
        var counter = cluster.Client.GetGrain<ICounterGrain>("tea");
        await counter.Add(2);
        Assert.Equal(3, await counter.Add(1));
    }
}
