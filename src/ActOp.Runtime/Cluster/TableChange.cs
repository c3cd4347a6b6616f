using System.Collections.Immutable;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>Rows to write in one compare-and-swap, while they are being collected.</summary>
internal sealed class TableChange
{
    private readonly Dictionary<SiloAddress, MembershipRow> _rows = [];
    private readonly HashSet<SiloAddress> _removed = [];
    private bool _changesView;

    /// <summary>Whether there is nothing to write.</summary>
    public bool IsEmpty => _rows.Count == 0 && _removed.Count == 0;

    /// <summary>Inserts or replaces a row.</summary>
    public void Put(MembershipRow row, bool changesView)
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

    /// <summary>The request that does it if the table is still as in <paramref name="table"/>.</summary>
    public TableRequest Against(TableSnapshot table, long id) => new(id, TableOperation.Write)
    {
        ExpectedVersion = table.Version,
        ChangesView = _changesView,
        Rows = [.. _rows.Values.OrderBy(row => row.Silo, SiloOrder.Instance)],
        Removed = [.. _removed.Order(SiloOrder.Instance)],
    };
}
