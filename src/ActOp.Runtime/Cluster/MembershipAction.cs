using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>An action of the membership protocol, performed by the driver.</summary>
internal abstract record MembershipAction
{
    /// <summary>Send a probe. When the connection is refused, report it with <see cref="MembershipProtocol.OnRefused"/>.</summary>
    internal sealed record SendProbe(SiloAddress To, Probe Probe) : MembershipAction;

    /// <summary>Reply to a probe.</summary>
    internal sealed record SendProbeReply(SiloAddress To, ProbeReply Reply) : MembershipAction;

    /// <summary>Ask another silo to probe.</summary>
    internal sealed record SendIndirectProbe(SiloAddress To, IndirectProbe Probe) : MembershipAction;

    /// <summary>Report the result of an indirect probe.</summary>
    internal sealed record SendIndirectProbeReply(SiloAddress To, IndirectProbeReply Reply) : MembershipAction;

    /// <summary>Send the table to another silo.</summary>
    internal sealed record SendGossip(SiloAddress To, TableSnapshot Table) : MembershipAction;

    /// <summary>Perform an operation on the table. Report the result with OnTableReply or OnTableFailed.</summary>
    internal sealed record UseTable(TableRequest Request) : MembershipAction;

    /// <summary>A newer view holds. <paramref name="View"/> is the new one.</summary>
    internal sealed record Publish(View View) : MembershipAction;

    /// <summary>Turns may run (<paramref name="Held"/>) or must pause because the own membership could not be confirmed in time.</summary>
    internal sealed record LeaseChanged(bool Held) : MembershipAction;

    /// <summary>The other silos have declared this silo dead: stop all turns permanently.</summary>
    internal sealed record StopDead(string Reason) : MembershipAction;

    /// <summary>The graceful leave is written in the table.</summary>
    internal sealed record Left : MembershipAction;
}

/// <summary>The actions that the protocol has asked for, in order, and the numbers of its messages. Shared by its parts.</summary>
internal sealed class MembershipOutput
{
    private long _lastId;

    /// <summary>The actions to perform.</summary>
    public List<MembershipAction> Actions { get; } = [];

    /// <summary>Asks for an action.</summary>
    public void Add(MembershipAction action) => Actions.Add(action);

    /// <summary>A number for a probe or a request.</summary>
    public long NextId() => ++_lastId;
}

/// <summary>The membership protocol's constants. All times in milliseconds.</summary>
internal sealed record MembershipOptions
{
    // Every gossip carries the whole table, so dead rows make it slow.
    private const int MostDefunctRows = 100;

    /// <summary>How often each probed silo is probed.</summary>
    public int ProbePeriod { get; init; } = 1_000;

    /// <summary>Time after which a probe without a reply counts as missed. Lengthened by the own health score.</summary>
    public int ProbeTimeout { get; init; } = 1_000;

    /// <summary>Missed probes in a row before a vote.</summary>
    public int MissedProbesLimit { get; init; } = 3;

    /// <summary>How many successors on the ring each silo probes.</summary>
    public int ProbedSilos { get; init; } = 10;

    /// <summary>Votes that evict, at most; (fresh active silos + 1) / 2 when that is less.</summary>
    public int VotesForDeath { get; init; } = 2;

    /// <summary>Whether another silo is asked to probe before a vote.</summary>
    public bool IndirectProbes { get; init; } = true;

    /// <summary>How often the table is read and the own heartbeat advanced.</summary>
    public int TableRefreshPeriod { get; init; } = 5_000;

    /// <summary>Time limit of one request to the table.</summary>
    public int TableTimeout { get; init; } = 5_000;

    /// <summary>Refresh periods without a moving heartbeat after which a silo no longer counts for the quorum of votes.</summary>
    public int StaleHeartbeats { get; init; } = 4;

    /// <summary>A silo runs turns only if it confirmed within this time that the table still lists it. Zero: no limit.</summary>
    public int LeaseDuration { get; init; } = 30_000;

    /// <summary>How long a silo may stay joining with a still heartbeat before it is declared dead.</summary>
    public int MaxJoinTime { get; init; } = 300_000;

    /// <summary>Dead rows kept in the table.</summary>
    public int MaxDefunctRows { get; init; } = 25;

    /// <summary>Whether signs of a fault on this silo lengthen its timeouts.</summary>
    public bool StretchTimeouts { get; init; } = true;

    /// <summary>Whether silos evict each other.</summary>
    public bool Evicts { get; init; } = true;

    /// <summary>Part of the lease kept back for clock rate differences and the tick period: turns stop at nine tenths of it.</summary>
    public int LeaseForOwnTurns => LeaseDuration - (LeaseDuration / 10);

    /// <summary>How often to call <see cref="MembershipProtocol.Tick"/>.</summary>
    public int TickPeriod => Math.Max(10, ProbePeriod / 5);

    /// <summary>
    /// The longest time from a silent crash to its eviction when nothing else fails: one period until the next probe, the missed probes,
    /// the indirect probe, and the second voter's last round, each rounded up to a tick.
    /// </summary>
    public int DetectionBound =>
        ProbePeriod + (MissedProbesLimit * Math.Max(ProbePeriod, ProbeTimeout)) + (2 * ProbeTimeout) + (8 * TickPeriod);

    /// <summary>
    /// Reads the application's options. A configured probe timeout is the time budget of one missed probe; five probes are sent in it, so
    /// that detection takes at most about the configured time and typically a fifth (default 5 s and 3 misses: 3 to 4 s).
    /// </summary>
    public static MembershipOptions From(ClusterMembershipOptions options, TimeSpan leaseDuration)
    {
        var probe = Math.Max(20, (int)(options.ProbeTimeout.TotalMilliseconds / 5));
        var lease = leaseDuration == Timeout.InfiniteTimeSpan ? 0 : (int)leaseDuration.TotalMilliseconds;
        var refresh = (int)options.TableRefreshTimeout.TotalMilliseconds;
        return new MembershipOptions
        {
            ProbePeriod = probe,
            ProbeTimeout = probe,
            MissedProbesLimit = Math.Max(1, options.NumMissedProbesLimit),
            ProbedSilos = options.NumProbedSilos,
            VotesForDeath = Math.Max(1, options.NumVotesForDeathDeclaration),
            IndirectProbes = options.EnableIndirectProbes,
            TableRefreshPeriod = lease > 0 ? Math.Min(refresh, Math.Max(probe, lease / 6)) : refresh,
            LeaseDuration = lease,
            MaxJoinTime = (int)options.MaxJoinAttemptTime.TotalMilliseconds,
            MaxDefunctRows = Math.Min(options.MaxDefunctSiloEntries ?? 25, MostDefunctRows),
            StretchTimeouts = options.ExtendProbeTimeoutDuringDegradation,
            Evicts = options.LivenessEnabled,
        };
    }
}
