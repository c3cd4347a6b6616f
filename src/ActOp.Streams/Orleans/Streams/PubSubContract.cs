using Orleans.Runtime;
using Orleans.Streams.Core;

namespace Orleans.Streams;

/// <summary>The subscriptions of the streams of a provider.</summary>
public interface IStreamPubSub
{
    /// <summary>Adds an agent, which is told of new subscriptions from then on; returns those that there are.</summary>
    Task<ISet<PubSubSubscriptionState>> RegisterProducer(QualifiedStreamId streamId, GrainId streamProducer);

    /// <summary>Removes an agent.</summary>
    Task UnregisterProducer(QualifiedStreamId streamId, GrainId streamProducer);

    /// <summary>Adds a subscription. When the task has ended, the agents know it.</summary>
    Task RegisterConsumer(GuidId subscriptionId, QualifiedStreamId streamId, GrainId streamConsumer, string? filterData);

    /// <summary>Removes a subscription.</summary>
    Task UnregisterConsumer(GuidId subscriptionId, QualifiedStreamId streamId);

    /// <summary>The number of agents.</summary>
    Task<int> ProducerCount(QualifiedStreamId streamId);

    /// <summary>The number of subscriptions.</summary>
    Task<int> ConsumerCount(QualifiedStreamId streamId);

    /// <summary>The subscriptions, of one consumer or of all.</summary>
    Task<List<StreamSubscription>> GetAllSubscriptions(QualifiedStreamId streamId, GrainId streamConsumer = default);

    /// <summary>A new id; for a consumer with an implicit subscription the id of that.</summary>
    GuidId CreateSubscriptionId(QualifiedStreamId streamId, GrainId streamConsumer);

    /// <summary>Ends a subscription after a failure; false if it does not exist.</summary>
    Task<bool> FaultSubscription(QualifiedStreamId streamId, GuidId subscriptionId);
}

/// <summary>A subscription as agents see it.</summary>
[GenerateSerializer]
public sealed class PubSubSubscriptionState : IEquatable<PubSubSubscriptionState>
{
    /// <summary>Names a subscription.</summary>
    public PubSubSubscriptionState(GuidId subscriptionId, QualifiedStreamId streamId, GrainId streamConsumer)
    {
        SubscriptionId = subscriptionId;
        Stream = streamId;
        Consumer = streamConsumer;
    }

    /// <summary>Its id.</summary>
    [Id(0)]
    public GuidId SubscriptionId { get; private set; }

    /// <summary>The stream.</summary>
    [Id(1)]
    public QualifiedStreamId Stream { get; private set; }

    /// <summary>The consumer.</summary>
    [Id(2)]
    public GrainId Consumer { get; private set; }

    /// <summary>What the filter gets.</summary>
    [Id(3)]
    public string? FilterData { get; internal set; }

    /// <inheritdoc/>
    public bool Equals(PubSubSubscriptionState? other) =>
        other is not null && SubscriptionId == other.SubscriptionId && Stream == other.Stream && Consumer == other.Consumer;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as PubSubSubscriptionState);

    /// <inheritdoc/>
    public override int GetHashCode() => SubscriptionId.GetHashCode();
}

/// <summary>The base of what distributes queues over silos: hears of the active silos, and tells its listeners.</summary>
/// <remarks>Any thread. Subclasses are told of one change at a time.</remarks>
public abstract class QueueBalancerBase : IStreamQueueBalancer
{
    private readonly ActOp.Streams.SiloWatch _watch;
    private readonly Lock _gate = new();
    private IStreamQueueBalanceListener[] _listeners = [];

    /// <summary>Creates the balancer.</summary>
    protected QueueBalancerBase(IServiceProvider sp, Microsoft.Extensions.Logging.ILogger logger)
    {
        _watch = new ActOp.Streams.SiloWatch(sp, OnClusterMembershipChange);
        Logger = logger;
    }

    /// <summary>Cancelled when the balancer has shut down.</summary>
    protected CancellationToken Cancellation => _watch.Ended;

    /// <summary>The log.</summary>
    protected Microsoft.Extensions.Logging.ILogger Logger { get; }

    /// <summary>This silo.</summary>
    protected SiloAddress SiloAddress => _watch.Local;

    /// <inheritdoc/>
    public abstract IEnumerable<QueueId> GetMyQueues();

    /// <inheritdoc/>
    public virtual Task Initialize(IStreamQueueMapper queueMapper)
    {
        _watch.Start();
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public virtual Task Shutdown()
    {
        _watch.Dispose();
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public bool SubscribeToQueueDistributionChangeEvents(IStreamQueueBalanceListener observer)
    {
        ArgumentNullException.ThrowIfNull(observer);
        lock (_gate)
        {
            if (_listeners.Contains(observer))
                return false;
            _listeners = [.. _listeners, observer];
            return true;
        }
    }

    /// <inheritdoc/>
    public bool UnSubscribeFromQueueDistributionChangeEvents(IStreamQueueBalanceListener observer)
    {
        ArgumentNullException.ThrowIfNull(observer);
        lock (_gate)
        {
            var had = _listeners.Contains(observer);
            _listeners = [.. _listeners.Where(one => !ReferenceEquals(one, observer))];
            return had;
        }
    }

    /// <summary>Tells the listeners that the queues of this silo have changed.</summary>
    protected Task NotifyListeners() => Task.WhenAll(_listeners.Select(static one => one.QueueDistributionChangeNotification()));

    /// <summary>The set of active silos has changed. Also called once at the start.</summary>
    protected abstract void OnClusterMembershipChange(HashSet<SiloAddress> activeSilos);
}
