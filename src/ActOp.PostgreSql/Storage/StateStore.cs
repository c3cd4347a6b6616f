using ActOp.PostgreSql.Schema;
using Npgsql;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Storage;

/// <summary>Reads and writes states, those that are asked for at the same time together.</summary>
/// <remarks>
/// <para>
/// Owns the queue of operations and a few lanes. A lane has one connection; it takes all that waits, up to a limit, sends it as one round
/// trip and one transaction, answers all callers when the transaction is committed, and goes on. So the database flushes its log once for
/// many writes, and a caller waits for at most the transaction before its own. A lane ends when nothing waits, and gives its connection back.
/// </para>
/// <para>
/// Each write compares the version of its own row and is answered alone: a conflict does not touch the others. If the database refuses the
/// transaction because of one operation, all are repeated one by one. If the connection breaks, nobody knows whether it was committed; the
/// operations are then sent again, which is safe (<see cref="StoreOperation"/>), until <see cref="RetryTime"/> has passed. Then they fail with
/// an exception that says that the outcome is unknown, and the next write of such a state accepts both versions.
/// </para>
/// Any thread calls; callers are answered on the thread pool. No operation is lost: a lane answers all that it has taken, whatever it throws.
/// </remarks>
internal sealed class StateStore(Database database, string serviceId, long firstVersion)
{
    /// <summary>
    /// Connections that are used at the same time. More make transactions smaller; fewer leave the database idle while it flushes.
    /// </summary>
    internal const int Lanes = 3;

    /// <summary>Operations of one transaction.</summary>
    internal const int MostTogether = 256;

    /// <summary>Operations that wait; further ones are refused. Each activation has at most one.</summary>
    private const int MostWaiting = 200_000;

    /// <summary>Bytes of one transaction, or one operation if that is larger.</summary>
    private const int MostBytes = 4 * 1024 * 1024;

    /// <summary>
    /// States whose last write has an unknown outcome and that are remembered. A forgotten one ends in a conflict, not in a loss.
    /// </summary>
    private const int MostDoubts = 10_000;

    /// <summary>For how long operations are repeated while the database cannot be reached: less than the usual response timeout.</summary>
    internal static readonly TimeSpan RetryTime = TimeSpan.FromSeconds(20);

    private readonly Lock _gate = new();
    private readonly Queue<StoreOperation> _waiting = [];
    private readonly Dictionary<StateKey, (long? Expected, long Version)> _doubts = [];
    private readonly StateStatements _statements = new(serviceId);
    private long _lastVersion = firstVersion;
    private int _lanes;
    private int _sent;

    /// <summary>Transactions so far.</summary>
    internal int Sent => Volatile.Read(ref _sent);

    internal StoreOperation Read(StateKey key) => Add(StateWork.Read, key, null, null);

    /// <summary>Writes if the record has the expected version, or if there is none and null is expected.</summary>
    internal StoreOperation Write(StateKey key, long? expected, byte[] data) => Add(StateWork.Write, key, expected, data);

    /// <summary>Empties the record and keeps it, under the same condition. No record is no conflict if none is expected.</summary>
    internal StoreOperation Clear(StateKey key, long? expected) => Add(StateWork.Write, key, expected, null);

    /// <summary>Removes the record, under the same condition.</summary>
    internal StoreOperation Delete(StateKey key, long? expected) => Add(StateWork.Delete, key, expected, null);

    /// <summary>The caller of a write no longer waits: the next one from the same version must accept both outcomes.</summary>
    internal void Abandon(StoreOperation operation)
    {
        if (operation.Work != StateWork.Write)
            return;
        lock (_gate)
            Doubt(operation.Key, operation.Expected, operation.Version);
    }

    private StoreOperation Add(StateWork work, StateKey key, long? expected, byte[]? data)
    {
        StoreOperation operation;
        lock (_gate)
        {
            if (_waiting.Count >= MostWaiting)
                throw new OrleansException("The storage has " + MostWaiting + " waiting operations: the database is too slow or gone.");
            long? doubt = null;
            if (_doubts.Count > 0 && _doubts.Remove(key, out var last) && last.Expected == expected && work != StateWork.Read)
                doubt = last.Version;
            // Not zero, which stands for none in arrays.
            _lastVersion = (_lastVersion & long.MaxValue) == long.MaxValue ? 1 : _lastVersion + 1;
            operation = new StoreOperation(work, key, expected, data, _lastVersion, doubt)
            {
                GivenUpAt = database.Time.GetTimestamp() + (long)(RetryTime.TotalSeconds * database.Time.TimestampFrequency),
            };
            _waiting.Enqueue(operation);
            if (_lanes == Lanes)
                return operation;
            _lanes++;
        }

        // The lane works for all: it has no call context of the first caller.
        using (ExecutionContext.SuppressFlow())
            _ = RunLaneAsync();
        return operation;
    }

    private void Doubt(StateKey key, long? expected, long version)
    {
        if (_doubts.Count >= MostDoubts)
            _doubts.Clear();
        _doubts[key] = (expected, version);
    }

