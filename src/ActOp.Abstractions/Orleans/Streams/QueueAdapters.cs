using Orleans.Runtime;

namespace Orleans.Streams;

/// <summary>What is read from a queue in one piece: items that a producer has added together.</summary>
/// <remarks>
/// The runtime sends batches to the silos of their consumers, so the class must be serializable. A batch must not change once it was read.
/// </remarks>
public interface IBatchContainer
{
    /// <summary>The stream.</summary>
    StreamId StreamId { get; }

    /// <summary>The position of the batch.</summary>
    StreamSequenceToken SequenceToken { get; }

    /// <summary>The items of type <typeparamref name="T"/> with their positions. Called where the consumer is.</summary>
    IEnumerable<Tuple<T, StreamSequenceToken>> GetEvents<T>();

    /// <summary>Sets the request context to that of the producer; false if there is none.</summary>
    bool ImportRequestContext();
}

/// <summary>Several batches that are delivered together.</summary>
public interface IBatchContainerBatch : IBatchContainer
{
    /// <summary>The batches, in order.</summary>
    List<IBatchContainer> BatchContainers { get; }
}

/// <summary>Numbers that queues use.</summary>
public static class QueueAdapterConstants
{
    /// <summary>As many messages as there are.</summary>
    public const int UNLIMITED_GET_QUEUE_MSG = -1;
}

/// <summary>Writes to the queues of a provider, and makes what reads them.</summary>
public interface IQueueAdapter
{
    /// <summary>The name of the provider.</summary>
    string Name { get; }

    /// <summary>Whether earlier items can be read again.</summary>
    bool IsRewindable { get; }

    /// <summary>Whether the queues are read, written, or both.</summary>
    StreamProviderDirection Direction { get; }

    /// <summary>Writes items; they are in the queue when the task has ended.</summary>
    Task QueueMessageBatchAsync<T>(
        StreamId streamId, IEnumerable<T> events, StreamSequenceToken? token, Dictionary<string, object>? requestContext);

    /// <summary>What reads a queue.</summary>
    IQueueAdapterReceiver CreateReceiver(QueueId queueId);
}

/// <summary>Shorter ways to write to a queue.</summary>
public static class QueueAdapterExtensions
{
    /// <summary>Writes one item.</summary>
    public static Task QueueMessageAsync<T>(
        this IQueueAdapter adapter, StreamId streamId, T evt, StreamSequenceToken? token, Dictionary<string, object>? requestContext)
    {
        ArgumentNullException.ThrowIfNull(adapter);
        return adapter.QueueMessageBatchAsync(streamId, [evt], token, requestContext);
    }
}

/// <summary>Reads one queue. Used by one agent, one call at a time.</summary>
public interface IQueueAdapterReceiver
{
    /// <summary>Opens the queue.</summary>
    /// <param name="timeout">After that the agent tries again.</param>
    Task Initialize(TimeSpan timeout);

    /// <summary>Opens the queue.</summary>
    /// <param name="timeout">After that the agent tries again.</param>
    /// <param name="cancellationToken">Signalled when the agent stops.</param>
    Task Initialize(TimeSpan timeout, CancellationToken cancellationToken) => Initialize(timeout);

    /// <summary>Reads messages; none if there are none.</summary>
    /// <param name="maxCount">How many at most, or <see cref="QueueAdapterConstants.UNLIMITED_GET_QUEUE_MSG"/>.</param>
    Task<IList<IBatchContainer>> GetQueueMessagesAsync(int maxCount) =>
        throw new NotSupportedException(GetType() + " implements neither form of GetQueueMessagesAsync.");

    /// <summary>Reads messages; none if there are none.</summary>
    /// <param name="maxCount">How many at most, or <see cref="QueueAdapterConstants.UNLIMITED_GET_QUEUE_MSG"/>.</param>
    /// <param name="cancellationToken">Signalled when the agent stops.</param>
    Task<IList<IBatchContainer>> GetQueueMessagesAsync(int maxCount, CancellationToken cancellationToken) =>
        GetQueueMessagesAsync(maxCount);

