using System.Collections.Immutable;
using System.Net;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>One silo's row in the membership table.</summary>
[Orleans.GenerateSerializer]
internal sealed record MembershipRow(SiloAddress Silo, string Name, SiloStatus Status, IPEndPoint? Gateway)
{
    /// <summary>Why the silo is dead; <see cref="DeathCause.None"/> while it is not.</summary>
    [Orleans.Id(11)]
    public DeathCause Cause { get; init; }

    /// <summary>Standing votes for the death of this silo.</summary>
    [Orleans.Id(12)]
    public ImmutableArray<Vote> Votes { get; init; } = [];

    /// <summary>Counter that the silo advances; readers judge freshness by seeing it move, never by a time in it. Not versioned.</summary>
    [Orleans.Id(13)]
    public long Heartbeat { get; init; }

    /// <summary>Table version of the last change of this row other than a heartbeat.</summary>
    [Orleans.Id(14)]
    public long ChangedAt { get; init; }

    /// <summary>Whether the silo is not yet dead.</summary>
    public bool IsAlive => Status != SiloStatus.Dead;

    /// <summary>The same row, dead of <paramref name="cause"/>.</summary>
    public MembershipRow AsDead(DeathCause cause) => this with { Status = SiloStatus.Dead, Cause = cause, Votes = [] };
}
