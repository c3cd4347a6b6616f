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

    /// <summary>An id for a cluster that no other has.</summary>
    public static string CreateClusterId() => TestClusterBuilder.CreateClusterId();

    /// <summary>Configures every silo.</summary>
    public InProcessTestClusterBuilder ConfigureSilo(Action<InProcessTestSiloSpecificOptions, ISiloBuilder> configureSiloDelegate)
    {
        ArgumentNullException.ThrowIfNull(configureSiloDelegate);
        return ConfigureSiloHost((options, host) => host.UseOrleans(silo => configureSiloDelegate(options, silo)));
    }

    /// <summary>Configures every silo's host.</summary>
    public InProcessTestClusterBuilder ConfigureSiloHost(Action<InProcessTestSiloSpecificOptions, IHostApplicationBuilder> configureSiloHostDelegate)
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