    /// <summary>The messages were delivered, or given up: they may leave the queue.</summary>
    Task MessagesDeliveredAsync(IList<IBatchContainer> messages) =>
        throw new NotSupportedException(GetType() + " implements neither form of MessagesDeliveredAsync.");

    /// <summary>The messages were delivered, or given up: they may leave the queue.</summary>
    Task MessagesDeliveredAsync(IList<IBatchContainer> messages, CancellationToken cancellationToken) => MessagesDeliveredAsync(messages);

    /// <summary>Closes the queue.</summary>
    /// <param name="timeout">After that the agent does not wait any more.</param>
    Task Shutdown(TimeSpan timeout);

    /// <summary>Closes the queue.</summary>
    /// <param name="timeout">After that the agent does not wait any more.</param>
    /// <param name="cancellationToken">Signalled when it does not.</param>
    Task Shutdown(TimeSpan timeout, CancellationToken cancellationToken) => Shutdown(timeout);
}

/// <summary>Makes the parts of a provider that keeps its items in queues.</summary>
public interface IQueueAdapterFactory
{
    /// <summary>Makes the adapter.</summary>
    Task<IQueueAdapter> CreateAdapter() => throw new NotSupportedException(GetType() + " implements neither form of CreateAdapter.");

    /// <summary>Makes the adapter.</summary>
    Task<IQueueAdapter> CreateAdapter(CancellationToken cancellationToken) => CreateAdapter();

    /// <summary>Makes the caches of the agents.</summary>
    IQueueAdapterCache GetQueueAdapterCache();

    /// <summary>Says which stream is in which queue.</summary>
    IStreamQueueMapper GetStreamQueueMapper();

    /// <summary>Gets the items of a queue that could not be delivered.</summary>
    Task<IStreamFailureHandler> GetDeliveryFailureHandler(QueueId queueId);
}

/// <summary>Makes caches.</summary>
public interface IQueueAdapterCache
{
    /// <summary>The cache of the agent of a queue.</summary>
    IQueueCache CreateQueueCache(QueueId queueId);
}

/// <summary>Says how much may be read.</summary>
public interface IQueueFlowController
{
    /// <summary>How many messages may be read now; negative for any number.</summary>
    int GetMaxAddCount();
}

/// <summary>The messages of one queue that its agent holds until they are delivered. Used by one thread at a time.</summary>
public interface IQueueCache : IQueueFlowController
{
    /// <summary>Adds messages in the order of the queue.</summary>
    void AddToCache(IList<IBatchContainer> messages);

    /// <summary>Removes the messages that nobody needs any more; false if there are none.</summary>
    bool TryPurgeFromCache(out IList<IBatchContainer> purgedItems);

    /// <summary>A reader of one stream.</summary>
    /// <param name="streamId">The stream.</param>
    /// <param name="token">The first message; null for those that are added from now on.</param>
    IQueueCacheCursor GetCacheCursor(StreamId streamId, StreamSequenceToken? token);

    /// <summary>
    /// As <see cref="GetCacheCursor"/>; a position that the cache has not is a result, no exception. Agents call this one.
    /// </summary>
    QueueCacheCursorResult<IQueueCacheCursor> TryGetCacheCursor(StreamId streamId, StreamSequenceToken? token)
    {
        try
        {
            return QueueCacheCursorResult<IQueueCacheCursor>.FromCursor(GetCacheCursor(streamId, token));
        }
        catch (QueueCacheMissException exception)
        {
            return QueueCacheCursorResult<IQueueCacheCursor>.FromCacheMiss(
                new QueueCacheMissInfo(exception.Requested, exception.Low, exception.High));
        }
    }

