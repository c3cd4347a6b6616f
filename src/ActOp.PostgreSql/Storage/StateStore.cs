using System.Runtime.CompilerServices;
using System.Text;
using ActOp.PostgreSql.Schema;
using Npgsql;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Storage;

/// <summary>Reads and writes states, those that are asked for at the same time together (<see cref="StorePipeline{T}"/>).</summary>
/// <remarks>
/// Each write compares the version of its own row and is answered alone: a conflict does not touch the others. What is known to be refused
/// is not taken into the queue (<see cref="MostKeyBytes"/>). If the connection breaks, the operations are sent again, which is safe
/// (<see cref="StoreOperation"/>). Then they fail with an exception that says that the outcome is unknown, and the operation says what the
/// record may be (<see cref="RecordVersions"/>). An operation that nobody waits for any more is not begun, and not repeated.
/// </remarks>
internal sealed class StateStore : StorePipeline<StoreOperation>
{
    /// <summary>
    /// Connections that are used at the same time. More make transactions smaller; fewer leave the database idle while it flushes.
    /// </summary>
    internal const int Connections = 3;

    /// <summary>Operations of one transaction.</summary>
    internal const int MostTogether = 256;

    /// <summary>Bytes of one transaction, or one operation if that is larger.</summary>
    private const int MostBytes = 4 * 1024 * 1024;

    /// <summary>
    /// Bytes of the service id, the name of the state and the grain together. PostgreSQL refuses a row whose key takes more than 2,704
    /// bytes in an index, with what it adds to each part; some longer ones it can compress, but nobody can tell which.
    /// </summary>
    internal const int MostKeyBytes = 2_600;

    /// <summary>Between two looks whether a session has ended.</summary>
    private static readonly TimeSpan PauseOfEnd = TimeSpan.FromMilliseconds(20);

    private readonly Queue<StoreOperation> _waiting = [];
    private readonly ServerSessions _sessions = new();
    private readonly StateStatements _statements;
    private readonly string _serviceId;
    private long _lastVersion;
    private readonly int _mostKeyBytes;
    private int _sent;

    /// <param name="database">Where the states are.</param>
    /// <param name="serviceId">Whose states.</param>
    /// <param name="firstVersion">A number from which versions are counted, which no other silo uses.</param>
    /// <param name="mostWaiting">Operations that wait; further ones are refused. Each activation has at most one.</param>
    internal StateStore(Database database, string serviceId, long firstVersion, int mostWaiting)
        : base(database, Connections, mostWaiting)
    {
        _serviceId = serviceId;
        _statements = new StateStatements(serviceId);
        _lastVersion = firstVersion;
        _mostKeyBytes = MostKeyBytes - Encoding.UTF8.GetByteCount(serviceId);
    }

    /// <summary>Operations that wait for a transaction.</summary>
    internal int Waiting
    {
        get
        {
            lock (Gate)
                return _waiting.Count;
        }
    }

    /// <summary>Completes when nothing is under way any more, or after a time.</summary>
    internal Task EndAsync() => LanesEndAsync();

    /// <summary>Transactions so far.</summary>
    internal int Sent => Volatile.Read(ref _sent);

    protected override int Held => _waiting.Count;

    protected override string Limit => "operations (PostgresOptions.MaxWaitingOperations)";

    internal StoreOperation Read(StateKey key) => Add(StateWork.Read, key, RecordVersions.None, null);

    /// <summary>Writes if the record is as expected.</summary>
    internal StoreOperation Write(StateKey key, RecordVersions expected, byte[] data) => Add(StateWork.Write, key, expected, data);

    /// <summary>Empties the record and keeps it, under the same condition. No record is no conflict if none is expected.</summary>
    internal StoreOperation Clear(StateKey key, RecordVersions expected) => Add(StateWork.Write, key, expected, null);

    /// <summary>Removes the record, under the same condition.</summary>
    internal StoreOperation Delete(StateKey key, RecordVersions expected) => Add(StateWork.Delete, key, expected, null);

    /// <summary>The caller no longer waits. True if nothing was begun, so that nothing is changed.</summary>
    internal bool TryGiveUp(StoreOperation operation)
    {
        lock (Gate)
        {
            operation.IsGivenUp = true;
            return !operation.IsTaken;
        }
    }

    private StoreOperation Add(StateWork work, StateKey key, RecordVersions expected, byte[]? data)
    {
        Check(key);
        var operation = new StoreOperation(work, key, expected, data) { GivenUpAt = GivenUpAt };
        Add(operation);
        return operation;
    }

    protected override bool Enqueue(StoreOperation item)
    {
        // Not zero, which stands for none in arrays.
        _lastVersion = (_lastVersion & long.MaxValue) == long.MaxValue ? 1 : _lastVersion + 1;
        Invariant.Holds(_lastVersion != 0);
        item.Version = _lastVersion;
        _waiting.Enqueue(item);
        return true;
    }

    /// <summary>Clients choose keys: what the database would refuse must not take the operations of others with it.</summary>
    private void Check(StateKey key)
    {
        var bytes = Encoding.UTF8.GetByteCount(key.Name) + Encoding.UTF8.GetByteCount(key.Grain);
        if (bytes > _mostKeyBytes)
        {
            throw new OrleansException("The state " + key.ShownName + " of " + key.ShownGrain + " has a key of " + bytes
                + " bytes (name of the state and id of the grain), but PostgreSQL stores at most " + _mostKeyBytes + ".");
        }

        if (key.Name.Contains('\0', StringComparison.Ordinal))
            throw new OrleansException("The name of the state " + key.ShownName + " contains a zero, which PostgreSQL cannot store.");
    }

