using Orleans.Streams;

namespace Orleans.Configuration;

/// <summary>Which subscriptions a stream provider knows.</summary>
public class StreamPubSubOptions
{
    /// <summary>The default of <see cref="PubSubType"/>.</summary>
    public const StreamPubSubType DEFAULT_STREAM_PUBSUB_TYPE = StreamPubSubType.ExplicitGrainBasedAndImplicit;

    /// <summary>Which subscriptions the provider knows. Default: explicit and implicit ones.</summary>
    public StreamPubSubType PubSubType { get; set; } = DEFAULT_STREAM_PUBSUB_TYPE;
}

/// <summary>How the agents of a stream provider read the queues and deliver.</summary>
public class StreamPullingAgentOptions
{
    /// <summary>The default of <see cref="BatchContainerBatchSize"/>.</summary>
    public static readonly int DEFAULT_BATCH_CONTAINER_BATCH_SIZE = 1;

    /// <summary>The default of <see cref="GetQueueMsgsTimerPeriod"/>.</summary>
    public static readonly TimeSpan DEFAULT_GET_QUEUE_MESSAGES_TIMER_PERIOD = TimeSpan.FromMilliseconds(100);

    /// <summary>The default of <see cref="InitialSubscriptionStartPosition"/>.</summary>
    public static readonly StreamSubscriptionStartPosition DEFAULT_INITIAL_SUBSCRIPTION_START_POSITION =
        StreamSubscriptionStartPosition.Latest;

    /// <summary>The default of <see cref="InitQueueTimeout"/>.</summary>
    public static readonly TimeSpan DEFAULT_INIT_QUEUE_TIMEOUT = TimeSpan.FromSeconds(5);

    /// <summary>The default of <see cref="MaxEventDeliveryTime"/>.</summary>
    public static readonly TimeSpan DEFAULT_MAX_EVENT_DELIVERY_TIME = TimeSpan.FromMinutes(1);

    /// <summary>The default of <see cref="StreamInactivityPeriod"/>.</summary>
    public static readonly TimeSpan DEFAULT_STREAM_INACTIVITY_PERIOD = TimeSpan.FromMinutes(30);

    /// <summary>How many batches an observer of batches gets in one list, at most. Default: 1.</summary>
    public int BatchContainerBatchSize { get; set; } = DEFAULT_BATCH_CONTAINER_BATCH_SIZE;

    /// <summary>How long an agent waits after it has found its queue empty. Default: 100 ms.</summary>
    public TimeSpan GetQueueMsgsTimerPeriod { get; set; } = DEFAULT_GET_QUEUE_MESSAGES_TIMER_PERIOD;

    /// <summary>
    /// Where a new subscription begins that names neither an item nor a place: with the items that are added from then on, or with the
    /// oldest that the cache of the queue has. Default: from then on.
    /// </summary>
    public StreamSubscriptionStartPosition InitialSubscriptionStartPosition { get; set; } = DEFAULT_INITIAL_SUBSCRIPTION_START_POSITION;

    /// <summary>How long a queue may take to open before the agent tries again. Default: 5 s.</summary>
    public TimeSpan InitQueueTimeout { get; set; } = DEFAULT_INIT_QUEUE_TIMEOUT;

    /// <summary>
    /// How long an item is delivered again and again to a consumer that fails. Then the consumer's <c>OnErrorAsync</c> is called, and the
    /// item is skipped. Default: 1 min.
    /// </summary>
    public TimeSpan MaxEventDeliveryTime { get; set; } = DEFAULT_MAX_EVENT_DELIVERY_TIME;

    /// <summary>How long an agent remembers the subscriptions to a stream without items. Default: 30 min.</summary>
    public TimeSpan StreamInactivityPeriod { get; set; } = DEFAULT_STREAM_INACTIVITY_PERIOD;
}

/// <summary>Into how many queues a provider divides its streams.</summary>
public class HashRingStreamQueueMapperOptions
{
    /// <summary>The default of <see cref="TotalQueueCount"/>.</summary>
    public const int DEFAULT_NUM_QUEUES = 8;

    /// <summary>The number of queues. All silos and clients must have the same. Default: 8.</summary>
    public int TotalQueueCount { get; set; } = DEFAULT_NUM_QUEUES;
}

/// <summary>The cache of an agent.</summary>
public class SimpleQueueCacheOptions
{
    /// <summary>The default of <see cref="CacheSize"/>.</summary>
    public const int DEFAULT_CACHE_SIZE = 4096;

    /// <summary>
    /// How many batches the agent of a queue holds, delivered ones included. When so many wait for consumers, it does not read. Default:
    /// 4096.
    /// </summary>
    public int CacheSize { get; set; } = DEFAULT_CACHE_SIZE;
}

/// <summary>How long the agent of a queue keeps batches that were delivered, for subscriptions that begin at an earlier item.</summary>
public class StreamCacheEvictionOptions
{
    /// <summary>The default of <see cref="DataMaxAgeInCache"/>.</summary>
    public static readonly TimeSpan DefaultDataMaxAgeInCache = TimeSpan.FromMinutes(30);

    /// <summary>The default of <see cref="DataMinTimeInCache"/>.</summary>
    public static readonly TimeSpan DefaultDataMinTimeInCache = TimeSpan.FromMinutes(5);

    /// <summary>The default of <see cref="MetadataMinTimeInCache"/>.</summary>
    public static readonly TimeSpan DefaultMetadataMinTimeInCache = TimeSpan.FromMinutes(10);

    /// <summary>A delivered batch leaves the cache when it is this much older than the newest one. Default: 30 min.</summary>
    public TimeSpan DataMaxAgeInCache { get; set; } = DefaultDataMaxAgeInCache;

