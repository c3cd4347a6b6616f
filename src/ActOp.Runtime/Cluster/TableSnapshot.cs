using System.Collections.Immutable;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>All rows of the membership table at one version.</summary>
/// <param name="Version">Advances with every write except heartbeats; the compare-and-swap token.</param>
/// <param name="View">Advances only when a silo's status changes; the number of the view that the rows make.</param>
/// <param name="Rows">The rows, at most one per silo.</param>
[Orleans.GenerateSerializer]
internal sealed record TableSnapshot(long Version, long View, ImmutableArray<MembershipRow> Rows)
{
    /// <summary>
    /// Which table this is; 0 before the first read. A table in memory that was lost begins again with low versions, so versions and views
    /// of two tables say nothing about each other.
    /// </summary>
    [Orleans.Id(11)]
    public long TableId { get; init; }

    /// <summary>The table before the first write.</summary>
    public static TableSnapshot Empty { get; } = new(0, 0, []);

    /// <summary>The row of <paramref name="silo"/>, or null.</summary>
    public MembershipRow? Find(SiloAddress silo)
    {
        foreach (var row in Rows)
        {
            if (row.Silo.Equals(silo))
            {
                return row;
            }
        }

        return null;
    }
}
