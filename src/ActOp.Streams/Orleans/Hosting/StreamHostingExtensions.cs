using ActOp.Streams;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Configuration;
using Orleans.Providers;
using Orleans.Providers.Streams.Common;
using Orleans.Runtime;
using Orleans.Streams;
using Orleans.Streams.Filtering;

namespace Orleans.Hosting;

/// <summary>Adds streams to silos.</summary>
public static class SiloBuilderStreamingExtensions
{
    /// <summary>Adds what streams need; every method that adds a provider calls it.</summary>
    public static ISiloBuilder AddStreaming(this ISiloBuilder builder)
    {
        builder.Services.AddSiloStreaming();
        return builder;
    }

    /// <summary>Adds a provider whose items go through the queues of an adapter.</summary>
    public static ISiloBuilder AddPersistentStreams(
        this ISiloBuilder builder, string name, Func<IServiceProvider, string, IQueueAdapterFactory> adapterFactory,
        Action<ISiloPersistentStreamConfigurator> configureStream)
    {
        var configurator = new SiloPersistentStreamConfigurator(name, configure => configure(builder.Services), adapterFactory);
        configureStream?.Invoke(configurator);
        return builder;
    }

    /// <summary>Filters what the subscriptions of a provider get.</summary>
    public static ISiloBuilder AddStreamFilter<T>(this ISiloBuilder builder, string name)
        where T : class, IStreamFilter
    {
        builder.Services.AddStreamFilter<T>(name);
        return builder;
    }

    /// <summary>Filters what the subscriptions of a provider get. Filters run on silos, so this has an effect only there.</summary>
    public static IClientBuilder AddStreamFilter<T>(this IClientBuilder builder, string name)
        where T : class, IStreamFilter
    {
        builder.Services.AddStreamFilter<T>(name);
        return builder;
    }
}

/// <summary>Adds streams to clients.</summary>
public static class ClientBuilderStreamingExtensions
{
    /// <summary>Adds what streams need; every method that adds a provider calls it.</summary>
    public static IClientBuilder AddStreaming(this IClientBuilder builder)
    {
        builder.Services.AddClientStreaming();
        return builder;
    }

    /// <summary>Adds a provider whose items go through the queues of an adapter.</summary>
    public static IClientBuilder AddPersistentStreams(
        this IClientBuilder builder, string name, Func<IServiceProvider, string, IQueueAdapterFactory> adapterFactory,
        Action<IClusterClientPersistentStreamConfigurator>? configureStream)
    {
        var configurator = new ClusterClientPersistentStreamConfigurator(name, builder, adapterFactory);
        configureStream?.Invoke(configurator);
        return builder;
    }

    /// <summary>Adds the memory streams of the silos.</summary>
    public static IClientBuilder AddMemoryStreams(
        this IClientBuilder builder, string name, Action<IClusterClientMemoryStreamConfigurator>? configure = null) =>
            builder.AddMemoryStreams<DefaultMemoryMessageBodySerializer>(name, configure);

    /// <summary>Adds the memory streams of the silos.</summary>
    public static IClientBuilder AddMemoryStreams<TSerializer>(
        this IClientBuilder builder, string name, Action<IClusterClientMemoryStreamConfigurator>? configure = null)
        where TSerializer : class, IMemoryMessageBodySerializer
    {
        var configurator = new ClusterClientMemoryStreamConfigurator<TSerializer>(name, builder);
        configure?.Invoke(configurator);
        return builder;
    }
}

/// <summary>Adds memory streams to silos.</summary>
public static class SiloBuilderMemoryStreamExtensions
{
    /// <summary>Adds streams whose queues are in the memory of the silos: what is in a queue is lost with the silo that has it.</summary>
    public static ISiloBuilder AddMemoryStreams(
        this ISiloBuilder builder, string name, Action<ISiloMemoryStreamConfigurator>? configure = null) =>
            builder.AddMemoryStreams<DefaultMemoryMessageBodySerializer>(name, configure);

    /// <summary>Adds streams whose queues are in the memory of the silos: what is in a queue is lost with the silo that has it.</summary>
    public static ISiloBuilder AddMemoryStreams<TSerializer>(
        this ISiloBuilder builder, string name, Action<ISiloMemoryStreamConfigurator>? configure = null)
        where TSerializer : class, IMemoryMessageBodySerializer
    {
        var configurator = new SiloMemoryStreamConfigurator<TSerializer>(name, configure => configure(builder.Services));
        configure?.Invoke(configurator);
        return builder;
    }
}