    protected override List<StoreOperation> Dequeue()
    {
        List<StoreOperation> together = new(Math.Min(MostTogether, _waiting.Count));
        for (long bytes = 0; together.Count < MostTogether && _waiting.TryPeek(out var next); _waiting.Dequeue())
        {
            if (next.IsGivenUp)
                continue;
            bytes += next.Data?.Length ?? 0;
            if (bytes > MostBytes && together.Count > 0)
                break;
            Invariant.Holds(!next.IsTaken);
            next.IsTaken = true;
            together.Add(next);
        }

        return together;
    }

    protected override async Task<List<StoreOperation>> SendAsync(
        NpgsqlConnection connection, List<StoreOperation> together, bool isRepeat, CancellationToken cancellationToken)
    {
        await EndLostSessionsAsync(connection, together, cancellationToken).ConfigureAwait(false);
        if (isRepeat)
            together.RemoveAll(static operation => operation.IsGivenUp);
        if (together.Exists(static operation => operation.IsInsert))
        {
            var session = await _sessions.OfAsync(connection, cancellationToken).ConfigureAwait(false);
            foreach (var operation in together)
                operation.Session = session;
        }

        Interlocked.Increment(ref _sent);
        if (Database.OrleansQueries is { } queries)
        {
            await new OrleansStatements(_serviceId, queries).ExecuteAsync(connection, together, cancellationToken).ConfigureAwait(false);
            return [];
        }

        return await _statements.ExecuteAsync(connection, together, cancellationToken).ConfigureAwait(false);
    }

    protected override void NoteSplit(int count, Exception exception) => Database.Log.BatchSplit(count, exception);

    protected override void NoteUnknown(int count, Exception exception) => Database.Log.OutcomeUnknown(count, exception);

    protected override void Fail(StoreOperation item, Exception exception)
    {
        var isUnknown = item.MayBeDone && item.Work != StateWork.Read;
        item.Fail(new OrleansException("The state " + item.Key.ShownName + " of " + item.Key.ShownGrain + (isUnknown
            ? " may have been changed or not: the connection to the database was lost and did not come back in time. "
            : " could not be used: ") + exception.Message, exception));
    }

    /// <summary>
    /// A server may do what it was sent long after the connection broke. An update then finds another version. An insert would make a
    /// record that was removed meanwhile; so the session that may still do it is ended before the record can be written again.
    /// </summary>
    private async Task EndLostSessionsAsync(NpgsqlConnection connection, List<StoreOperation> together, CancellationToken cancellationToken)
    {
        ServerSession[] lost = [.. together.SelectMany(static operation => operation.Lost).Distinct()];
        if (lost.Length == 0)
            return;
        while (await ServerSessions.EndAsync(connection, lost, cancellationToken).ConfigureAwait(false))
            await Task.Delay(PauseOfEnd, Database.Time, cancellationToken).ConfigureAwait(false);
        foreach (var operation in together)
            operation.Lost = [];
    }
}

/// <summary>The server's processes behind connections, and their end.</summary>
/// <remarks>
/// The number of a process is used again by the server, so a process is known by its number and its beginning. That is asked for once for
/// each physical connection. Any thread.
/// </remarks>
internal sealed class ServerSessions
{
    private const string OwnSql = """
        select pid, (extract(epoch from backend_start) * 1000000)::bigint from pg_stat_activity where pid = pg_backend_pid()
        """;

    private const string EndSql = """
        select coalesce(bool_or(pg_terminate_backend(a.pid)), false)
        from pg_stat_activity a join unnest($1, $2) as l (pid, began)
          on a.pid = l.pid and (extract(epoch from a.backend_start) * 1000000)::bigint = l.began
        where a.pid <> pg_backend_pid() and a.usename = current_user
        """;

    /// <summary>By an object that Npgsql has for each physical connection. Another one would be asked for again.</summary>
    private readonly ConditionalWeakTable<object, object> _known = [];

    /// <summary>The session of an open connection; null if the server does not say.</summary>
    internal async ValueTask<ServerSession?> OfAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        object physical = connection.PostgresParameters;
        if (_known.TryGetValue(physical, out var known))
            return (ServerSession)known;
        await using var command = new NpgsqlCommand(OwnSql, connection);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
        if (!await reader.ReadAsync(cancellationToken).ConfigureAwait(false)
            || await reader.IsDBNullAsync(1, cancellationToken).ConfigureAwait(false))
        {
            return null;
        }

        var session = new ServerSession(reader.GetInt32(0), reader.GetInt64(1));
        _known.AddOrUpdate(physical, session);
        return session;
    }

    /// <summary>Ends sessions. False when none of them is there any more.</summary>
    internal static async Task<bool> EndAsync(NpgsqlConnection connection, ServerSession[] lost, CancellationToken cancellationToken)
    {
        await using var end = new NpgsqlCommand(EndSql, connection);
        end.Parameters.Add(new NpgsqlParameter<int[]> { TypedValue = Array.ConvertAll(lost, static one => one.Process) });
        end.Parameters.Add(new NpgsqlParameter<long[]> { TypedValue = Array.ConvertAll(lost, static one => one.Began) });
        return await end.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false) is true;
    }
}