    /// <summary>A reader of one stream, at a place that needs no position. A cache that does not say otherwise has only the end.</summary>
    /// <param name="streamId">The stream.</param>
    /// <param name="startPosition">The place.</param>
    QueueCacheCursorResult<IQueueCacheCursor> TryGetCacheCursorAtPosition(
        StreamId streamId, StreamSubscriptionStartPosition startPosition) =>
        startPosition == StreamSubscriptionStartPosition.Latest
            ? TryGetCacheCursor(streamId, null) : QueueCacheCursorResult<IQueueCacheCursor>.NotSupported;

    /// <summary>Whether consumers are so far behind that nothing should be read.</summary>
    bool IsUnderPressure();

    /// <summary>Tells how far the slowest subscription is.</summary>
    void UpdateDeliveryProgress(StreamSequenceToken? earliestSubscriptionToken, DateTime utcNow)
    {
    }
}

/// <summary>A reader of the messages of one stream in a cache.</summary>
public interface IQueueCacheCursor : IDisposable
{
    /// <summary>The message at the cursor; null if there is none.</summary>
    /// <param name="exception">Why it cannot be read, or null.</param>
    IBatchContainer? GetCurrent(out Exception? exception);

    /// <summary>Goes to the next message; false if there is none yet.</summary>
    bool MoveNext();

    /// <summary>
    /// As <see cref="MoveNext"/>; that the message has left the cache is a result, no exception. Agents call this one.
    /// </summary>
    QueueCacheCursorMoveResult MoveNextWithResult()
    {
        try
        {
            return MoveNext() ? QueueCacheCursorMoveResult.Success : QueueCacheCursorMoveResult.NoData;
        }
        catch (QueueCacheMissException exception)
        {
            return QueueCacheCursorMoveResult.FromCacheMiss(
                new QueueCacheMissInfo(exception.Requested, exception.Low, exception.High));
        }
    }

    /// <summary>Tells a cursor that has reached the end that there may be more.</summary>
    void Refresh(StreamSequenceToken token);

    /// <summary>The message at the cursor could not be delivered.</summary>
    void RecordDeliveryFailure();
}

/// <summary>Turns items into messages of a queue.</summary>
/// <typeparam name="TQueueMessage">A message.</typeparam>
public interface IQueueDataAdapter<TQueueMessage>
{
    /// <summary>The message for some items.</summary>
    TQueueMessage ToQueueMessage<T>(
        StreamId streamId, IEnumerable<T> events, StreamSequenceToken? token, Dictionary<string, object>? requestContext);
}

/// <summary>Turns items into messages of a queue, and back.</summary>
/// <typeparam name="TQueueMessage">A message.</typeparam>
/// <typeparam name="TMessageBatch">A batch.</typeparam>
public interface IQueueDataAdapter<TQueueMessage, TMessageBatch> : IQueueDataAdapter<TQueueMessage>
{
    /// <summary>The batch in a message.</summary>
    TMessageBatch FromQueueMessage(TQueueMessage queueMessage, long sequenceId);
}

/// <summary>Says which stream is in which queue.</summary>
public interface IStreamQueueMapper
{
    /// <summary>All queues.</summary>
    IEnumerable<QueueId> GetAllQueues();

    /// <summary>The queue of a stream.</summary>
    QueueId GetQueueForStream(StreamId streamId);
}

/// <summary>Queues on a ring.</summary>
public interface IConsistentRingStreamQueueMapper : IStreamQueueMapper
{
    /// <summary>The queues in a part of the ring.</summary>
    IEnumerable<QueueId> GetQueuesForRange(IRingRange range);
}

/// <summary>Says which queues the agents of this silo read.</summary>
public interface IStreamQueueBalancer
{
    /// <summary>Gets ready.</summary>
    Task Initialize(IStreamQueueMapper queueMapper);

    /// <summary>Gives all queues back.</summary>
    Task Shutdown();

    /// <summary>The queues of this silo.</summary>
    IEnumerable<QueueId> GetMyQueues();

