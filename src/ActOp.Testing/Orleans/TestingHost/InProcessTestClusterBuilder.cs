using Microsoft.Extensions.Hosting;
using Orleans.Hosting;

namespace Orleans.TestingHost;

/// <summary>
/// Describes an <see cref="InProcessTestCluster"/>, with delegates instead of the configurator types of <see cref="TestClusterBuilder"/>.
/// </summary>
public sealed class InProcessTestClusterBuilder
{
    /// <summary>A cluster of two silos.</summary>
    public InProcessTestClusterBuilder()
        : this(2)
    {
    }

    /// <summary>A cluster of <paramref name="initialSilosCount"/> silos.</summary>
    public InProcessTestClusterBuilder(short initialSilosCount)
    {
        Options = new InProcessTestClusterOptions
        {
            InitialSilosCount = initialSilosCount,
            ClusterId = CreateClusterId(),
            ServiceId = Guid.NewGuid().ToString("N"),
        };
    }

    /// <summary>The cluster's options.</summary>
    public InProcessTestClusterOptions Options { get; }

    /// <summary>Where ports come from.</summary>
    public ITestClusterPortAllocator PortAllocator { get; set; } = new TestClusterPortAllocator();

    /// <summary>Creates a unique cluster id.</summary>
    public static string CreateClusterId() => TestClusterBuilder.CreateClusterId();

    /// <summary>Configures every silo.</summary>
    public InProcessTestClusterBuilder ConfigureSilo(Action<InProcessTestSiloSpecificOptions, ISiloBuilder> configureSiloDelegate)
    {
        ArgumentNullException.ThrowIfNull(configureSiloDelegate);
        return ConfigureSiloHost((options, host) => host.UseOrleans(silo => configureSiloDelegate(options, silo)));
    }

    /// <summary>Configures every silo's host.</summary>
    public InProcessTestClusterBuilder ConfigureSiloHost(Action<InProcessTestSiloSpecificOptions,
        IHostApplicationBuilder> configureSiloHostDelegate)
    {
        ArgumentNullException.ThrowIfNull(configureSiloHostDelegate);
        Options.SiloHostConfigurationDelegates.Add(configureSiloHostDelegate);
        return this;
    }

    /// <summary>Configures the client.</summary>
    public InProcessTestClusterBuilder ConfigureClient(Action<IClientBuilder> configureClientDelegate)
    {
        ArgumentNullException.ThrowIfNull(configureClientDelegate);
        return ConfigureClientHost(host => host.UseOrleansClient(configureClientDelegate));
    }

    /// <summary>Configures the client's host.</summary>
    public InProcessTestClusterBuilder ConfigureClientHost(Action<IHostApplicationBuilder> configureHostDelegate)
    {
        ArgumentNullException.ThrowIfNull(configureHostDelegate);
        Options.ClientHostConfigurationDelegates.Add(configureHostDelegate);
        return this;
    }

    /// <summary>Configures the hosts of silos and client.</summary>
    public InProcessTestClusterBuilder ConfigureHost(Action<IHostApplicationBuilder> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(configureDelegate);
        ConfigureSiloHost((_, host) => configureDelegate(host));
        return ConfigureClientHost(configureDelegate);
    }

    /// <summary>The cluster, not deployed yet.</summary>
    public InProcessTestCluster Build() => new(Options, PortAllocator);
}

/// <summary>Options of an <see cref="InProcessTestCluster"/>.</summary>
public sealed class InProcessTestClusterOptions
{
    /// <summary>The id of the cluster; a new one per builder.</summary>
    public string ClusterId { get; set; } = "";

    /// <summary>The id of the service; a new one per builder.</summary>
    public string ServiceId { get; set; } = "";

    /// <summary>Silos that <see cref="InProcessTestCluster.DeployAsync()"/> starts. Default 2.</summary>
    public short InitialSilosCount { get; set; } = 2;

    /// <summary>Whether deploying also connects <see cref="InProcessTestCluster.Client"/>. Default true.</summary>
    public bool InitializeClientOnDeploy { get; set; } = true;

    /// <summary>Whether every silo takes clients (default), or the first one only.</summary>
    public bool GatewayPerSilo { get; set; } = true;

    /// <summary>
    /// Whether silos may be taken to host the same classes. They need not here: each tells the others. For source compatibility only.
    /// </summary>
    public bool AssumeHomogenousSilosForTesting { get; set; } = true;

    /// <summary>Whether warnings and errors of all nodes are also written to a file in the current directory. Default false.</summary>
    public bool ConfigureFileLogging { get; set; }

    /// <summary>The directory is always distributed here; the property is for source compatibility.</summary>
    public bool UseDistributedGrainDirectory { get; set; } = true;

    /// <summary>Silos measure the machine either way; the property is for source compatibility.</summary>
    public bool UseRealEnvironmentStatistics { get; set; }

    /// <summary>Called for the client's host.</summary>
    public List<Action<IHostApplicationBuilder>> ClientHostConfigurationDelegates { get; } = [];

    /// <summary>Called for every silo's host.</summary>
    public List<Action<InProcessTestSiloSpecificOptions, IHostApplicationBuilder>> SiloHostConfigurationDelegates { get; } = [];
}

/// <summary>Options of one silo of an <see cref="InProcessTestCluster"/>.</summary>
public sealed class InProcessTestSiloSpecificOptions
{
    /// <summary>Where clients reach the silo; 0 for nowhere.</summary>
    public int GatewayPort { get; set; }

    /// <summary>The silo's name, like Silo_0.</summary>
    public string SiloName { get; set; } = "";

    /// <summary>Where silos reach it.</summary>
    public int SiloPort { get; set; }

    internal int InstanceNumber { get; init; }

    /// <summary>Name and ports of the silo with this number.</summary>
    /// <param name="testCluster">Its cluster.</param>
    /// <param name="testClusterOptions">The cluster's options.</param>
    /// <param name="instanceNumber">Its number.</param>
    /// <param name="assignNewPort">Whether it gets ports that no silo of the cluster has had.</param>
    public static InProcessTestSiloSpecificOptions Create(InProcessTestCluster testCluster, InProcessTestClusterOptions testClusterOptions,
        int instanceNumber, bool assignNewPort = false)
    {
        ArgumentNullException.ThrowIfNull(testCluster);
        ArgumentNullException.ThrowIfNull(testClusterOptions);
        var (siloPort, gatewayPort) = testCluster.PortsOf(instanceNumber, assignNewPort);
        return new InProcessTestSiloSpecificOptions
        {
            InstanceNumber = instanceNumber,
            SiloName = "Silo_" + instanceNumber,
            SiloPort = siloPort,
            GatewayPort = testClusterOptions.GatewayPerSilo || instanceNumber == 0 ? gatewayPort : 0,
        };
    }
}
