using ActOp.Runtime.Cluster;

namespace ActOp.Runtime.Directory;

/// <summary>The directory's constants. Times in milliseconds.</summary>
internal sealed record DirectoryLimits
{
    /// <summary>How long after a silent death the silo's grains stay unregistrable. Must not be less than the membership lease.</summary>
    public int SilentLease { get; init; } = 30_000;

    /// <summary>
    /// The same after a death by refused connections or replacement: the process is gone, so nothing needs to be waited for. Set it to
    /// <see cref="SilentLease"/> where something between the silos may refuse connections of a process that lives.
    /// </summary>
    public int CrashLease { get; init; }

    /// <summary>How long a slot request may go unanswered before it is sent again.</summary>
    public int ResendAfter { get; init; } = 500;

    /// <summary>How long sealed slots are kept for a new owner that does not come for them.</summary>
    public int SealedRetention { get; init; } = 60_000;

    /// <summary>Registrations in one part of a slot reply, at most.</summary>
    public int EntriesPerPart { get; init; } = 8_192;

    /// <summary>Slots swept of dead entries per tick.</summary>
    public int SweepPerTick { get; init; } = 128;

    /// <summary>The lease that a death of this cause leaves behind.</summary>
    public int LeaseAfter(DeathCause cause) => cause switch
    {
        DeathCause.Graceful => 0,
        DeathCause.Replaced or DeathCause.Refused => CrashLease,
        _ => SilentLease,
    };
}
