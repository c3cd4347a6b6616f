using ActOp.Runtime.Cluster;
using ActOp.Runtime.Nodes;

namespace ActOp.Shutdown.Tests;

/// <summary>Clusters of tests leave nothing, whichever way they end.</summary>
public class ClusterTests
{
    private readonly string[] _before = Census.Begin();

    [Fact]
    public async Task A_cluster_in_memory_that_is_disposed_leaves_nothing()
    {
        await using (var cluster = InMemory(2))
        {
            await cluster.DeployAsync();
            await cluster.Client.GetGrain<IBusyGrain>(1).Begin();
        }

        Census.Is(_before);
    }

    [Fact]
    public async Task A_cluster_that_is_disposed_without_waiting_leaves_nothing()
    {
        using (var cluster = InMemory(2))
            await cluster.DeployAsync();
        Census.Is(_before);
    }

    [Fact]
    public async Task A_cluster_on_sockets_that_is_disposed_leaves_nothing()
    {
        await using (var cluster = new TestClusterBuilder(2).Build())
        {
            await cluster.DeployAsync();
            await cluster.Client.GetGrain<IBusyGrain>(1).Begin();
        }

        Census.Is(_before);
    }

    [Fact]
    public async Task A_cluster_of_which_one_silo_cannot_start_leaves_nothing()
    {
        var starts = 0;
        var builder = new InProcessTestClusterBuilder(3);
        await using var cluster = builder.ConfigureSilo((_, silo) =>
        {
            if (Interlocked.Increment(ref starts) == 3)
                silo.AddStartupTask(static (_, _) => throw new FormatException());
        }).Build();
        await Assert.ThrowsAsync<FormatException>(cluster.DeployAsync);
        Census.Is(_before);
    }

    [Fact]
    public async Task What_is_known_of_silos_that_are_gone_is_forgotten()
    {
        await using var cluster = InMemory(1);
        await cluster.DeployAsync();
        var node = cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();
        var known = node.Factory.SystemTargets;
        for (var port = 1; port <= 100; port++)
            node.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, SiloAddress.New(System.Net.IPAddress.Loopback, port, 1));
        Assert.Equal(known + 100, node.Factory.SystemTargets);
        node.Factory.OnView(node.ClusterView.View);
        Assert.Equal(known, node.Factory.SystemTargets);
    }

    private static InProcessTestCluster InMemory(short silos) => new InProcessTestClusterBuilder(silos).Build();
}
