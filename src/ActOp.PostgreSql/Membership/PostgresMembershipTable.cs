using System.Collections.Immutable;
using System.Globalization;
using System.Net;
using ActOp.PostgreSql.Schema;
using ActOp.Runtime.Cluster;
using Npgsql;
using NpgsqlTypes;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Membership;

/// <summary>The membership table in PostgreSQL: one row per cluster with its version, one per silo.</summary>
/// <remarks>
/// Owns nothing; the database belongs to the container. The cluster's system target calls, one request at a time; continues on the thread
/// pool. Each request is one round trip and one transaction: a write locks the row of its cluster, compares the version and replaces rows
/// in one statement, so two writers of one version cannot both succeed. What the request answers is read by one statement, that is at one
/// moment. If the connection breaks, a read or heartbeat is repeated until its time ends (a counter that advances twice does no harm). A
/// write is not: it may have been done, and the protocol reads the table before it writes again.
/// </remarks>
internal sealed class PostgresMembershipTable(Database database, string clusterId) : IClusterTable
{
    private const string ReadSql = """
        select c.table_id, c.version, c.view, s.silo, s.name, s.status, s.gateway, s.cause, s.votes, s.heartbeat, s.changed_at
        from actop_cluster c left join actop_silo s on s.cluster_id = c.cluster_id
        where c.cluster_id = $1 order by s.changed_at, s.silo
        """;

    private const string CreateSql =
        "insert into actop_cluster (cluster_id, table_id) values ($1, 1 + floor(random() * 9e15)::bigint) on conflict do nothing";

    private const string HeartbeatSql =
        "update actop_silo set heartbeat = heartbeat + 1, seen = now() where cluster_id = $1 and silo = $2";

    private const string WriteSql = """
        with won as (
          update actop_cluster set version = version + 1, view = view + $3 where cluster_id = $1 and version = $2 returning version
        ), removed as (
          delete from actop_silo where cluster_id = $1 and silo = any($4) and exists (select from won)
        ), written as (
          insert into actop_silo (cluster_id, silo, name, status, gateway, cause, votes, heartbeat, changed_at)
          select $1, r.silo, r.name, r.status, r.gateway, r.cause, string_to_array(r.votes, ';'), r.heartbeat, won.version
          from won, unnest($5, $6, $7, $8, $9, $10, $11) as r (silo, name, status, gateway, cause, votes, heartbeat)
          on conflict (cluster_id, silo) do update set name = excluded.name, status = excluded.status, gateway = excluded.gateway,
            cause = excluded.cause, votes = excluded.votes, changed_at = excluded.changed_at, changed = now()
        )
        select exists (select from won)
        """;

    /// <inheritdoc/>
    public async ValueTask<TableReply> Execute(TableRequest request, CancellationToken cancellationToken)
    {
        for (var failures = 0; ; failures++)
        {
            try
            {
                var reply = await TryExecuteAsync(request, cancellationToken).ConfigureAwait(false);
                database.NoteReached();
                return reply;
            }
            catch (Exception exception) when (exception is NpgsqlException or TimeoutException)
            {
                if (!database.IsLost(exception) || request.Operation == TableOperation.Write)
                    throw new IOException("The membership table in PostgreSQL could not be used: " + exception.Message, exception);
            }

            await Task.Delay(database.PauseAfter(failures), database.Time, cancellationToken).ConfigureAwait(false);
        }
    }

    private async Task<TableReply> TryExecuteAsync(TableRequest request, CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenAsync(cancellationToken).ConfigureAwait(false);
        if (await TryExecuteAsync(connection, request, cancellationToken).ConfigureAwait(false) is { } reply)
            return reply;
        await using (var create = new NpgsqlCommand(CreateSql, connection))
        {
            create.Parameters.Add(new NpgsqlParameter<string> { TypedValue = clusterId });
            await create.ExecuteNonQueryAsync(cancellationToken).ConfigureAwait(false);
        }

        return await TryExecuteAsync(connection, request, cancellationToken).ConfigureAwait(false)
            ?? throw new IOException("The row of cluster " + clusterId + " was removed from actop_cluster while it was made.");
    }

