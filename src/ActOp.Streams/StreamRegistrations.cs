using ActOp.Foundation;
using ActOp.Runtime.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Orleans.BroadcastChannel;
using Orleans.Hosting;
using Orleans.Metadata;
using Orleans.Providers;
using Orleans.Providers.Streams.Common;
using Orleans.Streams;
using Orleans.Streams.Core;

namespace ActOp.Streams;

/// <summary>The services that streams and broadcast channels register in the application's container.</summary>
internal static class StreamRegistrations
{
    internal static void AddSilo(IServiceCollection services)
    {
        AddCommon(services);
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IGrainPropertiesProvider, AttributeGrainBindingsProvider>());
        services.TryAddTransient(StreamNode.NewConsumers);
        services.TryAddTransient(Channels.ChannelConsumers.New);
    }

    internal static void AddClient(IServiceCollection services) => AddCommon(services);

    internal static void AddProvider(
        INamedServiceConfigurator configurator, Func<IServiceProvider, string, IQueueAdapterFactory> adapterFactory)
    {
        configurator.ConfigureComponent<IStreamProvider>(PersistentStreamProvider.Create);
        configurator.ConfigureComponent(static (services, name) =>
            (IControllable)services.GetRequiredKeyedService<IStreamProvider>(name));
        configurator.ConfigureComponent(adapterFactory);
    }

    private static void AddCommon(IServiceCollection services)
    {
        StreamValueCodecs.Add();
        services.TryAddSingleton(static provider =>
        {
            var node = provider.GetRequiredService<Node>();
            return new StreamNode(node.Local, node.ClusterView, node.Activations, node.Classes, node.Factory, node.Calls,
                new StreamLog(GuardedLoggers.GuardedOf(provider).CreateLogger("ActOp.Streams")));
        });
        services.TryAddSingleton<IProviderRuntime>(static provider => provider.GetRequiredService<StreamNode>());
        services.TryAddSingleton(static provider => new ImplicitSubscriptions(provider.GetRequiredService<StreamNode>()));
        services.TryAddSingleton<IStreamSubscriptionManagerAdmin>(static provider => new SubscriptionManagers(
            provider.GetRequiredService<StreamNode>(), provider.GetRequiredService<ImplicitSubscriptions>()));
        services.TryAddEnumerable(
            ServiceDescriptor.Singleton<IStreamNamespacePredicateProvider, DefaultStreamNamespacePredicateProvider>());
        services.TryAddEnumerable(
            ServiceDescriptor.Singleton<IStreamNamespacePredicateProvider, ConstructorStreamNamespacePredicateProvider>());
        services.TryAddEnumerable(
            ServiceDescriptor.Singleton<IChannelNamespacePredicateProvider, DefaultChannelNamespacePredicateProvider>());
        services.TryAddEnumerable(
            ServiceDescriptor.Singleton<IChannelNamespacePredicateProvider, ConstructorChannelNamespacePredicateProvider>());
        services.TryAddKeyedSingleton<IStreamIdMapper, DefaultStreamIdMapper>(DefaultStreamIdMapper.Name);
        services.TryAddKeyedSingleton<IChannelIdMapper, DefaultChannelIdMapper>(DefaultChannelIdMapper.Name);
        services.AddOptions();
    }
}
