using System.Collections.Immutable;
using System.Net;
using Orleans.Runtime;

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

    /// <summary>
    /// Time between two searches for entries that are past <see cref="DefunctSiloExpiration"/>; null for never. Default: 1 h.
    /// </summary>
    public TimeSpan? DefunctSiloCleanupPeriod { get; set; } = TimeSpan.FromHours(1);

    /// <summary>Maximum time that the entry of a dead silo is kept. Default: 7 d.</summary>
    public TimeSpan DefunctSiloExpiration { get; set; } = TimeSpan.FromDays(7);

    /// <summary>
    /// Whether a broken connection starts a probe at once, and a refused one counts as a missed probe, so that the end of a process is
    /// detected without a timeout. Default: true.
    /// </summary>
    public bool EnableConnectionLivenessCheck { get; set; } = true;

    /// <summary>Whether another silo is asked to probe before a silo is suspected. Default: true.</summary>
    public bool EnableIndirectProbes { get; set; } = true;

    /// <summary>Whether a silo that is still joining after <see cref="MaxJoinAttemptTime"/> is declared dead. Default: true.</summary>
    public bool EvictWhenMaxJoinAttemptTimeExceeded { get; set; } = true;

    /// <summary>
    /// Whether a silo with signs of a fault of its own (late ticks, no traffic) waits longer for answers to its probes. Default: true.
    /// </summary>
    public bool ExtendProbeTimeoutDuringDegradation { get; set; } = true;

    /// <summary>
    /// Maximum time between two signs of life that a silo writes into the table. Each write also reads the table. A silo that joins takes
    /// members that it does not reach for dead only after they have missed <see cref="NumMissedTableIAmAliveLimit"/> + 1 of them. Default:
    /// 5 s, so that a cluster that was killed whole starts again at other addresses after 20 s.
    /// </summary>
    public TimeSpan IAmAliveTablePublishTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Whether silos can be declared dead at all. Default: true.</summary>
    public bool LivenessEnabled { get; set; } = true;

    /// <summary>
    /// Time without a further sign of a fault of its own after which a silo shortens its probe timeout by one step. Default: 2 s.
    /// </summary>
    public TimeSpan LocalHealthDegradationMonitoringPeriod { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// Maximum number of entries of dead silos in the table, which every change sends to all silos; null for no limit. Default: 25.
    /// </summary>
    public int? MaxDefunctSiloEntries { get; set; } = 25;

    /// <summary>Maximum time that a silo tries to join; then its start fails. Default: 5 min.</summary>
    public TimeSpan MaxJoinAttemptTime { get; set; } = TimeSpan.FromMinutes(5);

    /// <summary>Maximum time that a probe may take, however much it is extended. Default: 30 s.</summary>
    public TimeSpan MaxProbeTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Minimum time that a probe may take, also if <see cref="ProbeTimeout"/> is shorter. Default: 1 s.</summary>
    public TimeSpan MinProbeTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>Number of consecutive missed probes after which a silo is suspected. Default: 3.</summary>
    public int NumMissedProbesLimit { get; set; } = 3;

    /// <summary>
    /// Number of consecutive signs of life that a silo may miss in the table before it does not count for the number of votes that a
    /// declaration of death needs. Default: 3.
    /// </summary>
    public int NumMissedTableIAmAliveLimit { get; set; } = 3;

    /// <summary>How many others each silo probes. Default: 10.</summary>
    public int NumProbedSilos { get; set; } = 10;

    /// <summary>How many silos must suspect one before it is declared dead. Default: 2.</summary>
    public int NumVotesForDeathDeclaration { get; set; } = 2;

    /// <summary>
    /// Maximum time that a probe may take, and the time between two probes of one silo. Default: 1 s, so that with the other defaults a
    /// silo that has become silent is declared dead after 3 to 4 s. A connection that brings nothing is closed after 30 s, but not
    /// before its silo would have been declared dead.
    /// </summary>
    public TimeSpan ProbeTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Maximum time between two reads of the table. Reads are more frequent with a finite lease (<c>ClusterLeaseOptions.Duration</c>), of
    /// which they take a sixth at most. Default: 1 min.
    /// </summary>
    public TimeSpan TableRefreshTimeout { get; set; } = TimeSpan.FromSeconds(60);

    /// <summary>Whether silos tell each other of changes of the table instead of waiting for the next read. Default: true.</summary>
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

    /// <summary>The default of <see cref="PartitionsPerSilo"/>.</summary>
    public const int DEFAULT_PARTITIONS_PER_SILO = 1;

    /// <summary>The default of <see cref="RangeLeaseDuration"/>.</summary>
    public static readonly TimeSpan DEFAULT_RANGE_LEASE_DURATION = TimeSpan.FromSeconds(30);

    /// <summary>What a silo does with locations that it has learned.</summary>
    public enum CachingStrategyType
    {
        /// <summary>It forgets them.</summary>
        None = 0,

        /// <summary>It keeps those used last.</summary>
        LRU = 1,

        /// <summary>As <see cref="LRU"/>.</summary>
        Adaptive = 2,

        /// <summary>
        /// The <c>IGrainDirectoryCache</c> of the application. Without one the start of a silo fails. Clients keep those used last.
        /// </summary>
        Custom = 3,
    }

    /// <summary>Maximum number of locations that a node keeps, rounded up to a power of two. Default: 1,000,000.</summary>
    public int CacheSize { get; set; } = DEFAULT_CACHE_SIZE;

    /// <summary>What a silo does with locations that it has learned. Default: keep those used last.</summary>
    public CachingStrategyType CachingStrategy { get; set; } = DEFAULT_CACHING_STRATEGY;

    /// <summary>Parts of the directory on each silo. Default: 1.</summary>
    public int PartitionsPerSilo { get; set; } = DEFAULT_PARTITIONS_PER_SILO;

    /// <summary>Where the parts of the directory of a silo begin on the ring, of which there is none here. Default: null.</summary>
    public Func<SiloAddress, int, ImmutableArray<uint>>? GetPartitionBoundaries { get; set; }

    /// <summary>How long the ranges of a silo that has died are held back. Default: 30 s.</summary>
    public TimeSpan RangeLeaseDuration { get; set; } = DEFAULT_RANGE_LEASE_DURATION;

    /// <summary>How long the end of an activation that the directory has not heard of yet is remembered. Default: 1 min.</summary>
    public TimeSpan LazyDeregistrationDelay { get; set; } = DEFAULT_UNREGISTER_RACE_DELAY;

    /// <summary>
    /// Maximum time that a location is kept without being confirmed by an answer; then the directory is asked again. It may be exceeded by
    /// an eighth. Default: 4 min.
    /// </summary>
    public TimeSpan MaximumCacheTTL { get; set; } = DEFAULT_MAXIMUM_CACHE_TTL;
}
