using System.Globalization;
using System.Net;
using System.Text.Json;
using ActOp.Testing;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans.Configuration;
using Orleans.Hosting;

namespace Orleans.TestingHost;

/// <summary>Describes a <see cref="TestCluster"/>.</summary>
public class TestClusterBuilder
{
    private readonly List<Action> _configureBuilder = [];
    private readonly List<Action<IConfigurationBuilder>> _configureHost = [];
    private Func<string, IConfiguration, CancellationToken, Task<SiloHandle>>? _createSilo;

    /// <summary>A cluster of two silos.</summary>
    public TestClusterBuilder()
        : this(2)
    {
    }

    /// <summary>A cluster of <paramref name="initialSilosCount"/> silos.</summary>
    public TestClusterBuilder(short initialSilosCount)
    {
        Options = new TestClusterOptions
        {
            InitialSilosCount = initialSilosCount,
            ClusterId = CreateClusterId(),
            ServiceId = Guid.NewGuid().ToString("N"),
        };
    }

    /// <summary>The cluster's options.</summary>
    public TestClusterOptions Options { get; }

    /// <summary>Where ports come from when the options name none.</summary>
    public ITestClusterPortAllocator PortAllocator { get; set; } = new TestClusterPortAllocator();

    /// <summary>Values for the configuration of all nodes.</summary>
    public Dictionary<string, string?> Properties { get; } = [];

    /// <summary>How silos are made instead of <see cref="TestCluster.DefaultCreateSiloAsync(string, IConfiguration)"/>.</summary>
    public Func<string, IConfiguration, Task<SiloHandle>> CreateSiloAsync
    {
        set => _createSilo = (name, configuration, _) => value(name, configuration);
    }

    /// <summary>How silos are made, by a function that can be cancelled.</summary>
    public Func<string, IConfiguration, CancellationToken, Task<SiloHandle>> CreateSiloAsyncWithCancellation
    {
        set => _createSilo = value;
    }

    /// <summary>Creates a unique cluster id.</summary>
    public static string CreateClusterId() => "testcluster-" + Guid.NewGuid().ToString("N")[..12];

    /// <summary>Adds an <see cref="ISiloConfigurator"/> or <see cref="IHostConfigurator"/> for silos.</summary>
    public TestClusterBuilder AddSiloBuilderConfigurator<T>()
        where T : new()
    {
        if (!typeof(ISiloConfigurator).IsAssignableFrom(typeof(T)) && !typeof(IHostConfigurator).IsAssignableFrom(typeof(T)))
            throw new ArgumentException("The type " + typeof(T) + " implements neither ISiloConfigurator nor IHostConfigurator.");
        Options.SiloBuilderConfiguratorTypes.Add(typeof(T).AssemblyQualifiedName);
        return this;
    }

    /// <summary>Adds an <see cref="IClientBuilderConfigurator"/> or <see cref="IHostConfigurator"/> for the client.</summary>
    public TestClusterBuilder AddClientBuilderConfigurator<T>()
        where T : new()
    {
        if (!typeof(IClientBuilderConfigurator).IsAssignableFrom(typeof(T)) && !typeof(IHostConfigurator).IsAssignableFrom(typeof(T)))
            throw new ArgumentException("The type " + typeof(T) + " implements neither IClientBuilderConfigurator nor IHostConfigurator.");
        Options.ClientBuilderConfiguratorTypes.Add(typeof(T).AssemblyQualifiedName);
        return this;
    }

    /// <summary>Called by <see cref="Build"/> before anything else.</summary>
    public TestClusterBuilder ConfigureBuilder(Action configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(configureDelegate);
        _configureBuilder.Add(configureDelegate);
        return this;
    }

    /// <summary>Adds to the configuration of all nodes.</summary>
    public TestClusterBuilder ConfigureHostConfiguration(Action<IConfigurationBuilder> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(configureDelegate);
        _configureHost.Add(configureDelegate);
        return this;
    }

    /// <summary>The cluster, not deployed yet.</summary>
    public TestCluster Build()
    {
        foreach (var configure in _configureBuilder)
            configure();
        var configuration = new ConfigurationBuilder();
        foreach (var configure in _configureHost)
            configure(configuration);
        configuration.AddInMemoryCollection(Properties);
        if (Options.BaseSiloPort == 0 || Options.BaseGatewayPort == 0)
        {
            (Options.BaseSiloPort, Options.BaseGatewayPort) = PortAllocator.AllocateConsecutivePortPairs(
                Math.Max(16, Options.InitialSilosCount * 2));
        }

        configuration.AddInMemoryCollection(Options.ToDictionary());
        var cluster = new TestCluster(Options, [.. configuration.Sources], PortAllocator);
        if (_createSilo is not null)
            cluster.CreateSiloAsyncWithCancellation = _createSilo;
        return cluster;
    }
}

