using Npgsql;
using NpgsqlTypes;

namespace ActOp.PostgreSql.Storage;

/// <summary>One transaction for many operations on states: at most one statement of each kind, in one round trip.</summary>
/// <remarks>
/// Immutable; any thread. Statements are prepared by the connection. Rows find their operations by the version that each chose.
/// </remarks>
internal sealed class StateStatements(string serviceId)
{
    private const string UpdateSql = """
        update actop_state s set version = i.version, data = i.data, changed = now()
        from unnest($2, $3, $4, $5, $6) as i (name, grain, accepted, version, data)
        where s.service_id = $1 and s.state_name = i.name and s.grain_id = i.grain and s.version = any(i.accepted::bigint[])
        returning i.version
        """;

    // An insert that comes again after it was done changes nothing and counts as done. So does one after the update of the same operation,
    // if that was not sure whether there is a record.
    private const string InsertSql = """
        insert into actop_state as s (service_id, state_name, grain_id, version, data)
        select $1, i.name, i.grain, i.version, i.data from unnest($2, $3, $4, $5) as i (name, grain, version, data)
        on conflict (service_id, state_name, grain_id) do update set changed = now() where s.version = excluded.version
        returning s.version
        """;

    private const string DeleteSql = """
        delete from actop_state s using unnest($2, $3, $4, $5) as i (name, grain, accepted, version)
        where s.service_id = $1 and s.state_name = i.name and s.grain_id = i.grain and s.version = any(i.accepted::bigint[])
        returning i.version
        """;

    private const string ReadSql = """
        select i.version, s.version, s.data from unnest($2, $3, $4) as i (name, grain, version)
        join actop_state s on s.service_id = $1 and s.state_name = i.name and s.grain_id = i.grain
        """;

    private const string VersionSql = """
        select i.version, s.version from unnest($2, $3, $4) as i (name, grain, version)
        join actop_state s on s.service_id = $1 and s.state_name = i.name and s.grain_id = i.grain
        """;

