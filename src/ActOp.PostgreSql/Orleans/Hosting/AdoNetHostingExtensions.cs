using ActOp.PostgreSql.Membership;
using ActOp.PostgreSql.Schema;
using ActOp.Runtime.Cluster;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Messaging;
using Orleans.Runtime;

namespace Orleans.Hosting;

/// <summary>Clustering by a membership table in PostgreSQL.</summary>
public static class AdoNetHostingExtensions
{
    /// <summary>
    /// The silos find each other by a table in PostgreSQL. While the database does not answer, the cluster works on, but no silo can join
    /// or be declared dead; with a finite lease (<c>ClusterLeaseOptions.Duration</c>), grains pause when the lease ends.
    /// </summary>
    public static ISiloBuilder UseAdoNetClustering(
        this ISiloBuilder builder, Action<OptionsBuilder<AdoNetClusteringSiloOptions>> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(configureOptions);
        configureOptions(builder.Services.AddOptions<AdoNetClusteringSiloOptions>());
        builder.Services.AddSingleton(static provider => new MembershipDatabase(Database.FromServices(
            provider, provider.GetRequiredService<IOptions<AdoNetClusteringSiloOptions>>().Value.Choice, MembershipDatabase.Connections)));
        builder.Services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(
            static provider => new MembershipStart(provider.GetRequiredService<MembershipDatabase>()));
        builder.Services.AddSingleton<ClusterTableFactory>(static provider =>
        {
            var database = provider.GetRequiredService<MembershipDatabase>().Database;
            var cluster = provider.GetRequiredService<IOptions<ClusterOptions>>().Value.ClusterId;
            return _ => new PostgresMembershipTable(database, cluster);
        });
        return builder;
    }

    /// <inheritdoc cref="UseAdoNetClustering(ISiloBuilder, Action{OptionsBuilder{AdoNetClusteringSiloOptions}})"/>
    public static ISiloBuilder UseAdoNetClustering(this ISiloBuilder builder, Action<AdoNetClusteringSiloOptions> configureOptions) =>
        builder.UseAdoNetClustering((OptionsBuilder<AdoNetClusteringSiloOptions> options) => options.Configure(configureOptions));

    /// <summary>
    /// The client finds the gateways of the cluster in the table of its silos, and looks again every
    /// <see cref="GatewayOptions.GatewayListRefreshPeriod"/>, and at once when it has lost all silos.
    /// </summary>
    public static IClientBuilder UseAdoNetClustering(
        this IClientBuilder builder, Action<OptionsBuilder<AdoNetClusteringClientOptions>> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(configureOptions);
        configureOptions(builder.Services.AddOptions<AdoNetClusteringClientOptions>());
        builder.Services.AddSingleton(static provider => new MembershipDatabase(Database.FromServices(
            provider, provider.GetRequiredService<IOptions<AdoNetClusteringClientOptions>>().Value.Choice,
            MembershipDatabase.Connections)));
        builder.Services.AddSingleton<IGatewayListProvider>(static provider => new PostgresGateways(
            provider.GetRequiredService<MembershipDatabase>(), provider.GetRequiredService<IOptions<ClusterOptions>>().Value.ClusterId,
            provider.GetRequiredService<IOptions<GatewayOptions>>().Value.GatewayListRefreshPeriod));
        return builder;
    }

    /// <inheritdoc cref="UseAdoNetClustering(IClientBuilder, Action{OptionsBuilder{AdoNetClusteringClientOptions}})"/>
    public static IClientBuilder UseAdoNetClustering(this IClientBuilder builder, Action<AdoNetClusteringClientOptions> configureOptions) =>
        builder.UseAdoNetClustering((OptionsBuilder<AdoNetClusteringClientOptions> options) => options.Configure(configureOptions));
}
