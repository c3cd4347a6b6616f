using ActOp.PostgreSql.Schema;
using Npgsql;
using NpgsqlTypes;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Streams;

/// <summary>A message on its way into the database.</summary>
internal sealed class NewMessage(int queue, StreamId stream, byte[] payload) : PipelineItem
{
    private readonly TaskCompletionSource _written = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal int Queue => queue;

    internal StreamId Stream => stream;

    internal byte[] Payload => payload;

    internal Task Written => _written.Task;

    internal override bool IsAnswered => _written.Task.IsCompleted;

    internal void Done() => _written.TrySetResult();

    internal void Fail(Exception exception) => _written.TrySetException(exception);
}

/// <summary>Adds messages to queues, those that are added at the same time together (<see cref="StorePipeline{T}"/>).</summary>
/// <remarks>
/// <para>A lane takes the waiting messages of all queues that no other lane has, up to a limit. So the messages of a queue are written in
/// the order in which they were added. The transaction locks the rows of its queues in the order of their ids, numbers the messages and
/// commits: no number becomes visible before a lower one of the same queue, and transactions of several silos do not wait for each other in
/// a circle.</para>
/// <para>A message whose connection broke while it was committed, and that fails later, may be in the queue, or twice. The provider ends:
/// what waits fails.</para>
/// </remarks>
internal sealed class MessageWriter : StorePipeline<NewMessage>
{
    /// <summary>Connections that are used at the same time.</summary>
    internal const int Connections = 3;

    private const int MostTogether = 512;
    private const int MostBytes = 4 * 1024 * 1024;

    private const string LockSql = "select id from actop_stream_queue where id = any($1) order by id for update";

    private const string InsertSql = """
        insert into actop_stream_message (queue_id, number, namespace, key, payload, expires)
        select i.queue, q.next + i.place, i.namespace, i.key, i.payload, now() + $6 * interval '1 second'
        from unnest($1, $2, $3, $4, $5) as i (queue, place, namespace, key, payload) join actop_stream_queue q on q.id = i.queue
        """;

    private const string CountSql = """
        update actop_stream_queue q set next = q.next + i.count from unnest($1, $2) as i (id, count) where q.id = i.id
        """;

    private readonly long[] _queueIds;
    private readonly TimeSpan _expiry;

    /// <summary>Per queue: what waits.</summary>
    private readonly Queue<NewMessage>[] _waiting;

    /// <summary>The queues that have waiting messages and no loop.</summary>
    private readonly Queue<int> _ready = new();

    /// <summary>The queues that a loop has.</summary>
    private readonly bool[] _busy;
    private int _count;

    internal MessageWriter(Database database, long[] queueIds, TimeSpan expiry, int mostWaiting)
        : base(database, Connections, mostWaiting)
    {
        _queueIds = queueIds;
        _expiry = expiry;
        _waiting = [.. queueIds.Select(static _ => new Queue<NewMessage>())];
        _busy = new bool[queueIds.Length];
    }

    /// <summary>Messages that wait or are being written.</summary>
    internal int Waiting => Volatile.Read(ref _count);

    protected override int Held => _count;

    protected override string Limit => "messages (PostgresOptions.MaxWaitingMessages)";

    /// <summary>Adds a message; it is in the queue when the task has ended.</summary>
    internal Task Add(int queue, StreamId stream, byte[] payload)
    {
        var message = new NewMessage(queue, stream, payload) { GivenUpAt = GivenUpAt };
        Add(message);
        return message.Written;
    }

    /// <summary>What waits fails; completes when nothing is being written any more, or after a time.</summary>
    internal async Task EndAsync()
    {
        List<NewMessage> left = [];
        lock (Gate)
        {
            HasEnded = true;
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
            message.Fail(new OrleansException(Database.Part + " has ended before the message was written."));
        await LanesEndAsync().ConfigureAwait(false);
    }

    protected override bool Enqueue(NewMessage item)
    {
        _count++;
        _waiting[item.Queue].Enqueue(item);
        if (!_busy[item.Queue] && _waiting[item.Queue].Count == 1)
            _ready.Enqueue(item.Queue);
        return _ready.Count > 0;
    }

    /// <summary>By queue.</summary>
    protected override List<NewMessage> Dequeue()
    {
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

    protected override void GiveBack(List<NewMessage> taken)
    {
        lock (Gate)
        {
            _count -= taken.Count;
            Invariant.Holds(_count >= 0);
            foreach (var message in taken)
            {
                if (!_busy[message.Queue])
                    continue;
                _busy[message.Queue] = false;
                if (_waiting[message.Queue].Count > 0)
                    _ready.Enqueue(message.Queue);
            }
        }
    }

    protected override async Task<List<NewMessage>> SendAsync(
        NpgsqlConnection connection, List<NewMessage> together, bool isRepeat, CancellationToken cancellationToken)
    {
        await InsertAsync(connection, together, cancellationToken).ConfigureAwait(false);
        foreach (var message in together)
            message.Done();
        return [];
    }

    protected override void Fail(NewMessage item, Exception exception) => item.Fail(new OrleansException("The message for " + item.Stream
        + (item.MayBeDone
            ? " may be in the queue or not: the connection to the database was lost and did not come back in time. "
            : " was not written: ") + exception.Message, exception));

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
            Longs([.. queues.SelectMany(static queue => Enumerable.Range(0, queue.Count())).Select(static index => (long)index)]),
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
            throw new InvalidOperationException("Rows of actop_stream_queue were removed: " + Database.Part + " must be started again.");
    }

    private static NpgsqlParameter Longs(long[] numbers) => new NpgsqlParameter<long[]> { TypedValue = numbers };

    private static NpgsqlParameter Bytes(NewMessage[] messages, Converter<NewMessage, byte[]> bytes) => new NpgsqlParameter
    {
        NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Bytea,
        Value = Array.ConvertAll(messages, bytes),
    };
}
