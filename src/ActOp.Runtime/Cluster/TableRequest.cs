using System.Collections.Immutable;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>One operation on the membership table, in a form that can be carried to the silo or database that holds it.</summary>
/// <param name="Id">Number by which the requester recognises the reply.</param>
/// <param name="Operation">What to do.</param>
[Orleans.GenerateSerializer]
internal sealed record TableRequest(long Id, TableOperation Operation)
{
    /// <summary>Heartbeat: whose counter to advance.</summary>
    [Orleans.Id(11)]
    public SiloAddress? Silo { get; init; }

    /// <summary>Write: the version the table must have.</summary>
    [Orleans.Id(12)]
    public long ExpectedVersion { get; init; }

    /// <summary>Write: whether a status changes, so that the view number advances too.</summary>
    [Orleans.Id(13)]
    public bool ChangesView { get; init; }

    /// <summary>Write: rows to insert or replace, all or none. Their heartbeat counters are ignored for rows that exist.</summary>
    [Orleans.Id(14)]
    public ImmutableArray<MembershipRow> Rows { get; init; } = [];

    /// <summary>Write: rows to remove.</summary>
    [Orleans.Id(15)]
    public ImmutableArray<SiloAddress> Removed { get; init; } = [];
}
