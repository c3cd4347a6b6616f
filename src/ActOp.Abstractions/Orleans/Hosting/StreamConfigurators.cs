using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Runtime.Providers;
using Orleans.Streams;

namespace Orleans.Hosting;

/// <summary>Configures a stream provider with queues.</summary>
public interface IPersistentStreamConfigurator : INamedServiceConfigurator
{
}

/// <summary>Configures a stream provider with queues on a silo.</summary>
public interface ISiloPersistentStreamConfigurator : IPersistentStreamConfigurator
{
}

/// <summary>Configures a stream provider on a silo whose items can be read again.</summary>
public interface ISiloRecoverableStreamConfigurator : ISiloPersistentStreamConfigurator
{
}

/// <summary>Configures a stream provider with queues on a client.</summary>
public interface IClusterClientPersistentStreamConfigurator : IPersistentStreamConfigurator
{
}

/// <summary>Configures memory streams.</summary>
public interface IMemoryStreamConfigurator : INamedServiceConfigurator
{
}

/// <summary>Configures memory streams on a silo.</summary>
public interface ISiloMemoryStreamConfigurator : IMemoryStreamConfigurator, ISiloRecoverableStreamConfigurator
{
}

/// <summary>Configures memory streams on a client.</summary>
public interface IClusterClientMemoryStreamConfigurator : IMemoryStreamConfigurator, IClusterClientPersistentStreamConfigurator
{
}

/// <summary>What every stream provider with queues can be configured with.</summary>
public static class PersistentStreamConfiguratorExtensions
{
    /// <summary>Says which subscriptions the provider knows.</summary>
    public static void ConfigureStreamPubSub(
        this IPersistentStreamConfigurator configurator,
        StreamPubSubType pubsubType = StreamPubSubOptions.DEFAULT_STREAM_PUBSUB_TYPE) =>
            configurator.Configure<StreamPubSubOptions>(builder => builder.Configure(options => options.PubSubType = pubsubType));
}

/// <summary>What memory streams can be configured with.</summary>
public static class MemoryStreamConfiguratorExtensions
{
    /// <summary>Sets the number of queues, which must be the same on all silos and clients.</summary>
    public static void ConfigurePartitioning(
        this IMemoryStreamConfigurator configurator, int numOfQueues = HashRingStreamQueueMapperOptions.DEFAULT_NUM_QUEUES) =>
            configurator.Configure<HashRingStreamQueueMapperOptions>(builder =>
                builder.Configure(options => options.TotalQueueCount = numOfQueues));
}

/// <summary>What every stream provider with queues can be configured with on a silo.</summary>
public static class SiloPersistentStreamConfiguratorExtensions
{
    /// <summary>Configures how agents read and deliver.</summary>
    public static void ConfigurePullingAgent(
        this ISiloPersistentStreamConfigurator configurator, Action<OptionsBuilder<StreamPullingAgentOptions>>? configureOptions = null) =>
            configurator.Configure(configureOptions);

    /// <summary>Configures when the provider starts.</summary>
    public static void ConfigureLifecycle(
        this ISiloPersistentStreamConfigurator configurator, Action<OptionsBuilder<StreamLifecycleOptions>> configureOptions) =>
            configurator.Configure(configureOptions);

    /// <summary>Replaces what distributes the queues over the silos.</summary>
    public static void ConfigurePartitionBalancing(
        this ISiloPersistentStreamConfigurator configurator, Func<IServiceProvider, string, IStreamQueueBalancer> factory) =>
            configurator.ConfigureComponent(factory);

    /// <summary>Replaces what distributes the queues over the silos.</summary>
    public static void ConfigurePartitionBalancing<TOptions>(
        this ISiloPersistentStreamConfigurator configurator, Func<IServiceProvider, string, IStreamQueueBalancer> factory,
        Action<OptionsBuilder<TOptions>> configureOptions)
        where TOptions : class, new() => configurator.ConfigureComponent(factory, configureOptions);

    /// <summary>Sets the pauses between deliveries of an item whose consumer fails.</summary>
    public static void ConfigureBackoffProvider(
        this ISiloPersistentStreamConfigurator configurator, Func<IServiceProvider, string, IMessageDeliveryBackoffProvider> factory) =>
            configurator.ConfigureComponent(factory);

    /// <summary>Sets the pauses between attempts to read a queue that fails.</summary>
    public static void ConfigureBackoffProvider(
        this ISiloPersistentStreamConfigurator configurator, Func<IServiceProvider, string, IQueueReaderBackoffProvider> factory) =>
            configurator.ConfigureComponent(factory);
}

/// <summary>What streams whose items can be read again can be configured with.</summary>
public static class SiloRecoverableStreamConfiguratorExtensions
{
    /// <summary>Configures how long delivered items stay in the cache.</summary>
    public static void ConfigureCacheEviction(
        this ISiloRecoverableStreamConfigurator configurator, Action<OptionsBuilder<StreamCacheEvictionOptions>> configureOptions) =>
            configurator.Configure(configureOptions);

    /// <summary>Has no effect, see <see cref="StreamStatisticOptions"/>.</summary>
    public static void ConfigureStatistics(
        this ISiloRecoverableStreamConfigurator configurator, Action<OptionsBuilder<StreamStatisticOptions>> configureOptions)
    {
        configurator.Configure(configureOptions);
        // The start reports an option without effect by the options without a name.
        configurator.ConfigureDelegate(services => configureOptions(services.AddOptions<StreamStatisticOptions>()));
    }
}

/// <summary>What stream providers can be configured with on a client.</summary>
public static class ClusterClientPersistentStreamConfiguratorExtensions
{
    /// <summary>Configures when the provider starts.</summary>
    public static void ConfigureLifecycle(
        this IClusterClientPersistentStreamConfigurator configurator, Action<OptionsBuilder<StreamLifecycleOptions>> configureOptions) =>
            configurator.Configure(configureOptions);
}
