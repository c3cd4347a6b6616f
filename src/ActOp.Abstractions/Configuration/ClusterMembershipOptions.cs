namespace Orleans.Configuration;

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
