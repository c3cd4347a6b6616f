using ActOp.Calls;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Concurrency;
using Orleans.Placement;
using Orleans.Providers;
using Orleans.Providers.Streams.Common;
using Orleans.Runtime;
using Orleans.Streams;

namespace ActOp.Streams;

/// <summary>A queue of memory streams as its agent uses it.</summary>
[OfRuntime]
internal interface IMemoryQueue : IMemoryStreamQueueGrain
{
    /// <summary>From now on the receiver reads the queue, from the oldest message that was not acknowledged.</summary>
    Task Claim(Guid receiver);

    /// <summary>The receiver does not read any more; what it waits for ends.</summary>
    Task Release(Guid receiver);

    /// <summary>The messages behind <paramref name="after"/>; waits for a time until there is one.</summary>
    /// <param name="receiver">Gets nothing if another one has claimed the queue since.</param>
    /// <param name="incarnation">The queue that <paramref name="after"/> is a number of.</param>
    /// <param name="after">The number of the last message that the receiver has.</param>
    /// <param name="most">How many messages at most.</param>
    Task<MemoryMessages> Take(Guid receiver, Guid incarnation, long after, int most);

    /// <summary>The messages up to this one were delivered and leave the queue.</summary>
    Task Acknowledge(Guid incarnation, long upTo);
}

/// <summary>Messages of a queue.</summary>
/// <param name="Incarnation">The activation of the queue: another one has other messages, and numbers of its own.</param>
/// <param name="IsOwner">Whether the receiver may read.</param>
/// <param name="Items">The messages, in order.</param>
[GenerateSerializer, Immutable]
internal sealed record MemoryMessages(Guid Incarnation, bool IsOwner, MemoryMessageData[] Items);

/// <summary>What a queue takes along when its silo stops.</summary>
/// <param name="Incarnation">As before, so the numbers keep their meaning.</param>
/// <param name="Owner">The receiver that reads it.</param>
/// <param name="FirstNumber">The number of the first message, or of the next one.</param>
/// <param name="Items">The messages, in order.</param>
[GenerateSerializer, Immutable]
internal sealed record MemoryQueueContent(Guid Incarnation, Guid Owner, long FirstNumber, MemoryMessageData[] Items);

/// <summary>The limit of each queue of memory streams, where it is not the usual one. For tests.</summary>
/// <param name="Messages">Messages in a queue, and producers that wait for room.</param>
internal sealed record MemoryQueueLimits(int Messages);

/// <summary>A queue of memory streams.</summary>
/// <remarks>
/// <para>Owns the messages from their arrival until they are acknowledged, at most <see cref="Limit"/>, and as many producers that wait for
/// room. On the turns of the grain; requests interleave at their awaits only.</para>
/// <para>Failures. The activation ends or its silo dies: the messages are lost, producers that wait get an exception, and the agent begins
/// with the next activation by its incarnation. Its silo stops: the messages move to another silo, with their numbers and the claim, so the
/// agent goes on as if nothing had happened; if they are too large for one message between silos, they are lost (event 300). The agent
/// dies: the next one claims the queue and gets what was not acknowledged, so some
/// messages come twice. Two agents believe to own the queue: the newest claim counts. An acknowledgement is lost: the agent repeats it
/// (<see cref="Acknowledgements"/>). The agent hangs, or a consumer holds it: the queue fills, and producers wait for
/// <see cref="LongestWaitForRoom"/>; then they get an exception that says so, and their messages are not delivered.</para>
/// </remarks>
[Reentrant, KeepAlive, Immovable]
internal sealed class MemoryQueueGrain(TimeProvider time, StreamNode? parts = null) : Grain, IMemoryQueue, IGrainMigrationParticipant
{
    private const string QueueKey = "queue";

    /// <summary>Messages in a queue, and producers that wait for room.</summary>
    internal const int Limit = 16_384;

    /// <summary>How long a receiver waits for a message.</summary>
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(1);

    /// <summary>How long a producer waits for room: less than the usual response timeout, which would not say why.</summary>
    private static readonly TimeSpan LongestWaitForRoom = TimeSpan.FromSeconds(20);

    /// <summary>That of the node, so that no wait outlives it: the turns of a silo that was evicted end nothing any more.</summary>
    private readonly TimeProvider _time = parts?.Local.TaskTime ?? time;
    private readonly int _limit = parts?.Services.GetService<MemoryQueueLimits>()?.Messages ?? Limit;
    private Guid _incarnation = parts?.Local.NewId() ?? Guid.NewGuid();
    private readonly Queue<(MemoryMessageData Data, TaskCompletionSource Added)> _waiting = new();
    private MemoryMessageData[] _ring = new MemoryMessageData[64];
    private int _head;
    private int _count;

