using System.Net;
using ActOp.Runtime.Cluster;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;

namespace Orleans.Hosting;

/// <summary>Configures the clustering of a silo.</summary>
public static class CoreHostingExtensions
{
    /// <summary>
    /// The directory of the runtime, which is spread over all silos and keeps one activation per grain, is the default. With a
    /// <paramref name="name"/>, classes may also name it (<c>[GrainDirectory(name)]</c>).
    /// </summary>
    public static ISiloBuilder AddDistributedGrainDirectory(this ISiloBuilder siloBuilder, string? name = null) =>
        siloBuilder.ConfigureServices(services => services.AddSingleton(new ActOp.Runtime.Directory.BuiltInDirectory(name)));

    /// <summary>Traces go with the calls. They always do, while somebody listens: there is nothing to add.</summary>
    public static ISiloBuilder AddActivityPropagation(this ISiloBuilder builder) => builder;

    /// <summary>
    /// Silos on this machine with nothing to install: the first silo (<paramref name="primarySiloEndpoint"/>, by default this one) keeps
    /// the membership table in memory and serves it to the others. For development and tests: while that silo is down, no silo can join or
    /// be declared dead, and with a finite lease (<c>ClusterLeaseOptions.Duration</c>) all silos pause when it ends. When it restarts at
    /// the same endpoint, it recovers the table from the others.
    /// </summary>
    public static ISiloBuilder UseLocalhostClustering(this ISiloBuilder builder, int siloPort = EndpointOptions.DEFAULT_SILO_PORT,
        int gatewayPort = EndpointOptions.DEFAULT_GATEWAY_PORT, IPEndPoint? primarySiloEndpoint = null, string serviceId = "dev",
        string clusterId = "dev")
    {
        builder.Configure<EndpointOptions>(options =>
        {
            options.AdvertisedIPAddress = IPAddress.Loopback;
            options.SiloPort = siloPort;
            options.GatewayPort = gatewayPort;
        });
        builder.Configure<ClusterOptions>(options =>
        {
            options.ServiceId = serviceId;
            options.ClusterId = clusterId;
        });
        return builder.UseDevelopmentClustering(primarySiloEndpoint ?? new IPEndPoint(IPAddress.Loopback, siloPort));
    }

    /// <summary>One silo keeps the membership table in memory and serves it to the others.</summary>
    /// <param name="builder">The silo.</param>
    /// <param name="primarySiloEndpoint">That silo's endpoint; null for this one.</param>
    public static ISiloBuilder UseDevelopmentClustering(this ISiloBuilder builder, IPEndPoint? primarySiloEndpoint) =>
        builder.UseDevelopmentClustering((DevelopmentClusterMembershipOptions options) =>
            options.PrimarySiloEndpoint = primarySiloEndpoint);

    /// <summary>One silo keeps the membership table in memory and serves it to the others.</summary>
    public static ISiloBuilder UseDevelopmentClustering(this ISiloBuilder builder,
        Action<DevelopmentClusterMembershipOptions> configureOptions) =>
        builder.UseDevelopmentClustering((OptionsBuilder<DevelopmentClusterMembershipOptions> options) =>
            options.Configure(configureOptions));

    /// <summary>One silo keeps the membership table in memory and serves it to the others.</summary>
    public static ISiloBuilder UseDevelopmentClustering(this ISiloBuilder builder,
        Action<OptionsBuilder<DevelopmentClusterMembershipOptions>> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(configureOptions);
        configureOptions(builder.Services.AddOptions<DevelopmentClusterMembershipOptions>());
        // All silos are on this machine if the primary one is at loopback.
        builder.Services.AddOptions<EndpointOptions>().Configure<IOptions<DevelopmentClusterMembershipOptions>>(
            static (options, clustering) => options.AdvertisedIPAddress ??=
                clustering.Value.PrimarySiloEndpoint is { Address: var primary } && IPAddress.IsLoopback(primary) ? primary : null!);
        builder.Services.AddSingleton<ClusterTableFactory>(provider => parts =>
        {
            var primary = provider.GetRequiredService<IOptions<DevelopmentClusterMembershipOptions>>().Value.PrimarySiloEndpoint;
            return primary is null || primary.Equals(parts.Local.Address.Endpoint)
                ? new EmbeddedTable(parts)
                : new SeedTable(parts, primary);
        });
        return builder;
    }
}
