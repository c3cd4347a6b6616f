using ActOp.PostgreSql.Schema;
using Npgsql;
using NpgsqlTypes;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Streams;

/// <summary>A message on its way into the database. Owned by the waiting queue, then by one loop. Completed once.</summary>
internal sealed class NewMessage(int queue, StreamId stream, byte[] payload, long givenUpAt)
{
    private readonly TaskCompletionSource _written = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal int Queue => queue;

    internal StreamId Stream => stream;

    internal byte[] Payload => payload;

    /// <summary>Timestamp of the database's time.</summary>
    internal long GivenUpAt => givenUpAt;

    /// <summary>Whether the connection broke while it was written.</summary>
    internal bool MayBeDone { get; set; }

    internal Task Written => _written.Task;

    internal void Done() => _written.TrySetResult();

    internal void Fail(Exception exception) => _written.TrySetException(exception);
}

/// <summary>Adds messages to queues, those that are added at the same time together.</summary>
/// <remarks>
/// <para>Owns the messages from the call of the producer until they are committed. A loop takes the waiting messages of all queues that no
/// other loop has, up to a limit, and sends them as one transaction in one round trip. So the messages of a queue are written in the order
/// in which they were added. The transaction locks the rows of its queues in the order of their ids, numbers the messages and commits: no
/// number becomes visible before a lower one of the same queue, and transactions of several silos do not wait for each other in a
/// circle.</para>
/// <para>Failures. The database is away: the messages wait and are sent again for <see cref="RetryTime"/>, then they fail with an
/// <see cref="OrleansException"/>; a message whose connection broke while it was committed may then be in the queue, or twice. The server
/// refuses the transaction: each of its messages is sent alone. It hangs: the time of the messages ends it. A loop throws: its messages
/// fail, and it begins again (<see cref="Lanes{T}"/>). Too many wait: the call fails at once. The provider ends: what waits fails.</para>
/// Any thread adds; producers are answered on the thread pool.
/// </remarks>
internal sealed class MessageWriter
{
    /// <summary>Connections that are used at the same time.</summary>
    internal const int Connections = 3;

    private const int MostTogether = 512;
    private const int MostBytes = 4 * 1024 * 1024;

    /// <summary>For how long messages are sent again while the database cannot be reached (<c>PostgresOptions.RetryTime</c>).</summary>
    internal TimeSpan RetryTime { get; init; } = TimeSpan.FromSeconds(20);

    private const string LockSql = "select id from actop_stream_queue where id = any($1) order by id for update";

    private const string InsertSql = """
        insert into actop_stream_message (queue_id, number, namespace, key, payload, expires)
        select i.queue, q.next + i.place, i.namespace, i.key, i.payload, now() + $6 * interval '1 second'
        from unnest($1, $2, $3, $4, $5) as i (queue, place, namespace, key, payload) join actop_stream_queue q on q.id = i.queue
        """;

    private const string CountSql = """
        update actop_stream_queue q set next = q.next + i.count from unnest($1, $2) as i (id, count) where q.id = i.id
        """;

    private readonly Database _database;
    private readonly long[] _queueIds;
    private readonly TimeSpan _expiry;
    private readonly int _mostWaiting;
    private readonly Lanes<NewMessage> _lanes;
    private readonly Lock _gate = new();

    /// <summary>Per queue: what waits.</summary>
    private readonly Queue<NewMessage>[] _waiting;

    /// <summary>The queues that have waiting messages and no loop.</summary>
    private readonly Queue<int> _ready = new();

    /// <summary>The queues that a loop has.</summary>
    private readonly bool[] _busy;
    private int _count;
    private bool _hasEnded;

    internal MessageWriter(Database database, long[] queueIds, TimeSpan expiry, int mostWaiting)
    {
        _database = database;
        _queueIds = queueIds;
        _expiry = expiry;
        _mostWaiting = mostWaiting;
        _lanes = new Lanes<NewMessage>(
            database, Connections, Take, RunAsync, static (message, exception) => message.Fail(exception), GiveBack);
        _waiting = [.. queueIds.Select(static _ => new Queue<NewMessage>())];
        _busy = new bool[queueIds.Length];
    }

    /// <summary>Messages that wait or are being written.</summary>
    internal int Waiting => Volatile.Read(ref _count);

    /// <summary>Adds a message; it is in the queue when the task has ended.</summary>
    internal Task Add(int queue, StreamId stream, byte[] payload)
    {
        var time = _database.Time;
        var message = new NewMessage(
            queue, stream, payload, time.GetTimestamp() + (long)(RetryTime.TotalSeconds * time.TimestampFrequency));
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_hasEnded, this);
            if (_count >= _mostWaiting)
            {
                throw new OrleansException(
                    _database.Part + " has " + _mostWaiting + " waiting messages (PostgresOptions.MaxWaitingMessages): "
                    + "the database is too slow or gone.");
            }

