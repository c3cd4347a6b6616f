using ActOp.Testing.Simulated;
using Orleans.Configuration;
using Orleans.Providers.Streams.Common;
using Orleans.Streams;

namespace ActOp.Simulation.World;

/// <summary>Items of a queue outside of the silos that were added together.</summary>
/// <param name="streamId">The stream.</param>
/// <param name="number">Its number in the queue.</param>
/// <param name="items">The items.</param>
[GenerateSerializer, Immutable]
internal sealed class QueuedBatch(StreamId streamId, long number, long[] items) : IBatchContainer
{
    [Id(0)]
    public StreamId StreamId { get; private set; } = streamId;

    [Id(1)]
    public long Number { get; private set; } = number;

    [Id(2)]
    public long[] Items { get; private set; } = items;

    public StreamSequenceToken SequenceToken => new EventSequenceTokenV2(Number);

    public IEnumerable<Tuple<T, StreamSequenceToken>> GetEvents<T>() => Items.Select((item, index) =>
        Tuple.Create((T)(object)item, (StreamSequenceToken)new EventSequenceTokenV2(Number, index)));

    public bool ImportRequestContext() => false;
}

/// <summary>
/// The queues of a run that outlive all silos. A queue belongs to the receiver that has opened it last; another one gets it when that one
/// has not asked for a while. What was not acknowledged stays.
/// </summary>
internal sealed class SharedQueues(Pump pump, Dice dice, int limit) : OutsideService(pump, dice)
{
    private const long LongestSilence = 5 * Pump.Second;

    private readonly Dictionary<QueueId, Queue> _queues = [];

    /// <summary>Messages in all queues.</summary>
    internal int Count => _queues.Values.Sum(static queue => queue.Messages.Count);

    internal Task<bool> AddAsync(Machine machine, QueueId queue, StreamId stream, long[] items) => AskAsync(machine, "add items", () =>
    {
        var found = Of(queue);
        if (found.Messages.Count >= limit)
            throw new LimitExceededException("The queue " + queue + " is full.");
        found.Messages.Add(new QueuedBatch(stream, ++found.LastNumber, items));
        return true;
    });

    internal Task<bool> OpenAsync(Machine machine, QueueId queue, Guid receiver) => AskAsync(machine, "open queue", () =>
    {
        (Of(queue).Owner, Of(queue).AskedAt) = (receiver, Pump.Now);
        return true;
    });

    internal Task<bool> CloseAsync(Machine machine, QueueId queue, Guid receiver) => AskAsync(machine, "close queue", () =>
    {
        if (Of(queue).Owner == receiver)
            Of(queue).Owner = default;
        return true;
    });

    /// <summary>The messages behind a number.</summary>
    internal Task<QueuedBatch[]> ReadAsync(Machine machine, QueueId queue, Guid receiver, long after, int most) =>
        AskAsync(machine, "read queue", () =>
        {
            var found = Of(queue);
            if (found.Owner != receiver && found.Owner != default && Pump.Now - found.AskedAt < LongestSilence)
                throw new IOException("Another receiver reads the queue.");
            (found.Owner, found.AskedAt) = (receiver, Pump.Now);
            return found.Messages.Where(message => message.Number > after).Take(most < 0 ? int.MaxValue : most).ToArray();
        });

    internal Task<bool> AcknowledgeAsync(Machine machine, QueueId queue, long upTo) => AskAsync(machine, "acknowledge", () =>
        Of(queue).Messages.RemoveAll(message => message.Number <= upTo) > 0);

    private Queue Of(QueueId queue)
    {
        if (!_queues.TryGetValue(queue, out var found))
            _queues.Add(queue, found = new Queue());
        return found;
    }

    private sealed class Queue
    {
        internal List<QueuedBatch> Messages { get; } = [];

        internal long LastNumber { get; set; }

        internal Guid Owner { get; set; }

        internal long AskedAt { get; set; }
    }
}

/// <summary>The queues as a provider of one machine.</summary>
internal sealed class MachineQueues(
    SharedQueues queues, Machine machine, string name, HashRingStreamQueueMapperOptions partitions, IQueueAdapterCache caches)
    : IQueueAdapterFactory, IQueueAdapter
{
    private readonly HashRingBasedStreamQueueMapper _mapper = new(partitions, name);

    public string Name => name;

    public bool IsRewindable => true;

    public StreamProviderDirection Direction => StreamProviderDirection.ReadWrite;

    public Task<IQueueAdapter> CreateAdapter() => Task.FromResult<IQueueAdapter>(this);

    public IQueueAdapterCache GetQueueAdapterCache() => caches;

    public IStreamQueueMapper GetStreamQueueMapper() => _mapper;

    public Task<IStreamFailureHandler> GetDeliveryFailureHandler(QueueId queueId) =>
        Task.FromResult<IStreamFailureHandler>(new NoOpStreamDeliveryFailureHandler());

    public Task QueueMessageBatchAsync<T>(
        StreamId streamId, IEnumerable<T> events, StreamSequenceToken? token, Dictionary<string, object>? requestContext) =>
            queues.AddAsync(machine, _mapper.GetQueueForStream(streamId), streamId, [.. events.Cast<long>()]);

    public IQueueAdapterReceiver CreateReceiver(QueueId queueId) =>
        new Receiver(queues, machine, queueId, machine.Node.Local.NewId());

    private sealed class Receiver(SharedQueues queues, Machine machine, QueueId queue, Guid id) : IQueueAdapterReceiver
    {
        private long _last;

        public Task Initialize(TimeSpan timeout) => queues.OpenAsync(machine, queue, id);

        public async Task<IList<IBatchContainer>> GetQueueMessagesAsync(int maxCount)
        {
            var messages = await queues.ReadAsync(machine, queue, id, _last, maxCount);
            if (messages.Length > 0)
                _last = messages[^1].Number;
            return messages;
        }

        public Task MessagesDeliveredAsync(IList<IBatchContainer> messages) =>
            queues.AcknowledgeAsync(machine, queue, ((QueuedBatch)messages[^1]).Number);

        public Task Shutdown(TimeSpan timeout) => queues.CloseAsync(machine, queue, id);
    }
}