    /// <summary>It stays for this time at least, unless the cache is full. Default: 5 min.</summary>
    public TimeSpan DataMinTimeInCache { get; set; } = DefaultDataMinTimeInCache;

    /// <summary>
    /// How long an empty cache remembers which batch has left last: until then, a subscription that asks for it or an older one is told
    /// that it is gone; after that, it gets the next items. Default: 10 min.
    /// </summary>
    public TimeSpan? MetadataMinTimeInCache { get; set; } = DefaultMetadataMinTimeInCache;
}

/// <summary>How often monitors of streams write. For source compatibility only: metrics are read when they are collected.</summary>
public class StreamStatisticOptions
{
    /// <summary>The default of <see cref="StatisticMonitorWriteInterval"/>.</summary>
    public static readonly TimeSpan DefaultStatisticMonitorWriteInterval = TimeSpan.FromMinutes(5);

    /// <summary>Has no effect: metrics are read when they are collected. Default: 5 min.</summary>
    public TimeSpan StatisticMonitorWriteInterval { get; set; } = DefaultStatisticMonitorWriteInterval;
}

/// <summary>How silos take, renew and give back the leases of queues.</summary>
public class LeaseBasedQueueBalancerOptions
{
    /// <summary>The default of <see cref="LeaseCategory"/>.</summary>
    public const string DefaultLeaseCategory = "QueueBalancer";

    /// <summary>The default of <see cref="LeaseLength"/>.</summary>
    public static readonly TimeSpan DefaultLeaseLength = TimeSpan.FromSeconds(60);

    /// <summary>The default of <see cref="LeaseRenewPeriod"/>.</summary>
    public static readonly TimeSpan DefaultLeaseRenewPeriod = TimeSpan.FromSeconds(29);

    /// <summary>The default of <see cref="LeaseAcquisitionPeriod"/>.</summary>
    public static readonly TimeSpan DefaultMinLeaseAcquisitionPeriod = TimeSpan.FromSeconds(30);

    /// <summary>The category of the leases: providers with one category share one set of names. Default: QueueBalancer.</summary>
    public string LeaseCategory { get; set; } = DefaultLeaseCategory;

    /// <summary>For how long a lease is taken; after the death of a silo its queues wait so long at most. Default: 60 s.</summary>
    public TimeSpan LeaseLength { get; set; } = DefaultLeaseLength;

    /// <summary>
    /// How often leases are renewed. Shorter than half of <see cref="LeaseLength"/>, so that one failure is harmless. Default: 29 s.
    /// </summary>
    public TimeSpan LeaseRenewPeriod { get; set; } = DefaultLeaseRenewPeriod;

    /// <summary>How often a silo that has less than its share looks for free queues. Default: 30 s.</summary>
    public TimeSpan LeaseAcquisitionPeriod { get; set; } = DefaultMinLeaseAcquisitionPeriod;
}

/// <summary>How queues are distributed over the silos of a deployment.</summary>
public class DeploymentBasedQueueBalancerOptions
{
    /// <summary>The default of <see cref="SiloMaturityPeriod"/>.</summary>
    public static readonly TimeSpan DEFAULT_SILO_MATURITY_PERIOD = TimeSpan.FromMinutes(2);

    /// <summary>
    /// For so long after a silo has become active, the queues of silos that are not active are left to them, because these may be about to
    /// start. Default: 2 min.
    /// </summary>
    public TimeSpan SiloMaturityPeriod { get; set; } = DEFAULT_SILO_MATURITY_PERIOD;

    /// <summary>Whether the queues of a silo that is not active wait for it always. Default: false.</summary>
    public bool IsFixed { get; set; }
}

/// <summary>How grains keep the positions of partitions.</summary>
public sealed class GrainStreamQueueCheckpointerOptions
{
    /// <summary>Orders positions, so that a position never goes back; null when the order is not known (default).</summary>
    public IComparer<string>? CheckpointComparer { get; set; }

    /// <summary>A position is written so often at most. Default: 1 min.</summary>
    public TimeSpan PersistInterval { get; set; } = TimeSpan.FromMinutes(1);

    /// <summary>The grain storage. Default: PubSubStore.</summary>
    public string StorageProviderName { get; set; } = Orleans.Providers.ProviderConstants.DEFAULT_PUBSUB_PROVIDER_NAME;
}

/// <summary>When a stream provider starts.</summary>
public class StreamLifecycleOptions
{
    /// <summary>The default of <see cref="InitStage"/>: <see cref="ServiceLifecycleStage.ApplicationServices"/>.</summary>
    public const int DEFAULT_INIT_STAGE = ServiceLifecycleStage.ApplicationServices;

    /// <summary>The default of <see cref="StartStage"/>: <see cref="ServiceLifecycleStage.Active"/>.</summary>
    public const int DEFAULT_START_STAGE = ServiceLifecycleStage.Active;

    /// <summary>The default of <see cref="StartupState"/>.</summary>
    public const RunState DEFAULT_STARTUP_STATE = RunState.AgentsStarted;

    /// <summary>How far a provider is.</summary>
    public enum RunState
    {
        /// <summary>Nothing was done.</summary>
        None = 0,

        /// <summary>Producers can write.</summary>
        Initialized = 1,

        /// <summary>Agents read the queues.</summary>
        AgentsStarted = 2,

        /// <summary>Agents do not read any more.</summary>
        AgentsStopped = 3,
    }

    /// <summary>The stage in which producers can begin to write.</summary>
    public int InitStage { get; set; } = DEFAULT_INIT_STAGE;

    /// <summary>The stage in which agents start.</summary>
    public int StartStage { get; set; } = DEFAULT_START_STAGE;

    /// <summary>Whether agents start with the silo. Default: yes.</summary>
    public RunState StartupState { get; set; } = DEFAULT_STARTUP_STATE;
}