/// <summary>Adds streams to the services of a host.</summary>
public static class StreamingServiceCollectionExtensions
{
    /// <summary>Adds what streams need on a silo.</summary>
    public static void AddSiloStreaming(this IServiceCollection services) => StreamRegistrations.AddSilo(services);

    /// <summary>Adds what streams need on a client.</summary>
    public static void AddClientStreaming(this IServiceCollection services) => StreamRegistrations.AddClient(services);

    /// <summary>Filters what the subscriptions of a provider get.</summary>
    public static IServiceCollection AddStreamFilter<T>(this IServiceCollection services, string name)
        where T : class, IStreamFilter => services.AddKeyedSingleton<IStreamFilter, T>(name);
}

/// <summary>Configures a stream provider with queues on a silo.</summary>
public class SiloPersistentStreamConfigurator : NamedServiceConfigurator, ISiloPersistentStreamConfigurator
{
    /// <summary>Registers the provider.</summary>
    public SiloPersistentStreamConfigurator(
        string name, Action<Action<IServiceCollection>> configureDelegate,
            Func<IServiceProvider, string, IQueueAdapterFactory> adapterFactory)
        : base(name, configureDelegate)
    {
        ConfigureDelegate(services =>
        {
            services.AddSiloStreaming();
            services.AddSingleton(provider => PersistentStreamProvider.ParticipateIn<ISiloLifecycle>(provider, name));
        });
        StreamRegistrations.AddProvider(this, adapterFactory);
    }
}

/// <summary>Configures a stream provider on a silo whose items can be read again.</summary>
public class SiloRecoverableStreamConfigurator : SiloPersistentStreamConfigurator, ISiloRecoverableStreamConfigurator
{
    /// <summary>Registers the provider.</summary>
    public SiloRecoverableStreamConfigurator(
        string name, Action<Action<IServiceCollection>> configureDelegate,
            Func<IServiceProvider, string, IQueueAdapterFactory> adapterFactory)
        : base(name, configureDelegate, adapterFactory)
    {
        this.Configure<StreamCacheEvictionOptions>(static _ => { });
    }
}

/// <summary>Configures memory streams on a silo.</summary>
/// <typeparam name="TSerializer">Turns the items into bytes.</typeparam>
public class SiloMemoryStreamConfigurator<TSerializer> : SiloRecoverableStreamConfigurator, ISiloMemoryStreamConfigurator
    where TSerializer : class, IMemoryMessageBodySerializer
{
    /// <summary>Registers the provider.</summary>
    public SiloMemoryStreamConfigurator(string name, Action<Action<IServiceCollection>> configureServicesDelegate)
        : base(name, configureServicesDelegate, MemoryAdapterFactory<TSerializer>.Create) =>
            this.ConfigureComponent<IMemoryMessageBodySerializer>(
                static (services, _) => MessageBodySerializer.Create<TSerializer>(services));
}

/// <summary>Configures a stream provider with queues on a client.</summary>
public class ClusterClientPersistentStreamConfigurator : NamedServiceConfigurator, IClusterClientPersistentStreamConfigurator
{
    /// <summary>Registers the provider.</summary>
    public ClusterClientPersistentStreamConfigurator(
        string name, IClientBuilder clientBuilder, Func<IServiceProvider, string, IQueueAdapterFactory> adapterFactory)
        : base(name, configure => configure(clientBuilder.Services))
    {
        ArgumentNullException.ThrowIfNull(clientBuilder);
        clientBuilder.AddStreaming();
        clientBuilder.Services.AddSingleton(provider => PersistentStreamProvider.ParticipateIn<IClusterClientLifecycle>(provider, name));
        StreamRegistrations.AddProvider(this, adapterFactory);
    }
}

/// <summary>Configures memory streams on a client.</summary>
/// <typeparam name="TSerializer">Turns the items into bytes.</typeparam>
public class ClusterClientMemoryStreamConfigurator<TSerializer>
    : ClusterClientPersistentStreamConfigurator, IClusterClientMemoryStreamConfigurator
    where TSerializer : class, IMemoryMessageBodySerializer
{
    /// <summary>Registers the provider.</summary>
    public ClusterClientMemoryStreamConfigurator(string name, IClientBuilder builder)
        : base(name, builder, MemoryAdapterFactory<TSerializer>.Create) =>
            this.ConfigureComponent<IMemoryMessageBodySerializer>(
                static (services, _) => MessageBodySerializer.Create<TSerializer>(services));
}