    /// <summary>Does not fail: every failure is that of the operations which it has taken.</summary>
    private async Task RunLaneAsync()
    {
        // The caller goes on at once, and others who call at the same time get into the same transaction.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        NpgsqlConnection? connection = null;
        while (Take() is { } together)
            connection = await RunAsync(connection, together).ConfigureAwait(false);
        if (connection is not null)
            await CloseAsync(connection).ConfigureAwait(false);
    }

    /// <summary>The operations of the next transaction; null if nothing waits: then the lane has ended.</summary>
    private List<StoreOperation>? Take()
    {
        lock (_gate)
        {
            if (_waiting.Count == 0)
            {
                _lanes--;
                return null;
            }

            List<StoreOperation> together = new(Math.Min(MostTogether, _waiting.Count));
            for (long bytes = 0; together.Count < MostTogether && _waiting.TryPeek(out var next); together.Add(_waiting.Dequeue()))
            {
                bytes += next.Data?.Length ?? 0;
                if (bytes > MostBytes && together.Count > 0)
                    break;
            }

            return together;
        }
    }

    /// <summary>Answers all operations. Returns the connection if it can be used again.</summary>
    private async Task<NpgsqlConnection?> RunAsync(NpgsqlConnection? connection, List<StoreOperation> together)
    {
        for (var failures = 0; together.Count > 0; failures++)
        {
            try
            {
                using var limit = new CancellationTokenSource(Remaining(together), database.Time);
                connection ??= await database.OpenAsync(limit.Token).ConfigureAwait(false);
                Interlocked.Increment(ref _sent);
                together = await _statements.ExecuteAsync(connection, together, limit.Token).ConfigureAwait(false);
                database.NoteReached();
                // What is left has found the outcome of an earlier attempt and goes on from there.
                continue;
            }
            catch (Exception exception)
            {
                if (connection is not null)
                    await CloseAsync(connection).ConfigureAwait(false);
                connection = null;
                together.RemoveAll(static operation => operation.Ended.IsCompleted);
                if (exception is PostgresException && !database.IsLost(exception) && together.Count > 1)
                {
                    await SplitAsync(together, exception).ConfigureAwait(false);
                    return null;
                }

                together = Repeatable(together, exception);
            }

            if (together.Count > 0)
                await Task.Delay(database.PauseAfter(failures), database.Time).ConfigureAwait(false);
        }

        return connection;
    }

    /// <summary>One of them was refused, and with it all: each alone.</summary>
    private async Task SplitAsync(List<StoreOperation> together, Exception exception)
    {
        database.Log.BatchSplit(together.Count, exception);
        NpgsqlConnection? connection = null;
        foreach (var operation in together)
            connection = await RunAsync(connection, [operation]).ConfigureAwait(false);
        if (connection is not null)
            await CloseAsync(connection).ConfigureAwait(false);
    }

    /// <summary>The operations that are tried again after a failure; the others have failed.</summary>
    private List<StoreOperation> Repeatable(List<StoreOperation> together, Exception exception)
    {
        // A transaction that others were in the way of was not committed and may be tried again.
        var isBlocked = exception is PostgresException
        {
            SqlState: PostgresErrorCodes.SerializationFailure or PostgresErrorCodes.DeadlockDetected,
        };
        var isLost = !isBlocked && (exception is OperationCanceledException || database.IsLost(exception));
        var now = database.Time.GetTimestamp();
        List<StoreOperation> again = [];
        foreach (var operation in together)
        {
            operation.MayBeDone |= isLost;
            if ((isBlocked || isLost) && now < operation.GivenUpAt)
                again.Add(operation);
            else
                Fail(operation, exception);
        }

        if (isLost && again.Count < together.Count)
            database.Log.OutcomeUnknown(together.Count - again.Count, exception);
        return again;
    }

    private void Fail(StoreOperation operation, Exception exception)
    {
        var isUnknown = operation.MayBeDone && operation.Work != StateWork.Read;
        if (isUnknown && operation.Work == StateWork.Write)
        {
            lock (_gate)
                Doubt(operation.Key, operation.Expected, operation.Version);
        }

        operation.Fail(new OrleansException("The state " + operation.Key.Name + " of " + operation.Key.Grain + (isUnknown
            ? " may have been changed or not: the connection to the database was lost and did not come back in time. "
            : " could not be used: ") + exception.Message, exception));
    }

    private TimeSpan Remaining(List<StoreOperation> together)
    {
        var left = TimeSpan.Zero;
        var now = database.Time.GetTimestamp();
        foreach (var operation in together)
        {
            var own = database.Time.GetElapsedTime(now, operation.GivenUpAt);
            left = own > left ? own : left;
        }

        return left > TimeSpan.FromMilliseconds(100) ? left : TimeSpan.FromMilliseconds(100);
    }

    /// <summary>A connection that broke may throw when it is closed; there is nothing left to be done about it.</summary>
    private static async Task CloseAsync(NpgsqlConnection connection)
    {
        try
        {
            await connection.DisposeAsync().ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is NpgsqlException or IOException or InvalidOperationException)
        {
            // The pool has dropped it.
        }
    }
}
