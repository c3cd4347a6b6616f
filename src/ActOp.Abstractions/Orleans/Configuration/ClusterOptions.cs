using System.Net;

namespace Orleans.Configuration;

/// <summary>Which cluster a silo or a client belongs to. Both ids must be the same for all that connect.</summary>
public class ClusterOptions
{
    /// <summary>The cluster's id when none is set.</summary>
    public const string DefaultClusterId = "default";

    /// <summary>The service's id when none is set.</summary>
    public const string DefaultServiceId = "default";

    /// <summary>The cluster: silos with the same id share their grains.</summary>
    public string ClusterId { get; set; } = DefaultClusterId;

    /// <summary>The service, which outlives the cluster: stored state belongs to it.</summary>
    public string ServiceId { get; set; } = DefaultServiceId;
}

/// <summary>How silos watch each other and agree on who is alive.</summary>
public class ClusterMembershipOptions
{
    /// <summary>How long a vote against a silo counts. Default: 2 min.</summary>
    public TimeSpan DeathVoteExpirationTimeout { get; set; } = TimeSpan.FromSeconds(120);

    /// <summary>How often entries of silos that are long dead are removed; null for never. Default: 1 h.</summary>
    public TimeSpan? DefunctSiloCleanupPeriod { get; set; } = TimeSpan.FromHours(1);

    /// <summary>How long a dead silo keeps its entry. Default: 7 d.</summary>
    public TimeSpan DefunctSiloExpiration { get; set; } = TimeSpan.FromDays(7);

    /// <summary>Whether connections to silos are probed too. Default: true.</summary>
    public bool EnableConnectionLivenessCheck { get; set; } = true;

    /// <summary>Whether another silo is asked to probe before a silo is suspected. Default: true.</summary>
    public bool EnableIndirectProbes { get; set; } = true;

    /// <summary>Whether silos that the joining one cannot reach are declared dead once its time is over. Default: true.</summary>
    public bool EvictWhenMaxJoinAttemptTimeExceeded { get; set; } = true;

    /// <summary>Whether a silo that is not well itself waits longer for answers to its probes. Default: true.</summary>
    public bool ExtendProbeTimeoutDuringDegradation { get; set; } = true;

    /// <summary>How often a silo writes into the table that it lives. Default: 30 s.</summary>
    public TimeSpan IAmAliveTablePublishTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Whether silos can be declared dead at all. Default: true.</summary>
    public bool LivenessEnabled { get; set; } = true;

    /// <summary>How often a silo looks at its own health. Default: 10 s.</summary>
    public TimeSpan LocalHealthDegradationMonitoringPeriod { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>The most entries of dead silos that are kept; null for no limit. Default: 1000.</summary>
    public int? MaxDefunctSiloEntries { get; set; } = 1000;

    /// <summary>How long a silo tries to join. Default: 5 min.</summary>
    public TimeSpan MaxJoinAttemptTime { get; set; } = TimeSpan.FromMinutes(5);

    /// <summary>The longest time that a probe may take however unwell a silo is. Default: 30 s.</summary>
    public TimeSpan MaxProbeTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>The shortest time that a probe may take. Default: 1 s.</summary>
    public TimeSpan MinProbeTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>How many probes in a row fail before a silo is suspected. Default: 3.</summary>
    public int NumMissedProbesLimit { get; set; } = 3;

    /// <summary>How many signs of life in the table a silo may miss before joining silos take no notice of it. Default: 3.</summary>
    public int NumMissedTableIAmAliveLimit { get; set; } = 3;

    /// <summary>How many others each silo probes. Default: 10.</summary>
    public int NumProbedSilos { get; set; } = 10;

    /// <summary>How many silos must suspect one before it is declared dead. Default: 2.</summary>
    public int NumVotesForDeathDeclaration { get; set; } = 2;

    /// <summary>How long a probe may take, and how often there is one. Default: 5 s.</summary>
    public TimeSpan ProbeTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>How often the table is read. Default: 1 min.</summary>
    public TimeSpan TableRefreshTimeout { get; set; } = TimeSpan.FromSeconds(60);

    /// <summary>Whether silos tell each other of changes. Default: true.</summary>
    public bool UseLivenessGossip { get; set; } = true;
}

/// <summary>Clustering without a store: one silo holds the membership table for all.</summary>
public class DevelopmentClusterMembershipOptions
{
    /// <summary>Where that silo listens; null when it is this one.</summary>
    public IPEndPoint? PrimarySiloEndpoint { get; set; }
}

/// <summary>The directory, which knows where grains are active, and its cache.</summary>
public class GrainDirectoryOptions
{
    /// <summary>The default of <see cref="CacheSize"/>.</summary>
    public const int DEFAULT_CACHE_SIZE = 1_000_000;

    /// <summary>The default of <see cref="CachingStrategy"/>.</summary>
    public const CachingStrategyType DEFAULT_CACHING_STRATEGY = CachingStrategyType.LRU;

    /// <summary>The default of <see cref="LazyDeregistrationDelay"/>.</summary>
    public static readonly TimeSpan DEFAULT_UNREGISTER_RACE_DELAY = TimeSpan.FromMinutes(1);

    /// <summary>The default of <see cref="MaximumCacheTTL"/>.</summary>
    public static readonly TimeSpan DEFAULT_MAXIMUM_CACHE_TTL = TimeSpan.FromSeconds(240);

    /// <summary>What a silo does with locations that it has learned.</summary>
    public enum CachingStrategyType
    {
        /// <summary>It forgets them.</summary>
        None = 0,

        /// <summary>It keeps those used last.</summary>
        LRU = 1,

        /// <summary>It keeps those used last; kept for source compatibility.</summary>
        Adaptive = 2,

        /// <summary>The application provides the cache.</summary>
        Custom = 3,
    }

    /// <summary>The most locations that a silo keeps. Default: 1,000,000.</summary>
    public int CacheSize { get; set; } = DEFAULT_CACHE_SIZE;

    /// <summary>What a silo does with locations that it has learned. Default: keep those used last.</summary>
    public CachingStrategyType CachingStrategy { get; set; } = DEFAULT_CACHING_STRATEGY;

    /// <summary>How long the end of an activation that the directory has not heard of yet is remembered. Default: 1 min.</summary>
    public TimeSpan LazyDeregistrationDelay { get; set; } = DEFAULT_UNREGISTER_RACE_DELAY;

    /// <summary>How long a location is kept. Default: 4 min.</summary>
    public TimeSpan MaximumCacheTTL { get; set; } = DEFAULT_MAXIMUM_CACHE_TTL;
}
