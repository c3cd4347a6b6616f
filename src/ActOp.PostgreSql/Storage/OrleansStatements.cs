using System.Globalization;
using ActOp.PostgreSql.Schema;
using Npgsql;
using NpgsqlTypes;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Storage;

/// <summary>One transaction for many operations on states in OrleansStorage: the queries of Orleans, in one round trip.</summary>
/// <remarks>
/// <para>A write makes the next version, so it can be sent again: if it was done before, it finds another version than it expects. Then
/// nobody knows whether that is its own or another's, and the operation fails as one of unknown outcome; the ETag stays, and the next
/// change from it is done or is a conflict. The table has no key that excludes two rows of one state, and the query that makes a row
/// looks first whether there is one: so silos of ActOp take a lock of the server for it.</para>
/// Any thread. Statements are prepared by the connection.
/// </remarks>
internal sealed class OrleansStatements(string serviceId, IReadOnlyDictionary<string, string> queries)
{
    private const string ReadKey = "ReadFromStorageKey";
    private const string WriteKey = "WriteToStorageKey";
    private const string ClearKey = "ClearStorageKey";
    private const string DeleteKey = "DeleteStorageKey";
    private const string Version = "Version";
    private const string NewVersion = "NewGrainStateVersion";
    private const string Payload = "PayloadBinary";
    private const string LockSql = "select pg_advisory_xact_lock(@GrainIdHash, @GrainTypeHash)";

    /// <summary>The tables of states.</summary>
    /// <param name="deletes">Whether a clear removes the row, which needs one more query.</param>
    internal static TablePair Tables(bool deletes) => new(
        "actop_state", "OrleansStorage",
        [
            new OrleansQuery(ReadKey, Payload, Version), new OrleansQuery(WriteKey, NewVersion),
            deletes ? new OrleansQuery(DeleteKey) : new OrleansQuery(ClearKey),
        ],
        [
            ("GrainIdHash", NpgsqlDbType.Integer), ("GrainIdN0", NpgsqlDbType.Bigint), ("GrainIdN1", NpgsqlDbType.Bigint),
            ("GrainTypeHash", NpgsqlDbType.Integer), ("GrainTypeString", NpgsqlDbType.Text),
            ("GrainIdExtensionString", NpgsqlDbType.Text), ("ServiceId", NpgsqlDbType.Text), ("GrainStateVersion", NpgsqlDbType.Integer),
            (Payload, NpgsqlDbType.Bytea),
        ]);

    /// <summary>Answers the operations. If it throws, it has answered none.</summary>
    internal async Task ExecuteAsync(NpgsqlConnection connection, List<StoreOperation> together, CancellationToken cancellationToken)
    {
        List<Action> answers = new(together.Count);
        List<StoreOperation> unmatched = [];
        await using (var batch = new NpgsqlBatch(connection))
        {
            var sent = Fill(batch, together, answers, unmatched);
            if (batch.BatchCommands.Count > 0)
            {
                await using var reader = await batch.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
                foreach (var operation in sent)
                {
                    if (operation.IsInsert)
                        await reader.NextResultAsync(cancellationToken).ConfigureAwait(false);
                    if (await TakeAsync(reader, operation, cancellationToken).ConfigureAwait(false) is { } answer)
                        answers.Add(answer);
                    else
                        unmatched.Add(operation);
                    // The end of the last result says that the transaction was committed.
                    await reader.NextResultAsync(cancellationToken).ConfigureAwait(false);
                }
            }
        }

        if (unmatched.Count > 0)
            await ExplainAsync(connection, unmatched, answers, cancellationToken).ConfigureAwait(false);
        foreach (var answer in answers)
            answer();
    }

    /// <summary>Returns the operations that were put into the batch, in order.</summary>
    private List<StoreOperation> Fill(
        NpgsqlBatch batch, List<StoreOperation> together, List<Action> answers, List<StoreOperation> unmatched)
    {
        List<StoreOperation> sent = new(together.Count);
        foreach (var operation in together)
        {
            if (operation.Key.Orleans is not { } key)
            {
                answers.Add(() => operation.Fail(new OrleansException("The state " + operation.Key.ShownName + " of "
                    + operation.Key.ShownGrain + " cannot be in OrleansStorage: the key of the grain is no text, or the name is a "
                    + "generic type. Set PostgresOptions.Tables to ActOp.")));
                continue;
            }

            if (operation.Expected.Versions.Length > 1 || operation.Expected.Versions.Any(static version => version > int.MaxValue))
            {
                // No version of this table.
                unmatched.Add(operation);
                continue;
            }

            if (operation.IsInsert)
                batch.BatchCommands.Add(Command(LockSql, operation, key));
            batch.BatchCommands.Add(Command(queries[QueryOf(operation)], operation, key));
            sent.Add(operation);
        }

        return sent;
    }

