using System.Runtime.CompilerServices;
using System.Text;
using ActOp.PostgreSql.Schema;
using Npgsql;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Storage;

/// <summary>Reads and writes states, those that are asked for at the same time together.</summary>
/// <remarks>
/// <para>
/// Owns the queue of operations and a few lanes. A lane has one connection; it takes all that waits, up to a limit, sends it as one round
/// trip and one transaction, answers all callers when the transaction is committed, and goes on. So the database flushes its log once for
/// many writes, and a caller waits for at most the transaction before its own. A lane ends when nothing waits, and gives its connection
/// back.
/// </para>
/// <para>
/// Each write compares the version of its own row and is answered alone: a conflict does not touch the others. If the database refuses the
/// transaction because of one operation, its halves are repeated each alone, down to the one that is refused: the others take some
/// transactions more, not one each. What is known to be refused is not taken into the queue (<see cref="MostKeyBytes"/>). If the connection
/// breaks, nobody knows whether it was committed; the
/// operations are then sent again, which is safe (<see cref="StoreOperation"/>), until <see cref="RetryTime"/> has passed. Then they fail
/// with an exception that says that the outcome is unknown, and the operation says what the record may be (<see cref="RecordVersions"/>).
/// An operation that nobody waits for any more is not begun, and not repeated.
/// </para>
/// Any thread calls; callers are answered on the thread pool. No operation is lost: a lane answers all that it has taken, whatever it
/// throws, and begins again (<see cref="Lanes{T}"/>).
/// </remarks>
internal sealed class StateStore
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

    /// <summary>For how long operations are repeated while the database cannot be reached (<c>PostgresOptions.RetryTime</c>).</summary>
    internal TimeSpan RetryTime { get; init; } = TimeSpan.FromSeconds(20);

    /// <summary>Between two looks whether a session has ended.</summary>
    private static readonly TimeSpan PauseOfEnd = TimeSpan.FromMilliseconds(20);

    private readonly Lock _gate = new();
    private readonly Queue<StoreOperation> _waiting = [];
    private readonly ServerSessions _sessions = new();
    private readonly StateStatements _statements;
    private long _lastVersion;
    private readonly Database _database;
    private readonly int _mostWaiting;
    private readonly Lanes<StoreOperation> _lanes;
    private readonly int _mostKeyBytes;
    private int _sent;

    /// <param name="database">Where the states are.</param>
    /// <param name="serviceId">Whose states.</param>
    /// <param name="firstVersion">A number from which versions are counted, which no other silo uses.</param>
    /// <param name="mostWaiting">Operations that wait; further ones are refused. Each activation has at most one.</param>
    internal StateStore(Database database, string serviceId, long firstVersion, int mostWaiting)
    {
        _database = database;
        _statements = new StateStatements(serviceId);
        _lastVersion = firstVersion;
        _mostKeyBytes = MostKeyBytes - Encoding.UTF8.GetByteCount(serviceId);
        _mostWaiting = mostWaiting;
        _lanes = new Lanes<StoreOperation>(database, Connections, Take, RunAsync, Fail);
    }

    /// <summary>Operations that wait for a transaction.</summary>
    internal int Waiting
    {
        get
        {
            lock (_gate)
                return _waiting.Count;
        }
    }

    /// <summary>Completes when nothing is under way any more, or after a time.</summary>
    internal async Task EndAsync() => await _lanes.EndedAsync().WaitAsync(Database.LongestEnd, _database.Time)
        .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);

    /// <summary>Transactions so far.</summary>
    internal int Sent => Volatile.Read(ref _sent);

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
        lock (_gate)
        {
            operation.IsGivenUp = true;
            return !operation.IsTaken;
        }
    }

    private StoreOperation Add(StateWork work, StateKey key, RecordVersions expected, byte[]? data)
    {
        Check(key);
        StoreOperation operation;
        lock (_gate)
        {
            if (_waiting.Count >= _mostWaiting)
            {
                throw new OrleansException(_database.Part + " has " + _mostWaiting
                    + " waiting operations (PostgresOptions.MaxWaitingOperations): the database is too slow or gone.");
            }

            // Not zero, which stands for none in arrays.
            _lastVersion = (_lastVersion & long.MaxValue) == long.MaxValue ? 1 : _lastVersion + 1;
            operation = new StoreOperation(work, key, expected, data, _lastVersion)
            {
                GivenUpAt = _database.Time.GetTimestamp() + (long)(RetryTime.TotalSeconds * _database.Time.TimestampFrequency),
            };
            _waiting.Enqueue(operation);
            Invariant.Holds(_waiting.Count <= _mostWaiting && operation.Version != 0);
            if (!_lanes.TryEnter())
                return operation;
        }

        _lanes.Start();
        return operation;
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

    /// <summary>The operations of the next transaction; null if nothing waits: then the lane has ended.</summary>
    private List<StoreOperation>? Take()
    {
        lock (_gate)
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

            if (together.Count > 0)
                return together;
            _lanes.Leave();
            return null;
        }
    }

    /// <summary>Answers all operations. Returns the connection if it can be used again.</summary>
    private async Task<NpgsqlConnection?> RunAsync(NpgsqlConnection? connection, List<StoreOperation> together)
    {
        for (var failures = 0; together.Count > 0; failures++)
        {
            ServerSession? session = null;
            try
            {
                using var limit = new CancellationTokenSource(
                    _database.Remaining(together.Max(static operation => operation.GivenUpAt)), _database.Time);
                connection ??= await _database.OpenAsync(limit.Token).ConfigureAwait(false);
                await EndLostSessionsAsync(connection, together, limit.Token).ConfigureAwait(false);
                if (failures > 0)
                    together.RemoveAll(static operation => operation.IsGivenUp);
                if (together.Exists(static operation => operation.IsInsert))
                    session = await _sessions.OfAsync(connection, limit.Token).ConfigureAwait(false);
                Interlocked.Increment(ref _sent);
                together = await _statements.ExecuteAsync(connection, together, limit.Token).ConfigureAwait(false);
                _database.NoteReached();
                // What is left has found the outcome of an earlier attempt and goes on from there.
                continue;
            }
            catch (Exception exception)
            {
                if (connection is not null)
                    await Database.CloseAsync(connection).ConfigureAwait(false);
                connection = null;
                together.RemoveAll(static operation => operation.Ended.IsCompleted);
                var failure = _database.Judge(exception);
                if (failure == Failure.Refused && exception is PostgresException && together.Count > 1)
                {
                    await SplitAsync(together, exception).ConfigureAwait(false);
                    return null;
                }

                together = Repeatable(together, exception, failure, session);
            }

            if (together.Count > 0)
                await Task.Delay(_database.PauseAfter(failures), _database.Time).ConfigureAwait(false);
        }

        return connection;
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
            await Task.Delay(PauseOfEnd, _database.Time, cancellationToken).ConfigureAwait(false);
        foreach (var operation in together)
            operation.Lost = [];
    }

    /// <summary>One of them was refused, and with it all: each half alone.</summary>
    private async Task SplitAsync(List<StoreOperation> together, Exception exception)
    {
        _database.Log.BatchSplit(together.Count, exception);
        var half = together.Count / 2;
        var connection = await RunAsync(null, together[..half]).ConfigureAwait(false);
        connection = await RunAsync(connection, together[half..]).ConfigureAwait(false);
        if (connection is not null)
            await Database.CloseAsync(connection).ConfigureAwait(false);
    }

    /// <summary>The operations that are tried again after a failure; the others have failed.</summary>
    private List<StoreOperation> Repeatable(List<StoreOperation> together, Exception exception, Failure failure, ServerSession? session)
    {
        var isLost = failure == Failure.Unknown;
        var now = _database.Time.GetTimestamp();
        List<StoreOperation> again = [];
        foreach (var operation in together)
        {
            operation.MayBeDone |= isLost;
            if (isLost && session is { } lost && operation.IsInsert)
                operation.Lost = [.. operation.Lost, lost];
            if (failure != Failure.Refused && now < operation.GivenUpAt)
                again.Add(operation);
            else
                Fail(operation, exception);
        }

        if (isLost && again.Count < together.Count)
            _database.Log.OutcomeUnknown(together.Count - again.Count, exception);
        return again;
    }

    private void Fail(StoreOperation operation, Exception exception)
    {
        var isUnknown = operation.MayBeDone && operation.Work != StateWork.Read;
        operation.Fail(new OrleansException("The state " + operation.Key.ShownName + " of " + operation.Key.ShownGrain + (isUnknown
            ? " may have been changed or not: the connection to the database was lost and did not come back in time. "
            : " could not be used: ") + exception.Message, exception));
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