/// <summary>Configures every silo of a <see cref="TestCluster"/>; made once per silo by its parameterless constructor.</summary>
public interface ISiloConfigurator
{
    /// <summary>Called before the silo starts.</summary>
    void Configure(ISiloBuilder siloBuilder);
}

/// <summary>Configures the host of every silo, or of the client, of a <see cref="TestCluster"/>.</summary>
public interface IHostConfigurator
{
    /// <summary>Called before the host is built.</summary>
    void Configure(IHostBuilder hostBuilder);
}

/// <summary>Configures the client of a <see cref="TestCluster"/>; made by its parameterless constructor.</summary>
public interface IClientBuilderConfigurator
{
    /// <summary>Called before the client connects.</summary>
    /// <param name="configuration">The cluster's configuration, with <see cref="TestClusterBuilder.Properties"/>.</param>
    /// <param name="clientBuilder">The client.</param>
    void Configure(IConfiguration configuration, IClientBuilder clientBuilder);
}

/// <summary>
/// Makes the hosts of silos and clients that are configured as those of a <see cref="TestCluster"/> and connected over TCP: the first silo
/// (<see cref="TestSiloSpecificOptions.PrimarySiloEndPoint"/>) keeps the membership, and a client takes the first gateway.
/// </summary>
/// <remarks>Holds nothing. The caller starts the hosts and disposes of them.</remarks>
public static class TestClusterHostFactory
{
    /// <summary>The host of a silo, which is not started.</summary>
    /// <param name="hostName">The name of the silo.</param>
    /// <param name="configuration">
    /// What <see cref="TestClusterOptions.ToDictionary"/> and <see cref="TestSiloSpecificOptions.ToDictionary"/> return.
    /// </param>
    /// <param name="postConfigureHostBuilder">Called last.</param>
    public static IHost CreateSiloHost(
        string hostName, IConfiguration configuration, Action<IHostBuilder>? postConfigureHostBuilder = null)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        var cluster = configuration.GetTestClusterOptions();
        var own = new TestSiloSpecificOptions();
        own.SiloName = configuration[nameof(own.SiloName)] ?? hostName;
        own.SiloPort = int.Parse(configuration[nameof(own.SiloPort)] ?? "0", CultureInfo.InvariantCulture);
        own.GatewayPort = int.Parse(configuration[nameof(own.GatewayPort)] ?? "0", CultureInfo.InvariantCulture);
        var primary = configuration[nameof(own.PrimarySiloEndPoint)] is { Length: > 0 } text ? IPEndPoint.Parse(text) : null;
        var builder = Hosts.NewBuilder(configuration);
        builder.UseOrleans((_, silo) =>
        {
            if (cluster.UseTestClusterMembership)
                silo.UseLocalhostClustering(own.SiloPort, own.GatewayPort, primary, cluster.ServiceId, cluster.ClusterId);
            silo.Services.Configure<ClusterOptions>(
                options => (options.ClusterId, options.ServiceId) = (cluster.ClusterId, cluster.ServiceId));
            silo.Services.Configure<SiloOptions>(options => options.SiloName = own.SiloName);
            Fabric.AllowManagement(silo.Services);
        });
        Configurators.ApplyToSilo(builder, configuration);
        postConfigureHostBuilder?.Invoke(builder);
        return builder.Build();
    }

    /// <summary>The host of a client, which is not started.</summary>
    /// <param name="hostName">A name for people.</param>
    /// <param name="configuration">What <see cref="TestClusterOptions.ToDictionary"/> returns.</param>
    /// <param name="postConfigureHostBuilder">Called last.</param>
    public static IHost CreateClusterClient(
        string hostName, IConfiguration configuration, Action<IHostBuilder>? postConfigureHostBuilder = null)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        var cluster = configuration.GetTestClusterOptions();
        var builder = Hosts.NewBuilder(configuration);
        builder.UseOrleansClient((_, client) =>
        {
            if (cluster.UseTestClusterMembership)
                client.UseLocalhostClustering(cluster.BaseGatewayPort, cluster.ServiceId, cluster.ClusterId);
        });
        Configurators.ApplyToClient(builder, configuration);
        postConfigureHostBuilder?.Invoke(builder);
        return builder.Build();
    }

    /// <summary>A configuration as text, for another process.</summary>
    public static string SerializeConfiguration(IConfiguration configuration)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        return JsonSerializer.Serialize(configuration.AsEnumerable().Where(static pair => pair.Value is not null)
            .ToDictionary(static pair => pair.Key, static pair => pair.Value));
    }

    /// <summary>The configuration that <see cref="SerializeConfiguration"/> has written.</summary>
    public static IConfiguration DeserializeConfiguration(string serializedSources) => new ConfigurationBuilder()
        .AddInMemoryCollection(JsonSerializer.Deserialize<Dictionary<string, string?>>(serializedSources)).Build();
}