            _count++;
            _waiting[queue].Enqueue(message);
            if (!_busy[queue] && _waiting[queue].Count == 1)
                _ready.Enqueue(queue);
            if (_ready.Count == 0 || !_lanes.TryEnter())
                return message.Written;
        }

        _lanes.Start();
        return message.Written;
    }

    /// <summary>What waits fails; completes when nothing is being written any more, or after a time.</summary>
    internal async Task EndAsync()
    {
        List<NewMessage> left = [];
        lock (_gate)
        {
            _hasEnded = true;
            foreach (var queue in _waiting)
            {
                left.AddRange(queue);
                queue.Clear();
            }

            _count -= left.Count;
            Invariant.Holds(_count >= 0);
            _ready.Clear();
        }

        foreach (var message in left)
            message.Fail(new OrleansException(_database.Part + " has ended before the message was written."));
        await _lanes.EndedAsync().WaitAsync(Database.LongestEnd, _database.Time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>The messages of the next transaction, by queue; null if there are none: then the loop has ended.</summary>
    private List<NewMessage>? Take()
    {
        lock (_gate)
        {
            if (_ready.Count == 0)
            {
                _lanes.Leave();
                return null;
            }

            List<NewMessage> portion = [];
            long bytes = 0;
            while (portion.Count < MostTogether && bytes < MostBytes && _ready.TryDequeue(out var queue))
            {
                Invariant.Holds(!_busy[queue] && _waiting[queue].Count > 0);
                _busy[queue] = true;
                while (portion.Count < MostTogether && bytes < MostBytes && _waiting[queue].TryDequeue(out var message))
                {
                    portion.Add(message);
                    bytes += message.Payload.Length;
                }
            }

            return portion;
        }
    }

    private void GiveBack(List<NewMessage> portion)
    {
        lock (_gate)
        {
            _count -= portion.Count;
            Invariant.Holds(_count >= 0);
            foreach (var message in portion)
            {
                if (!_busy[message.Queue])
                    continue;
                _busy[message.Queue] = false;
                if (_waiting[message.Queue].Count > 0)
                    _ready.Enqueue(message.Queue);
            }
        }
    }

    /// <summary>Answers all messages. Returns the connection if it can be used again.</summary>
    private async Task<NpgsqlConnection?> RunAsync(NpgsqlConnection? connection, List<NewMessage> portion)
    {
        for (var failures = 0; portion.Count > 0; failures++)
        {
            try
            {
                using var limit = new CancellationTokenSource(
                    _database.Remaining(portion.Max(static message => message.GivenUpAt)), _database.Time);
                connection ??= await _database.OpenAsync(limit.Token).ConfigureAwait(false);
                await InsertAsync(connection, portion, limit.Token).ConfigureAwait(false);
                _database.NoteReached();
                foreach (var message in portion)
                    message.Done();
                return connection;
            }
            catch (Exception exception)
            {
                if (connection is not null)
                    await Database.CloseAsync(connection).ConfigureAwait(false);
                connection = null;
                var failure = _database.Judge(exception);
                if (failure == Failure.Refused && exception is PostgresException && portion.Count > 1)
                    return await SplitAsync(portion).ConfigureAwait(false);
                FailIfOver(portion, exception, failure);
            }

            if (portion.Count > 0)
                await Task.Delay(_database.PauseAfter(failures), _database.Time).ConfigureAwait(false);
        }

        return connection;
    }

    /// <summary>One of them was refused, and with it all: each alone, in order.</summary>
    private async Task<NpgsqlConnection?> SplitAsync(List<NewMessage> portion)
    {
        NpgsqlConnection? connection = null;
        foreach (var message in portion)
            connection = await RunAsync(connection, [message]).ConfigureAwait(false);
        return connection;
    }

    private void FailIfOver(List<NewMessage> portion, Exception exception, Failure failure)
    {
        var now = _database.Time.GetTimestamp();
        portion.RemoveAll(message =>
        {
            message.MayBeDone |= failure == Failure.Unknown;
            if (failure != Failure.Refused && now < message.GivenUpAt)
                return false;
            message.Fail(new OrleansException("The message for " + message.Stream + (message.MayBeDone
                ? " may be in the queue or not: the connection to the database was lost and did not come back in time. "
                : " was not written: ") + exception.Message, exception));
            return true;
        });
    }

    private async Task InsertAsync(NpgsqlConnection connection, List<NewMessage> portion, CancellationToken cancellationToken)
    {
        // Messages of a queue stand together.
        var queues = portion.GroupBy(static message => message.Queue).ToArray();
        var ordered = queues.SelectMany(static queue => queue).ToArray();
        long[] ids = [.. queues.Select(queue => _queueIds[queue.Key])];
        await using var batch = new NpgsqlBatch(connection);
        batch.BatchCommands.Add(Database.Command(LockSql, Longs(ids)));
        batch.BatchCommands.Add(Database.Command(
            InsertSql, Longs(Array.ConvertAll(ordered, message => _queueIds[message.Queue])),
            Longs([.. queues.SelectMany(static queue => Enumerable.Range(0, queue.Count())).Select(static place => (long)place)]),
            Bytes(ordered, static message => message.Stream.Namespace.ToArray()),
            Bytes(ordered, static message => message.Stream.Key.ToArray()),
            Bytes(ordered, static message => message.Payload),
            new NpgsqlParameter<double> { TypedValue = _expiry.TotalSeconds }));
        batch.BatchCommands.Add(Database.Command(CountSql, Longs(ids), Longs([.. queues.Select(static queue => (long)queue.Count())])));
        await using var reader = await batch.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
        var locked = 0;
        while (await reader.ReadAsync(cancellationToken).ConfigureAwait(false))
            locked++;
        // Only the end of the results says that the transaction was committed.
        while (await reader.NextResultAsync(cancellationToken).ConfigureAwait(false))
            ;
        if (locked < ids.Length)
            throw new InvalidOperationException("Rows of actop_stream_queue were removed: " + _database.Part + " must be started again.");
    }

    private static NpgsqlParameter Longs(long[] numbers) => new NpgsqlParameter<long[]> { TypedValue = numbers };

    private static NpgsqlParameter Bytes(NewMessage[] messages, Converter<NewMessage, byte[]> bytes) => new NpgsqlParameter
    {
        NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Bytea,
        Value = Array.ConvertAll(messages, bytes),
    };
}