    /// <summary>Null if the cluster has no row yet.</summary>
    private async Task<TableReply?> TryExecuteAsync(NpgsqlConnection connection, TableRequest request, CancellationToken cancellationToken)
    {
        await using var batch = new NpgsqlBatch(connection);
        if (request.Operation == TableOperation.Write)
            batch.BatchCommands.Add(Write(request));
        else if (request is { Operation: TableOperation.Heartbeat, Silo: { } silo })
            batch.BatchCommands.Add(Command(HeartbeatSql, Text(clusterId), Text(silo.ToParsableString())));
        batch.BatchCommands.Add(Command(ReadSql, Text(clusterId)));
        await using var reader = await batch.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
        var accepted = true;
        if (request.Operation == TableOperation.Write)
        {
            accepted = await reader.ReadAsync(cancellationToken).ConfigureAwait(false) && reader.GetBoolean(0);
            await reader.NextResultAsync(cancellationToken).ConfigureAwait(false);
        }

        return await ReadAsync(reader, cancellationToken).ConfigureAwait(false) is { } snapshot
            ? new TableReply(request.Id, accepted, snapshot)
            : null;
    }

    private NpgsqlBatchCommand Write(TableRequest request) => Command(
        WriteSql, Text(clusterId), Number(request.ExpectedVersion), Number(request.ChangesView ? 1 : 0),
        Texts(request.Removed, static silo => silo.ToParsableString()),
        Texts(request.Rows, static row => row.Silo.ToParsableString()),
        Texts(request.Rows, static row => row.Name),
        new NpgsqlParameter<int[]> { TypedValue = [.. request.Rows.Select(static row => (int)row.Status)] },
        Texts(request.Rows, static row => row.Gateway?.ToString()),
        new NpgsqlParameter<int[]> { TypedValue = [.. request.Rows.Select(static row => (int)row.Cause)] },
        Texts(request.Rows, static row => string.Join(';', row.Votes.Select(Format))),
        new NpgsqlParameter<long[]> { TypedValue = [.. request.Rows.Select(static row => row.Heartbeat)] });

    private async Task<TableSnapshot?> ReadAsync(NpgsqlDataReader reader, CancellationToken cancellationToken)
    {
        TableSnapshot? table = null;
        var rows = ImmutableArray.CreateBuilder<MembershipRow>();
        while (await reader.ReadAsync(cancellationToken).ConfigureAwait(false))
        {
            table ??= new TableSnapshot(reader.GetInt64(1), reader.GetInt64(2), []) { TableId = reader.GetInt64(0) };
            if (!reader.IsDBNull(3) && Row(reader) is { } row)
                rows.Add(row);
        }

        return table is null ? null : table with { Rows = rows.ToImmutable() };
    }

    /// <summary>Null for a row that somebody has written by hand and that cannot be read: it must not stop the cluster.</summary>
    private MembershipRow? Row(NpgsqlDataReader reader)
    {
        var silo = reader.GetString(3);
        try
        {
            var gateway = reader.IsDBNull(6) ? null : IPEndPoint.Parse(reader.GetString(6));
            return new MembershipRow(SiloAddress.Parse(silo), reader.GetString(4), (SiloStatus)reader.GetInt32(5), gateway)
            {
                Cause = (DeathCause)reader.GetInt32(7),
                Votes = [.. reader.GetFieldValue<string[]>(8).Select(Vote)],
                Heartbeat = reader.GetInt64(9),
                ChangedAt = reader.GetInt64(10),
            };
        }
        catch (Exception exception) when (exception is FormatException or ArgumentException or IndexOutOfRangeException)
        {
            database.Log.RowUnreadable(silo, exception);
            return null;
        }
    }

    /// <summary>Voter, view and whether the voter was refused, with spaces between.</summary>
    private static string Format(Vote vote) =>
        string.Create(CultureInfo.InvariantCulture, $"{vote.Voter.ToParsableString()} {vote.View} {(vote.Refused ? "refused" : "silent")}");

    private static Vote Vote(string text)
    {
        var parts = text.Split(' ');
        return new Vote(SiloAddress.Parse(parts[0]), long.Parse(parts[1], CultureInfo.InvariantCulture), parts[2] == "refused");
    }

    private static NpgsqlBatchCommand Command(string sql, params ReadOnlySpan<NpgsqlParameter> parameters)
    {
        var command = new NpgsqlBatchCommand(sql);
        foreach (var parameter in parameters)
            command.Parameters.Add(parameter);
        return command;
    }

    private static NpgsqlParameter Text(string value) => new NpgsqlParameter<string> { TypedValue = value };

    private static NpgsqlParameter Number(long value) => new NpgsqlParameter<long> { TypedValue = value };

    private static NpgsqlParameter Texts<T>(ImmutableArray<T> items, Func<T, string?> text) => new NpgsqlParameter
    {
        NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Text,
        Value = items.Select(text).ToArray(),
    };
}