    /// <summary>Adds a listener; false if it is one already.</summary>
    bool SubscribeToQueueDistributionChangeEvents(IStreamQueueBalanceListener observer);

    /// <summary>Removes a listener; false if it is none.</summary>
    bool UnSubscribeFromQueueDistributionChangeEvents(IStreamQueueBalanceListener observer);
}

/// <summary>Is told when the queues of a silo change.</summary>
public interface IStreamQueueBalanceListener
{
    /// <summary>The queues of this silo have changed.</summary>
    Task QueueDistributionChangeNotification();
}

/// <summary>Gets the items that could not be delivered.</summary>
public interface IStreamFailureHandler
{
    /// <summary>Whether the subscription ends at the first item that could not be delivered.</summary>
    bool ShouldFaultSubsriptionOnError { get; }

    /// <summary>An item could not be delivered.</summary>
    Task OnDeliveryFailure(GuidId subscriptionId, string streamProviderName, StreamId streamIdentity, StreamSequenceToken? sequenceToken);

    /// <summary>A subscription could not be started.</summary>
    Task OnSubscriptionFailure(GuidId subscriptionId, string streamProviderName, StreamId streamIdentity,
        StreamSequenceToken? sequenceToken);
}

/// <summary>Skips the items that could not be delivered.</summary>
public class NoOpStreamDeliveryFailureHandler : IStreamFailureHandler
{
    /// <summary>Subscriptions go on after a failure.</summary>
    public NoOpStreamDeliveryFailureHandler()
        : this(false)
    {
    }

    /// <summary>Creates the handler.</summary>
    /// <param name="faultOnError">Whether a subscription ends at its first failure.</param>
    public NoOpStreamDeliveryFailureHandler(bool faultOnError) => ShouldFaultSubsriptionOnError = faultOnError;

    /// <inheritdoc/>
    public bool ShouldFaultSubsriptionOnError { get; }

    /// <inheritdoc/>
    public Task OnDeliveryFailure(
        GuidId subscriptionId, string streamProviderName, StreamId streamId, StreamSequenceToken? sequenceToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task OnSubscriptionFailure(
        GuidId subscriptionId, string streamProviderName, StreamId streamId, StreamSequenceToken? sequenceToken) => Task.CompletedTask;
}

/// <summary>Keeps how far a partition of a queue was read.</summary>
/// <typeparam name="TCheckpoint">A position.</typeparam>
public interface IStreamQueueCheckpointer<TCheckpoint>
{
    /// <summary>Whether there is a position.</summary>
    bool CheckpointExists { get; }

    /// <summary>Reads the position.</summary>
    Task<TCheckpoint> Load() => throw new NotSupportedException(GetType() + " implements neither form of Load.");

    /// <summary>Reads the position.</summary>
    Task<TCheckpoint> Load(CancellationToken cancellationToken) => Load();

    /// <summary>Sets the position; it is written after some time.</summary>
    void Update(TCheckpoint offset, DateTime utcNow) =>
        throw new NotSupportedException(GetType() + " implements neither form of Update.");

    /// <summary>Sets the position; it is written after some time.</summary>
    void Update(TCheckpoint offset, DateTime utcNow, CancellationToken cancellationToken) => Update(offset, utcNow);

    /// <summary>Writes the position now.</summary>
    Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}

/// <summary>Makes checkpointers.</summary>
public interface IStreamQueueCheckpointerFactory
{
    /// <summary>The checkpointer of a partition.</summary>
    Task<IStreamQueueCheckpointer<string>> Create(string partition) =>
        throw new NotSupportedException(GetType() + " implements neither form of Create.");

    /// <summary>The checkpointer of a partition.</summary>
    Task<IStreamQueueCheckpointer<string>> Create(string partition, CancellationToken cancellationToken) => Create(partition);
}

/// <summary>Names the silos of a deployment.</summary>
public interface IDeploymentConfiguration
{
    /// <summary>The names of all silos.</summary>
    IList<string> GetAllSiloNames();
}
