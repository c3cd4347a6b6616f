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

    /// <summary>Introduce this silo, which joins, to another one.</summary>
    internal sealed record SendIntroduction(SiloAddress To, Introduction Introduction) : MembershipAction;

    /// <summary>Tell a silo that joins whether it was reached.</summary>
    internal sealed record SendIntroductionReply(SiloAddress To, IntroductionReply Reply) : MembershipAction;

    /// <summary>
    /// Dial a silo that joins at its address, over a connection of its own. Report the result with
    /// <see cref="MembershipProtocol.OnDialledBack"/>.
    /// </summary>
    internal sealed record DialBack(SiloAddress Silo) : MembershipAction;

    /// <summary>This silo waits for members that have not confirmed it. Once in a while, for the log.</summary>
    internal sealed record NotConfirmed(string Members) : MembershipAction;

    /// <summary>Some members and this silo do not reach each other: it must not become active, and leaves.</summary>
    internal sealed record NotAccepted(string Members) : MembershipAction;

    /// <summary>Send the table to another silo.</summary>
    internal sealed record SendGossip(SiloAddress To, TableSnapshot Table) : MembershipAction;

    /// <summary>Perform an operation on the table. Report the result with OnTableReply or OnTableFailed.</summary>
    internal sealed record UseTable(TableRequest Request) : MembershipAction;

    /// <summary>A newer view holds. <paramref name="View"/> is the new one.</summary>
    internal sealed record Publish(View View) : MembershipAction;

    /// <summary>Turns may run (<paramref name="Held"/>) or must pause because the own membership could not be confirmed in time.</summary>
    internal sealed record LeaseChanged(bool Held) : MembershipAction;

    /// <summary>The other silos have declared this silo dead: stop all turns permanently.</summary>
    internal sealed record StopDead(string Reason, bool HasNoRow = false) : MembershipAction;

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
    /// <summary>How often each probed silo is probed.</summary>
    public int ProbePeriod { get; init; } = 1_000;

    /// <summary>Time after which a probe without a reply counts as missed. Lengthened by the own health score.</summary>
    public int ProbeTimeout { get; init; } = 1_000;

    /// <summary>Lower limit of the time that a probe may take.</summary>
    public int MinProbeTimeout { get; init; }

    /// <summary>Upper limit of the same, however long the health score makes it.</summary>
    public int MaxProbeTimeout { get; init; } = int.MaxValue;

    /// <summary>Time without a sign of a fault on this silo after which its health score improves by one point.</summary>
    public int HealthPeriod { get; init; } = 2_000;

    /// <summary>Whether broken links and refused connections are signs of a fault.</summary>
    public bool WatchesLinks { get; init; } = true;

    /// <summary>Whether this silo sends its writes of the table to the others.</summary>
    public bool Gossips { get; init; } = true;

    /// <summary>Whether silos that stay joining for too long are declared dead.</summary>
    public bool EvictsJoining { get; init; } = true;

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

    /// <summary>How long a sign of life stands still before the silo no longer counts for the quorum, nor for a newcomer.</summary>
    public long StaleTime => (long)StaleHeartbeats * TableRefreshPeriod;

    /// <summary>A silo runs turns only if it confirmed within this time that the table still lists it. Zero: no limit.</summary>
    public int LeaseDuration { get; init; } = 30_000;

    /// <summary>How long a silo may stay joining with a still heartbeat before it is declared dead.</summary>
    public int MaxJoinTime { get; init; } = 300_000;

    /// <summary>Dead rows kept in the table. Every gossip carries them.</summary>
    public int MaxDefunctRows { get; init; } = 25;

    /// <summary>How long a dead row is kept at most.</summary>
    public long DefunctExpiration { get; init; } = long.MaxValue;

    /// <summary>Time between two searches for such rows.</summary>
    public long DefunctCleanupPeriod { get; init; } = long.MaxValue;

    /// <summary>Whether signs of a fault on this silo lengthen its timeouts.</summary>
    public bool StretchTimeouts { get; init; } = true;

    /// <summary>Whether silos evict each other.</summary>
    public bool Evicts { get; init; } = true;

    /// <summary>Part of the lease kept back for clock rate differences and the tick period: turns stop at nine tenths of it.</summary>
    public int LeaseForOwnTurns => LeaseDuration - (LeaseDuration / 10);

    /// <summary>How often to call <see cref="MembershipProtocol.Tick"/>.</summary>
    public int TickPeriod => Math.Clamp(ProbePeriod / 5, 10, 1_000);

    /// <summary>How often a silo that joins asks a member to confirm it.</summary>
    public int IntroductionPeriod => Math.Min(ProbePeriod, 1_000);

    /// <summary>
    /// The longest time from a silent crash to its eviction when nothing else fails: one period until the next probe, the missed probes,
    /// the indirect probe, and the second voter's last round, each rounded up to a tick.
    /// </summary>
    public int DetectionBound => (int)Math.Min(int.MaxValue,
        ProbePeriod + ((long)MissedProbesLimit * Math.Max(ProbePeriod, ProbeTimeout)) + (2L * ProbeTimeout) + (8 * TickPeriod));

    /// <summary>Reads the application's options.</summary>
    public static MembershipOptions From(ClusterMembershipOptions options, TimeSpan leaseDuration)
    {
        var probe = Milliseconds(options.ProbeTimeout);
        var lease = leaseDuration == Timeout.InfiniteTimeSpan ? 0 : (int)leaseDuration.TotalMilliseconds;
        // One request does both: it writes the sign of life and reads the table.
        var refresh = Math.Min(Milliseconds(options.TableRefreshTimeout), Milliseconds(options.IAmAliveTablePublishTimeout));
        return new MembershipOptions
        {
            ProbePeriod = probe,
            ProbeTimeout = probe,
            MinProbeTimeout = Milliseconds(options.MinProbeTimeout),
            MaxProbeTimeout = Milliseconds(options.MaxProbeTimeout),
            HealthPeriod = Milliseconds(options.LocalHealthDegradationMonitoringPeriod),
            WatchesLinks = options.EnableConnectionLivenessCheck,
            Gossips = options.UseLivenessGossip,
            EvictsJoining = options.EvictWhenMaxJoinAttemptTimeExceeded,
            MissedProbesLimit = options.NumMissedProbesLimit,
            ProbedSilos = options.NumProbedSilos,
            VotesForDeath = options.NumVotesForDeathDeclaration,
            IndirectProbes = options.EnableIndirectProbes,
            TableRefreshPeriod = lease > 0 ? Math.Min(refresh, Math.Max(probe, lease / 6)) : refresh,
            StaleHeartbeats = options.NumMissedTableIAmAliveLimit + 1,
            LeaseDuration = lease,
            MaxJoinTime = Milliseconds(options.MaxJoinAttemptTime),
            MaxDefunctRows = options.MaxDefunctSiloEntries ?? int.MaxValue,
            DefunctExpiration = (long)options.DefunctSiloExpiration.TotalMilliseconds,
            DefunctCleanupPeriod = (long?)options.DefunctSiloCleanupPeriod?.TotalMilliseconds ?? long.MaxValue,
            StretchTimeouts = options.ExtendProbeTimeoutDuringDegradation,
            Evicts = options.LivenessEnabled,
        };
    }

    private static int Milliseconds(TimeSpan time) => (int)Math.Min(time.TotalMilliseconds, int.MaxValue);
}
