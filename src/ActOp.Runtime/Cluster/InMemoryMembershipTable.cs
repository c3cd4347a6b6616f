using System.Collections.Immutable;

namespace ActOp.Runtime.Cluster;

/// <summary>
/// The membership table in the memory of one process: shared by the silos of a test, or served to others by the seed silo.
/// </summary>
/// <param name="id">Identity of the table.</param>
internal sealed class InMemoryMembershipTable(long id = 1) : IClusterTable
{
    private readonly Lock _gate = new();
    private TableSnapshot _table = TableSnapshot.Empty with { TableId = id };

    /// <summary>Continues with the contents and the identity of a table that another process held.</summary>
    public void Restore(TableSnapshot table)
    {
        lock (_gate)
            _table = table;
    }

    /// <summary>Performs one operation atomically.</summary>
    public TableReply Apply(TableRequest request)
    {
        lock (_gate)
        {
            var accepted = request.Operation switch
            {
                TableOperation.Heartbeat => Beat(request),
                TableOperation.Write => Write(request),
                _ => true,
            };
            return new TableReply(request.Id, accepted, _table);
        }
    }

    /// <inheritdoc/>
    public ValueTask<TableReply> Execute(TableRequest request, CancellationToken cancellationToken) => new(Apply(request));

    private bool Beat(TableRequest request)
    {
        var row = request.Silo is null ? null : _table.FindRow(request.Silo);
        if (row is not null)
            _table = _table with { Rows = _table.Rows.Replace(row, row with { Heartbeat = row.Heartbeat + 1 }) };

        return true;
    }

    private bool Write(TableRequest request)
    {
        if (request.ExpectedVersion != _table.Version)
            return false;

        var version = _table.Version + 1;
        var rows = ImmutableArray.CreateBuilder<MembershipRow>(_table.Rows.Length + request.Rows.Length);
        foreach (var old in _table.Rows)
        {
            if (!request.Removed.Contains(old.Silo) && !Contains(request.Rows, old))
                rows.Add(old);
        }

        foreach (var row in request.Rows)
            rows.Add(row with { Heartbeat = _table.FindRow(row.Silo)?.Heartbeat ?? row.Heartbeat, ChangedAt = version });

        _table = _table with { Version = version, View = _table.View + (request.ChangesView ? 1 : 0), Rows = rows.ToImmutable() };
        return true;
    }

    private static bool Contains(ImmutableArray<MembershipRow> rows, MembershipRow row)
    {
        foreach (var other in rows)
        {
            if (other.Silo.Equals(row.Silo))
                return true;
        }

        return false;
    }
}