    /// <summary>Answers the operations, and returns those that must be tried once more. If it throws, it has answered none.</summary>
    internal async Task<List<StoreOperation>> ExecuteAsync(
        NpgsqlConnection connection, List<StoreOperation> together, CancellationToken cancellationToken)
    {
        Dictionary<long, StoreOperation> open = new(together.Count);
        foreach (var operation in together)
            open.Add(operation.Version, operation);
        List<Action> answers = new(together.Count);
        await using (var batch = new NpgsqlBatch(connection))
        {
            var changes = Fill(batch, together);
            if (batch.BatchCommands.Count > 0)
            {
                await using var reader = await batch.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
                await TakeChangesAsync(reader, changes, open, answers, cancellationToken).ConfigureAwait(false);
                if (batch.BatchCommands.Count > changes)
                    await TakeReadsAsync(reader, open, answers, cancellationToken).ConfigureAwait(false);
                // Only the end of the results says that the transaction was committed.
                await reader.NextResultAsync(cancellationToken).ConfigureAwait(false);
            }
        }

        foreach (var answer in answers)
            answer();
        return open.Count == 0 ? [] : await ExplainAsync(connection, [.. open.Values], cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Returns how many of the statements change rows; a read comes last.</summary>
    private int Fill(NpgsqlBatch batch, List<StoreOperation> together)
    {
        if (Some(together, static operation => operation.IsUpdate) is { Length: > 0 } updates)
        {
            // Its own version too: it may have been done before.
            var accepted = Accepted(updates, static one => [.. one.Expected.Versions, one.Version]);
            batch.BatchCommands.Add(Command(UpdateSql, updates, accepted, Versions(updates), Data(updates)));
        }

        if (Some(together, static operation => operation.IsInsert) is { Length: > 0 } inserts)
            batch.BatchCommands.Add(Command(InsertSql, inserts, Versions(inserts), Data(inserts)));
        if (Some(together, static operation => operation.IsDelete) is { Length: > 0 } deletes)
        {
            var accepted = Accepted(deletes, static one => one.Expected.Versions);
            batch.BatchCommands.Add(Command(DeleteSql, deletes, accepted, Versions(deletes)));
        }

        var changes = batch.BatchCommands.Count;
        if (Some(together, static operation => operation.Work == StateWork.Read) is { Length: > 0 } reads)
            batch.BatchCommands.Add(Command(ReadSql, reads, Versions(reads)));
        return changes;
    }

    private static async Task TakeChangesAsync(
        NpgsqlDataReader reader, int statements, Dictionary<long, StoreOperation> open, List<Action> answers,
        CancellationToken cancellationToken)
    {
        for (; statements > 0; statements--, await reader.NextResultAsync(cancellationToken).ConfigureAwait(false))
        {
            while (await reader.ReadAsync(cancellationToken).ConfigureAwait(false))
            {
                if (open.Remove(reader.GetInt64(0), out var done))
                    answers.Add(() => done.Done(done.Work == StateWork.Delete ? null : done.Version));
            }
        }
    }

    private static async Task TakeReadsAsync(
        NpgsqlDataReader reader, Dictionary<long, StoreOperation> open, List<Action> answers, CancellationToken cancellationToken)
    {
        while (await reader.ReadAsync(cancellationToken).ConfigureAwait(false))
        {
            if (!open.Remove(reader.GetInt64(0), out var read))
                continue;
            var version = reader.GetInt64(1);
            var data = await reader.IsDBNullAsync(2, cancellationToken).ConfigureAwait(false)
                ? null
                : await reader.GetFieldValueAsync<byte[]>(2, cancellationToken).ConfigureAwait(false);
            answers.Add(() => read.Found(version, data));
        }

        foreach (var absent in open.Values.Where(static operation => operation.Work == StateWork.Read).ToArray())
        {
            open.Remove(absent.Version);
            answers.Add(() => absent.Found(null, null));
        }
    }

    /// <summary>The operations that found no row of their version: what is there instead?</summary>
    private async Task<List<StoreOperation>> ExplainAsync(
        NpgsqlConnection connection, StoreOperation[] unmatched, CancellationToken cancellationToken)
    {
        Dictionary<long, long> stored = [];
        await using (var batch = new NpgsqlBatch(connection))
        {
            batch.BatchCommands.Add(Command(VersionSql, unmatched, Versions(unmatched)));
            await using var reader = await batch.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
            while (await reader.ReadAsync(cancellationToken).ConfigureAwait(false))
                stored[reader.GetInt64(0)] = reader.GetInt64(1);
        }

        List<StoreOperation> again = [];
        foreach (var operation in unmatched)
        {
            long? found = stored.TryGetValue(operation.Version, out var version) ? version : null;
            if (found is { } now && operation.Expected.Versions.Contains(now))
            {
                // An earlier change, whose outcome was unknown, was done only now.
                again.Add(operation);
            }
            else if (found is null && operation.Data is null
                && (operation.Expected.MayBeNone || (operation.Work == StateWork.Delete && operation.MayBeDone)))
            {
                operation.Done(null);
            }
            else
            {
                operation.Conflict(found);
            }
        }

        return again;
    }

    private static StoreOperation[] Some(List<StoreOperation> together, Func<StoreOperation, bool> which) => [.. together.Where(which)];

    private NpgsqlBatchCommand Command(string sql, StoreOperation[] operations, params ReadOnlySpan<NpgsqlParameter> more)
    {
        var command = new NpgsqlBatchCommand(sql);
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = serviceId });
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = Array.ConvertAll(operations, static one => one.Key.Name) });
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = Array.ConvertAll(operations, static one => one.Key.Grain) });
        foreach (var parameter in more)
            command.Parameters.Add(parameter);
        return command;
    }

    private static NpgsqlParameter Versions(StoreOperation[] operations) =>
        new NpgsqlParameter<long[]> { TypedValue = Array.ConvertAll(operations, static one => one.Version) };

    /// <summary>Several versions for each operation. An array of arrays must be a rectangle, so each is a text.</summary>
    private static NpgsqlParameter Accepted(StoreOperation[] operations, Converter<StoreOperation, long[]> accepted) =>
        new NpgsqlParameter<string[]>
        {
            TypedValue = Array.ConvertAll(operations, one => "{" + string.Join(',', accepted(one)) + "}"),
        };

    private static NpgsqlParameter Data(StoreOperation[] operations) => new NpgsqlParameter
    {
        NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Bytea,
        Value = Array.ConvertAll(operations, static one => one.Data),
    };
}
