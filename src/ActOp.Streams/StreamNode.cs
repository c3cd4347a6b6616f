using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Providers;
using Orleans.Runtime;
using Orleans.Streams;

namespace ActOp.Streams;

/// <summary>
/// What streams use of their silo or client: one object per node, in the container of the application. Immutable, except for the consumer
/// of code outside of grains, which is made at its first use. Any thread.
/// </summary>
internal sealed class StreamNode(
    LocalNode local, ClusterView clusterView, ActivationTable activations, GrainClasses classes, GrainFactory factory, CallRuntime calls,
    StreamLog log)
    : IProviderRuntime
{
    private readonly Lock _gate = new();
    private ClientConsumer? _client;

    /// <summary>1 if it was logged that subscriptions are not stored.</summary>
    internal int HasReportedStore;

    internal LocalNode Local => local;

    internal ClusterView ClusterView => clusterView;

    internal GrainClasses Classes => classes;

    internal StreamLog Log => log;

    /// <summary>What references in items are bound to.</summary>
    internal CallRuntime Calls => calls;

    internal IServiceProvider Services => local.Services;

    internal string ClusterId => Services.GetRequiredService<IOptions<ClusterOptions>>().Value.ClusterId;

    internal BackgroundPart Background { get; } = local.Background.Part("streams");

    /// <summary>Coarse time in milliseconds.</summary>
    internal long Now => local.Clock.Now;

    IGrainFactory IProviderRuntime.GrainFactory => factory;

    IServiceProvider IProviderRuntime.ServiceProvider => local.Services;

    /// <summary>Who consumes for the code that runs on this thread: the grain whose turn it is, or the client.</summary>
    internal (StreamConsumers Consumers, GrainId Id) Caller =>
        CallHost.Current is Activation { Class.IsOrdinary: true } grain ? (ConsumersOf(grain), grain.GrainId) : Client();

    /// <summary>Checks that the grain whose turn it is may use the stream.</summary>
    /// <exception cref="ActOp.Tenants.CrossTenantException">It is of another tenant.</exception>
    internal void CheckTenant(in QualifiedStreamId stream) =>
        local.Tenants?.Check((CallHost.Current as Activation)?.GrainId ?? default, stream);

    /// <summary>The consumer of a grain.</summary>
    internal static StreamConsumers ConsumersOf(Activation grain) =>
        (StreamConsumers)(grain.GetComponent(typeof(IStreamConsumerExtension))
            ?? throw new InvalidOperationException("No stream provider was added to this silo."));

    /// <summary>A new extension for the activation whose turn runs. Called by the container.</summary>
    internal static IStreamConsumerExtension NewConsumers(IServiceProvider services)
    {
        var parts = services.GetRequiredService<StreamNode>();
        if (CallHost.Current is not Activation activation)
            throw new InvalidOperationException("The extension of stream consumers belongs to an activation.");
        if (activation.Class.Worker is not null)
            throw new InvalidOperationException("The stateless worker " + activation.GrainId + " cannot consume streams.");
        var made = activation.Class.IsOrdinary ? new StreamConsumers(parts, activation) : parts.Client().Consumers;
        activation.SetComponent<IStreamConsumerExtension>(made);
        return made;
    }

    internal T Reference<T>(GrainId grain)
        where T : IAddressable => (T)(object)factory.Create(grain, typeof(T));

    internal T Grain<T>(string key)
        where T : IGrainWithStringKey => factory.GetGrain<T>(key);

    internal T Grain<T>(Guid key)
        where T : IGrainWithGuidKey => factory.GetGrain<T>(key);

    /// <summary>An object of this node that others can call; its calls and its own work run on turns of the work stage.</summary>
    internal Activation AddObserver(IGrainObserver observer) => activations.AddObserver(observer);

    /// <summary>The provider with that name.</summary>
    internal IStreamSource Source(string providerName) => Services.GetKeyedService<IStreamProvider>(providerName) as IStreamSource
        ?? throw new KeyNotFoundException("No stream provider with the name " + providerName + " was added to " + local.Address + ".");

    public (TExtension Extension, TExtensionInterface ExtensionReference) BindExtension<TExtension, TExtensionInterface>(
        Func<TExtension> newExtensionFunc)
        where TExtension : class, TExtensionInterface
        where TExtensionInterface : class, IGrainExtension
    {
        if (CallHost.Current is not Activation { Class.IsOrdinary: true } grain)
            throw new InvalidOperationException("Only grains have extensions, and no grain runs on this thread.");
        var extension = grain.ExistingExtras?.Components?.GetValueOrDefault(typeof(TExtensionInterface)) as TExtension;
        if (extension is null)
            grain.SetComponent<TExtensionInterface>(extension = newExtensionFunc());
        return (extension, (TExtensionInterface)(object)factory.Create(grain.GrainId, typeof(TExtensionInterface)));
    }

    private (StreamConsumers Consumers, GrainId Id) Client()
    {
        lock (_gate)
        {
            if (_client is null)
            {
                var target = new ClientTarget();
                var host = activations.AddObserver(target);
                _client = new ClientConsumer(target, new StreamConsumers(this, null), host.GrainId);
                host.SetComponent<IStreamConsumerExtension>(_client.Consumers);
            }

            return (_client.Consumers, _client.Id);
        }
    }

    /// <summary>Observers are referenced weakly by the table, so the target is kept here.</summary>
    private sealed record ClientConsumer(ClientTarget Target, StreamConsumers Consumers, GrainId Id);

    /// <summary>Stands for the client in the table of observers. Calls go to its extension.</summary>
    private sealed class ClientTarget : IGrainObserver;
}

/// <summary>What the runtime uses of a stream provider.</summary>
internal interface IStreamSource
{
    string Name { get; }

    bool IsRewindable { get; }

    /// <summary>Writes to the queues.</summary>
    /// <exception cref="Orleans.Providers.ProviderStateException">The provider has not started.</exception>
    IQueueAdapter Adapter { get; }

    IStreamPubSub PubSub { get; }

    /// <summary>How many batches an observer of batches gets in one list, at most.</summary>
    int BatchSize { get; }

    StreamNode Parts { get; }
}

/// <summary>A batch that needs services of the process where it is read.</summary>
internal interface IBoundBatch
{
    /// <summary>The batch for one reader. Its items belong to that reader.</summary>
    IBatchContainer Bind(IQueueAdapter adapter);
}