    /// <summary>The number of the oldest message, or of the next one if there is none.</summary>
    private long _firstNumber = time.GetUtcNow().Ticks;
    private Guid _owner;
    private TaskCompletionSource? _arrival;

    /// <summary>Which content the queue has: that of the activation before, if it was carried along.</summary>
    internal Guid Incarnation => _incarnation;

    /// <summary>Messages that were not acknowledged, and producers that wait.</summary>
    internal int Held => _count + _waiting.Count;

    public Task Enqueue(MemoryMessageData data)
    {
        if (_count >= _limit || _waiting.Count > 0)
            return EnqueueLaterAsync(data);
        Add(data);
        return Task.CompletedTask;
    }

    public Task<List<MemoryMessageData>> Dequeue(int maxCount)
    {
        var taken = Copy(0, maxCount);
        Remove(taken.Length);
        return Task.FromResult<List<MemoryMessageData>>([.. taken]);
    }

    public Task Claim(Guid receiver)
    {
        _owner = receiver;
        // The one before must not wait any longer.
        WakeReader();
        return Task.CompletedTask;
    }

    public Task Release(Guid receiver)
    {
        if (_owner == receiver)
        {
            _owner = default;
            WakeReader();
        }

        return Task.CompletedTask;
    }

    public async Task<MemoryMessages> Take(Guid receiver, Guid incarnation, long after, int most)
    {
        if (_owner == default)
            _owner = receiver;
        var next = incarnation == _incarnation ? Math.Max(after + 1, _firstNumber) : _firstNumber;
        if (_owner == receiver && next >= _firstNumber + _count)
        {
            _arrival ??= new TaskCompletionSource();
            await _arrival.Task.WaitAsync(LongestWait, _time).ConfigureAwait(
                ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
            next = Math.Max(next, _firstNumber);
        }

        return _owner == receiver
            ? new MemoryMessages(_incarnation, true, Copy((int)(next - _firstNumber), most))
            : new MemoryMessages(_incarnation, false, []);
    }

    public Task Acknowledge(Guid incarnation, long upTo)
    {
        if (incarnation == _incarnation)
            Remove((int)Math.Clamp(upTo - _firstNumber + 1, 0, _count));
        return Task.CompletedTask;
    }

    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        if (reason.ReasonCode == DeactivationReasonCode.ShuttingDown)
            MigrateOnIdle();
        foreach (var (_, added) in _waiting)
            added.TrySetException(new InvalidOperationException("The queue ends: " + reason.Description));
        WakeReader();
        return Task.CompletedTask;
    }

    public void OnDehydrate(IDehydrationContext dehydrationContext) =>
        dehydrationContext.TryAddValue(QueueKey, new MemoryQueueContent(_incarnation, _owner, _firstNumber, Copy(0, -1)));

    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        if (!rehydrationContext.TryGetValue<MemoryQueueContent>(QueueKey, out var content) || content is null)
            return;
        (_incarnation, _owner, _firstNumber) = (content.Incarnation, content.Owner, content.FirstNumber);
        while (_ring.Length < content.Items.Length)
            Grow();
        content.Items.CopyTo(_ring, 0);
        _count = content.Items.Length;
    }

    private async Task EnqueueLaterAsync(MemoryMessageData data)
    {
        if (_waiting.Count >= _limit)
            throw Full("as many producers wait for room");
        var added = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _waiting.Enqueue((data, added));
        await added.Task.WaitAsync(LongestWaitForRoom, _time).ConfigureAwait(
            ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        if (added.TrySetException(Full("there was no room for " + LongestWaitForRoom)))
        {
            while (_waiting.TryPeek(out var first) && first.Added.Task.IsCompleted)
                _waiting.Dequeue();
        }

        await added.Task;
    }

    private LimitExceededException Full(string why) => new("The queue is full: " + _limit + " messages were not delivered yet, and "
        + why + ". A consumer of a stream of this queue does not keep up, or fails (event 1208).");

    private void Add(MemoryMessageData data)
    {
        if (_count == _ring.Length)
            Grow();
        data.SequenceNumber = _firstNumber + _count;
        data.EnqueueTimeUtc = time.GetUtcNow().UtcDateTime;
        _ring[(_head + _count++) & (_ring.Length - 1)] = data;
        Invariant.Holds(_count <= _ring.Length && _head < _ring.Length);
        WakeReader();
    }

    private void Grow()
    {
        Invariant.Holds(_count <= _ring.Length && (_ring.Length & (_ring.Length - 1)) == 0);
        var grown = new MemoryMessageData[2 * _ring.Length];
        for (var i = 0; i < _count; i++)
            grown[i] = _ring[(_head + i) & (_ring.Length - 1)];
        (_ring, _head) = (grown, 0);
    }

    private MemoryMessageData[] Copy(int from, int most)
    {
        Invariant.Holds(from >= 0);
        var available = Math.Max(0, _count - from);
        var copied = new MemoryMessageData[most < 0 ? available : Math.Min(most, available)];
        for (var i = 0; i < copied.Length; i++)
            copied[i] = _ring[(_head + from + i) & (_ring.Length - 1)];
        return copied;
    }

    private void Remove(int count)
    {
        Invariant.Holds(count >= 0 && count <= _count);
        for (var i = 0; i < count; i++)
            _ring[(_head + i) & (_ring.Length - 1)] = default;
        _head = (_head + count) & (_ring.Length - 1);
        _count -= count;
        _firstNumber += count;
        while (_count < _limit && _waiting.TryDequeue(out var waiting))
        {
            if (waiting.Added.TrySetResult())
                Add(waiting.Data);
        }
    }

    private void WakeReader()
    {
        var arrival = _arrival;
        _arrival = null;
        arrival?.TrySetResult();
    }
}