    private static string QueryOf(StoreOperation operation) => operation.Work switch
    {
        StateWork.Read => ReadKey,
        StateWork.Write when operation.Data is not null => WriteKey,
        // Nothing to clear, if there is nothing.
        _ when operation.Expected.Versions.Length == 0 => ReadKey,
        StateWork.Delete => DeleteKey,
        _ => ClearKey,
    };

    /// <summary>Null if the row was not as expected.</summary>
    private static async Task<Action?> TakeAsync(NpgsqlDataReader reader, StoreOperation operation, CancellationToken cancellationToken)
    {
        var query = QueryOf(operation);
        var isRow = await reader.ReadAsync(cancellationToken).ConfigureAwait(false);
        if (query == ReadKey && operation.Work != StateWork.Read)
            return isRow ? null : () => operation.Done(null);
        if (query == ReadKey)
            return await TakeReadAsync(reader, isRow, operation, cancellationToken).ConfigureAwait(false);
        var version = isRow ? VersionIn(reader, query == WriteKey ? reader.GetOrdinal(NewVersion) : 0) : null;
        if (version is null || (query == WriteKey && operation.Expected.Versions.Contains(version.Value)))
            return null;
        return () => operation.Done(operation.Work == StateWork.Delete ? null : version);
    }

    private static async Task<Action> TakeReadAsync(
        NpgsqlDataReader reader, bool isRow, StoreOperation operation, CancellationToken cancellationToken)
    {
        if (!isRow)
            return () => operation.Found(null, null);
        var version = VersionIn(reader, reader.GetOrdinal(Version));
        var payload = reader.GetOrdinal(Payload);
        var data = await reader.IsDBNullAsync(payload, cancellationToken).ConfigureAwait(false)
            ? null
            : await reader.GetFieldValueAsync<byte[]>(payload, cancellationToken).ConfigureAwait(false);
        if (!await reader.ReadAsync(cancellationToken).ConfigureAwait(false))
            return () => operation.Found(version, data);
        return () => operation.Fail(new OrleansException("The state " + operation.Key.ShownName + " of " + operation.Key.ShownGrain
            + " has several rows in OrleansStorage. Remove all but the right one."));
    }

    private static long? VersionIn(NpgsqlDataReader reader, int column) => reader.IsDBNull(column)
        ? null : Convert.ToInt64(reader.GetValue(column), CultureInfo.InvariantCulture);

    /// <summary>The operations that did not find the row that they expected: what is there instead?</summary>
    private async Task ExplainAsync(
        NpgsqlConnection connection, List<StoreOperation> unmatched, List<Action> answers, CancellationToken cancellationToken)
    {
        await using var batch = new NpgsqlBatch(connection);
        foreach (var operation in unmatched)
            batch.BatchCommands.Add(Command(queries[ReadKey], operation, operation.Key.Orleans!));
        await using var reader = await batch.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
        foreach (var operation in unmatched)
        {
            var found = await reader.ReadAsync(cancellationToken).ConfigureAwait(false)
                ? VersionIn(reader, reader.GetOrdinal(Version)) : null;
            answers.Add(() => Unmatched(operation, found));
            await reader.NextResultAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    private static void Unmatched(StoreOperation operation, long? found)
    {
        if (!operation.MayBeDone)
        {
            operation.Conflict(found);
        }
        else if (operation.Work == StateWork.Delete && found is null)
        {
            operation.Done(null);
        }
        else
        {
            operation.Fail(new OrleansException("The state " + operation.Key.ShownName + " of " + operation.Key.ShownGrain
                + " may have been changed or not: the connection to the database was lost, and its row has the version "
                + (found?.ToString(CultureInfo.InvariantCulture) ?? "none") + " now, which may be that of this write or of another."));
        }
    }

    private NpgsqlBatchCommand Command(string sql, StoreOperation operation, OrleansKey key)
    {
        var command = new NpgsqlBatchCommand(sql);
        Add(NpgsqlDbType.Integer, "GrainIdHash", key.IdHash);
        Add(NpgsqlDbType.Bigint, "GrainIdN0", key.N0);
        Add(NpgsqlDbType.Bigint, "GrainIdN1", key.N1);
        Add(NpgsqlDbType.Integer, "GrainTypeHash", key.TypeHash);
        Add(NpgsqlDbType.Text, "GrainTypeString", operation.Key.Name);
        Add(NpgsqlDbType.Text, "GrainIdExtensionString", key.Text);
        Add(NpgsqlDbType.Text, "ServiceId", serviceId);
        Add(NpgsqlDbType.Integer, "GrainStateVersion", operation.Expected.Versions is [var version] ? (int)version : null);
        Add(NpgsqlDbType.Bytea, Payload, operation.Data);
        return command;

        void Add(NpgsqlDbType type, string name, object? value) =>
            command.Parameters.Add(new NpgsqlParameter(name, type) { Value = value ?? DBNull.Value });
    }
}
