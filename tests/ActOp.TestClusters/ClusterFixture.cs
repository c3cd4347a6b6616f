using System.Diagnostics;

namespace ActOp.TestClusters;

/// <summary>A cluster that the tests of one class share; subclasses configure it.</summary>
public abstract class ClusterFixture(short silos) : IAsyncLifetime
{
    public InProcessTestCluster Cluster { get; private set; } = null!;

    public IClusterClient Client => Cluster.Client;

    public TimeSpan DeployTime { get; private set; }

    public async ValueTask InitializeAsync()
    {
        var builder = new InProcessTestClusterBuilder(silos);
        builder.ConfigureSilo((options, silo) => ConfigureSilo(options.SiloName, silo));
        builder.ConfigureClient(ConfigureClient);
        Configure(builder.Options);
        Cluster = builder.Build();
        var watch = Stopwatch.StartNew();
        await Cluster.DeployAsync();
        DeployTime = watch.Elapsed;
    }

    public async ValueTask DisposeAsync()
    {
        await Cluster.DisposeAsync();
        GC.SuppressFinalize(this);
    }

    /// <summary>The client that is hosted in a silo.</summary>
    public IClusterClient ClientOf(int silo) => Cluster.Silos[silo].ServiceProvider.GetRequiredService<IClusterClient>();

    public SiloAddress AddressOf(int silo) => Cluster.Silos[silo].SiloAddress;

    protected virtual void Configure(InProcessTestClusterOptions options)
    {
    }

    /// <summary>Configures one silo.</summary>
    /// <param name="name">Silo_ and its number.</param>
    /// <param name="silo">The silo.</param>
    protected virtual void ConfigureSilo(string name, ISiloBuilder silo) => ConfigureSilo(silo);

    protected virtual void ConfigureSilo(ISiloBuilder silo)
    {
    }

    protected virtual void ConfigureClient(IClientBuilder client)
    {
    }
}

/// <summary>Two silos and a client as they come.</summary>
public sealed class TwoSilos() : ClusterFixture(2);