/// <summary>Reads a queue of memory streams. On the turns of its agent.</summary>
internal sealed class MemoryReceiver(IMemoryQueue queue, Guid receiver) : IQueueAdapterReceiver, IWaitingReceiver
{
    private Guid _incarnation;
    private long _last = -1;

    public Task Initialize(TimeSpan timeout) => queue.Claim(receiver);

    public Task<IList<IBatchContainer>> GetQueueMessagesAsync(int maxCount) => GetQueueMessagesAsync(maxCount, default);

    public async Task<IList<IBatchContainer>> GetQueueMessagesAsync(int maxCount, CancellationToken cancellationToken)
    {
        var messages = await queue.Take(receiver, _incarnation, _last, maxCount).WaitAsync(cancellationToken);
        if (!messages.IsOwner)
            throw new InvalidOperationException("Another agent reads the queue.");
        _incarnation = messages.Incarnation;
        if (messages.Items.Length == 0)
            return [];
        _last = messages.Items[^1].SequenceNumber;
        return Array.ConvertAll(messages.Items, item => (IBatchContainer)new QueuedBatch(item, _incarnation));
    }

    public Task MessagesDeliveredAsync(IList<IBatchContainer> messages)
    {
        var newest = (QueuedBatch)messages[^1];
        return queue.Acknowledge(newest.Incarnation, newest.Message.SequenceNumber);
    }

    public Task Shutdown(TimeSpan timeout) => queue.Release(receiver);
}

/// <summary>A receiver that waits for messages itself, so that its agent does not have to.</summary>
internal interface IWaitingReceiver
{
}

/// <summary>
/// A batch of a stream whose queue is in memory or in PostgreSQL, as bytes: each consumer reads items of its own. It travels by the name
/// that it had when there were only queues in memory.
/// </summary>
[GenerateSerializer, Immutable, Alias("ActOp.Streams.MemoryBatch")]
internal sealed class QueuedBatch(MemoryMessageData message, Guid incarnation) : IBatchContainer, IBoundBatch
{
    [Id(0)]
    public MemoryMessageData Message { get; private set; } = message;

    [Id(1)]
    public Guid Incarnation { get; private set; } = incarnation;

    public StreamId StreamId => Message.StreamId;

    public StreamSequenceToken SequenceToken => new EventSequenceTokenV2(Message.SequenceNumber);

    public IBatchContainer Bind(IQueueAdapter adapter) => ((IQueuedFormat)adapter).Open(this);

    public IEnumerable<Tuple<T, StreamSequenceToken>> GetEvents<T>() => throw Unbound();

    public bool ImportRequestContext() => throw Unbound();

    private static InvalidOperationException Unbound() => new("The batch must be bound to a provider before its items are read.");
}

/// <summary>Reads the bytes of batches.</summary>
internal interface IQueuedFormat
{
    IBatchContainer Open(QueuedBatch batch);
}

/// <summary>The items of a batch whose form the application has chosen, for one reader.</summary>
internal sealed class BoundQueuedBatch(QueuedBatch batch, MemoryMessageBody body) : IBatchContainer
{
    public StreamId StreamId => batch.StreamId;

    public StreamSequenceToken SequenceToken => batch.SequenceToken;

    public IEnumerable<Tuple<T, StreamSequenceToken>> GetEvents<T>()
    {
        var index = 0;
        foreach (var item in body.Events)
            yield return Tuple.Create((T)item, (StreamSequenceToken)new EventSequenceTokenV2(batch.Message.SequenceNumber, index++));
    }

    public bool ImportRequestContext()
    {
        if (body.RequestContext is not { } values)
            return false;
        foreach (var (key, value) in values)
            RequestContext.Set(key, value);
        return true;
    }
}
