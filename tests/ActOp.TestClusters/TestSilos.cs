namespace ActOp.TestClusters;

/// <summary>A cluster of one test, where a <see cref="ClusterFixture"/> is one of a class.</summary>
public static class TestSilos
{
    /// <summary>Silos and a client that have started; the test disposes of them.</summary>
    public static async Task<InProcessTestCluster> StartAsync(short silos = 1, Action<ISiloBuilder>? configure = null)
    {
        var builder = new InProcessTestClusterBuilder(silos);
        if (configure is not null)
            builder.ConfigureSilo((_, silo) => configure(silo));
        var cluster = builder.Build();
        try
        {
            await cluster.DeployAsync();
            return cluster;
        }
        catch
        {
            await cluster.DisposeAsync();
            throw;
        }
    }
}
