using System.Collections.Immutable;
using System.Net;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>
/// The membership table: a small versioned set of rows with compare-and-swap. One atomic operation per request; a database does it in one
/// transaction (<c>update version set version = version + 1 where version = expected</c>, then the rows).
/// </summary>
internal interface IClusterTable
{
    /// <summary>Performs one operation.</summary>
    /// <exception cref="IOException">The table cannot be reached; the write may or may not have been done.</exception>
    ValueTask<TableReply> Execute(TableRequest request, CancellationToken cancellationToken);
}

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

    /// <summary>Counter that the silo increments. Readers detect progress by its changes; it contains no time. Not versioned.</summary>
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

/// <summary>Why a silo is dead. It decides whether others must wait out its lease before they run its grains again.</summary>
internal enum DeathCause : byte
{
    /// <summary>The silo is not dead.</summary>
    None = 0,

    /// <summary>The silo left and its turns had ended: no lease must be waited for.</summary>
    Graceful = 1,

    /// <summary>A newer generation bound the same endpoint: the old process no longer has it.</summary>
    Replaced = 2,

    /// <summary>Every voter was refused by the silo's host: the process is gone (kill -9, crash).</summary>
    Refused = 3,

    /// <summary>The silo stopped replying. It may still run, isolated from the others, until its lease ends.</summary>
    Silent = 4,
}

/// <summary>A vote of one silo that another is dead. It holds until the voter withdraws it or is dead. No wall clock is involved.</summary>
/// <param name="Voter">The voter.</param>
/// <param name="View">The view in which the vote was cast.</param>
/// <param name="Refused">Whether the voter's connections were refused (the process is gone) rather than unanswered.</param>
[Orleans.GenerateSerializer]
internal readonly record struct Vote(SiloAddress Voter, long View, bool Refused);

/// <summary>All rows of the membership table at one version.</summary>
/// <param name="Version">Advances with every write except heartbeats; the compare-and-swap token.</param>
/// <param name="View">Advances only when a silo's status changes; the number of the view that the rows make.</param>
/// <param name="Rows">The rows, at most one per silo.</param>
[Orleans.GenerateSerializer]
internal sealed record TableSnapshot(long Version, long View, ImmutableArray<MembershipRow> Rows)
{
    /// <summary>
    /// Identity of the table; 0 before the first read. A lost in-memory table restarts with low versions, so versions and views of
    /// different tables cannot be compared.
    /// </summary>
    [Orleans.Id(11)]
    public long TableId { get; init; }

    /// <summary>The table before the first write.</summary>
    public static TableSnapshot Empty { get; } = new(0, 0, []);

    /// <summary>The row of <paramref name="silo"/>, or null.</summary>
    public MembershipRow? FindRow(SiloAddress silo)
    {
        foreach (var row in Rows)
        {
            if (row.Silo.Equals(silo))
                return row;
        }

        return null;
    }
}

/// <summary>Rows to write in one compare-and-swap, while they are being collected.</summary>
internal sealed class TableChange
{
    private readonly Dictionary<SiloAddress, MembershipRow> _rows = [];
    private readonly HashSet<SiloAddress> _removed = [];
    private bool _changesView;

    /// <summary>Whether there is nothing to write.</summary>
    public bool IsEmpty => _rows.Count == 0 && _removed.Count == 0;

    /// <summary>Inserts or replaces a row.</summary>
    public void SetRow(MembershipRow row, bool changesView)
    {
        _rows[row.Silo] = row;
        _changesView |= changesView;
    }

    /// <summary>Removes a row.</summary>
    public void Remove(SiloAddress silo)
    {
        _removed.Add(silo);
        _changesView = true;
    }

    /// <summary>The request that writes these rows if the table still has the version of <paramref name="table"/>.</summary>
    public TableRequest Against(TableSnapshot table, long id) => new(id, TableOperation.Write)
    {
        ExpectedVersion = table.Version,
        ChangesView = _changesView,
        Rows = [.. _rows.Values.OrderBy(row => row.Silo, SiloOrder.Instance)],
        Removed = [.. _removed.Order(SiloOrder.Instance)],
    };
}
