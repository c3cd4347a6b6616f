using ActOp.PostgreSql.Streams;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;

namespace Orleans.Hosting;

/// <summary>Adds streams in PostgreSQL to silos.</summary>
public static class SiloBuilderAdoNetStreamExtensions
{
    /// <summary>Adds streams whose queues are in PostgreSQL.</summary>
    public static ISiloBuilder AddAdoNetStreams(this ISiloBuilder builder, string name, Action<AdoNetStreamOptions> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(configureOptions);
        return builder.AddAdoNetStreams(
            name, (SiloAdoNetStreamConfigurator streams) => streams.ConfigureAdoNet(options => options.Configure(configureOptions)));
    }

    /// <summary>Adds streams whose queues are in PostgreSQL.</summary>
    public static ISiloBuilder AddAdoNetStreams(this ISiloBuilder builder, string name, Action<SiloAdoNetStreamConfigurator> configure)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(configure);
        configure(new SiloAdoNetStreamConfigurator(name, services => services(builder.Services)));
        return builder;
    }
}

/// <summary>Adds the streams in PostgreSQL to clients.</summary>
public static class ClusterClientAdoNetStreamExtensions
{
    /// <summary>Adds the streams of the silos. The client writes to the database itself.</summary>
    public static IClientBuilder AddAdoNetStreams(this IClientBuilder builder, string name, Action<AdoNetStreamOptions> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(configureOptions);
        return builder.AddAdoNetStreams(
            name, (ClusterClientAdoNetStreamConfigurator streams) => streams.ConfigureAdoNet(
                options => options.Configure(configureOptions)));
    }

    /// <summary>Adds the streams of the silos. The client writes to the database itself.</summary>
    public static IClientBuilder AddAdoNetStreams(
        this IClientBuilder builder, string name, Action<ClusterClientAdoNetStreamConfigurator> configure)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(configure);
        configure(new ClusterClientAdoNetStreamConfigurator(name, builder));
        return builder;
    }
}

/// <summary>Configures streams in PostgreSQL on a silo.</summary>
public class SiloAdoNetStreamConfigurator : SiloPersistentStreamConfigurator
{
    /// <summary>Registers the provider.</summary>
    public SiloAdoNetStreamConfigurator(string name, Action<Action<IServiceCollection>> configureDelegate)
        : base(name, configureDelegate, PostgresStreams.Create)
    {
    }

    /// <summary>Configures the database, and how long messages are kept.</summary>
    public SiloAdoNetStreamConfigurator ConfigureAdoNet(Action<OptionsBuilder<AdoNetStreamOptions>> configureOptions)
    {
        this.Configure(configureOptions);
        return this;
    }

    /// <summary>Sets how many messages the agent of a queue holds.</summary>
    public SiloAdoNetStreamConfigurator ConfigureCache(int cacheSize = SimpleQueueCacheOptions.DEFAULT_CACHE_SIZE)
    {
        this.Configure<SimpleQueueCacheOptions>(builder => builder.Configure(options => options.CacheSize = cacheSize));
        return this;
    }

    /// <summary>Sets the number of queues, which must be the same on all silos and clients.</summary>
    public SiloAdoNetStreamConfigurator ConfigurePartitioning(int partitions = HashRingStreamQueueMapperOptions.DEFAULT_NUM_QUEUES)
    {
        this.Configure<HashRingStreamQueueMapperOptions>(builder => builder.Configure(options => options.TotalQueueCount = partitions));
        return this;
    }
}

/// <summary>Configures streams in PostgreSQL on a client.</summary>
public class ClusterClientAdoNetStreamConfigurator : ClusterClientPersistentStreamConfigurator
{
    /// <summary>Registers the provider.</summary>
    public ClusterClientAdoNetStreamConfigurator(string name, IClientBuilder clientBuilder)
        : base(name, clientBuilder, PostgresStreams.Create)
    {
    }

    /// <summary>Configures the database, and how long messages are kept.</summary>
    public ClusterClientAdoNetStreamConfigurator ConfigureAdoNet(Action<OptionsBuilder<AdoNetStreamOptions>> configureOptions)
    {
        this.Configure(configureOptions);
        return this;
    }

    /// <summary>The agents are on silos, so this has an effect only there.</summary>
    public ClusterClientAdoNetStreamConfigurator ConfigureCache(int cacheSize = SimpleQueueCacheOptions.DEFAULT_CACHE_SIZE)
    {
        this.Configure<SimpleQueueCacheOptions>(builder => builder.Configure(options => options.CacheSize = cacheSize));
        return this;
    }

    /// <summary>Sets the number of queues, which must be the same on all silos and clients.</summary>
    public ClusterClientAdoNetStreamConfigurator ConfigurePartitioning(int partitions = HashRingStreamQueueMapperOptions.DEFAULT_NUM_QUEUES)
    {
        this.Configure<HashRingStreamQueueMapperOptions>(builder => builder.Configure(options => options.TotalQueueCount = partitions));
        return this;
    }
}
