using ActOp.Diagnostics;
using Orleans.Runtime;
using Orleans.Streams;

namespace Orleans.Streaming.Diagnostics;

/// <summary>What happens on persistent streams, for tests and tools.</summary>
public static class StreamingEvents
{
    /// <summary>The name of the <see cref="System.Diagnostics.DiagnosticListener"/>. An event has the name of its class.</summary>
    public const string ListenerName = "Orleans.Streaming";

    /// <summary>All events. They come on the thread where they happen: an observer must be quick.</summary>
    public static IObservable<StreamingEvent> AllEvents => Feed;

    internal static EventFeed<StreamingEvent> Feed { get; } = new(ListenerName);

    /// <summary>An event of a stream provider.</summary>
    public abstract class StreamingEvent(string streamProvider, SiloAddress? siloAddress)
    {
        /// <summary>The name of the provider.</summary>
        public string StreamProvider { get; } = streamProvider;

        /// <summary>The silo where it happens.</summary>
        public SiloAddress? SiloAddress { get; } = siloAddress;
    }

    /// <summary>A consumer has processed a batch.</summary>
    public sealed class MessageDelivered(
        string streamProvider, StreamId streamId, Guid subscriptionId, SiloAddress? siloAddress, IAddressable consumer,
        IBatchContainer batch)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>The subscription.</summary>
        public Guid SubscriptionId { get; } = subscriptionId;

        /// <summary>The consumer.</summary>
        public IAddressable Consumer { get; } = consumer;

        /// <summary>The batch.</summary>
        public IBatchContainer Batch { get; } = batch;
    }

    /// <summary>A consumer has processed an item. Comes after <see cref="MessageDelivered"/> of its batch.</summary>
    public sealed class ItemDelivered(
        string streamProvider, StreamId streamId, Guid subscriptionId, SiloAddress? siloAddress, string clusterId,
        StreamSequenceToken? sequenceToken)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>An event of no known cluster.</summary>
        public ItemDelivered(
            string streamProvider, StreamId streamId, Guid subscriptionId, SiloAddress? siloAddress, StreamSequenceToken? sequenceToken)
            : this(streamProvider, streamId, subscriptionId, siloAddress, "", sequenceToken)
        {
        }

        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>The subscription.</summary>
        public Guid SubscriptionId { get; } = subscriptionId;

        /// <summary>The cluster.</summary>
        public string ClusterId { get; } = clusterId;

        /// <summary>The position of the item.</summary>
        public StreamSequenceToken? SequenceToken { get; } = sequenceToken;
    }

    /// <summary>An agent forgets a stream that had no items for long.</summary>
    public sealed class StreamInactive(
        string streamProvider, StreamId streamId, TimeSpan inactivityPeriod, SiloAddress? siloAddress)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>How long a stream may be without items.</summary>
        public TimeSpan InactivityPeriod { get; } = inactivityPeriod;
    }

    /// <summary>An agent was told of a subscription.</summary>
    public sealed class SubscriptionAdded(
        string streamProvider, StreamId streamId, Guid subscriptionId, GrainId consumerGrainId, SiloAddress? siloAddress)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>The subscription.</summary>
        public Guid SubscriptionId { get; } = subscriptionId;

        /// <summary>The consumer.</summary>
        public GrainId ConsumerGrainId { get; } = consumerGrainId;
    }

    /// <summary>The subscription gets items from the agent.</summary>
    public sealed class SubscriptionAttached(
        string streamProvider, StreamId streamId, Guid subscriptionId, GrainId consumerGrainId, SiloAddress? siloAddress)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>The subscription.</summary>
        public Guid SubscriptionId { get; } = subscriptionId;

        /// <summary>The consumer.</summary>
        public GrainId ConsumerGrainId { get; } = consumerGrainId;
    }

    /// <summary>A subscription was stored.</summary>
    public sealed class SubscriptionRegistered(
        string streamProvider, StreamId streamId, Guid subscriptionId, GrainId consumerGrainId, SiloAddress? siloAddress)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>The subscription.</summary>
        public Guid SubscriptionId { get; } = subscriptionId;

        /// <summary>The consumer.</summary>
        public GrainId ConsumerGrainId { get; } = consumerGrainId;
    }

    /// <summary>An agent was told that a subscription has ended.</summary>
    public sealed class SubscriptionRemoved(
        string streamProvider, StreamId streamId, Guid subscriptionId, SiloAddress? siloAddress)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>The subscription.</summary>
        public Guid SubscriptionId { get; } = subscriptionId;
    }

    /// <summary>The subscription gets no items from the agent any more.</summary>
    public sealed class SubscriptionDetached(
        string streamProvider, StreamId streamId, Guid subscriptionId, SiloAddress? siloAddress)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>The subscription.</summary>
        public Guid SubscriptionId { get; } = subscriptionId;
    }

    /// <summary>A subscription is no longer stored.</summary>
    public sealed class SubscriptionUnregistered(
        string streamProvider, StreamId streamId, Guid subscriptionId, SiloAddress? siloAddress)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>The subscription.</summary>
        public Guid SubscriptionId { get; } = subscriptionId;
    }

    /// <summary>An agent was stored, to be told of new subscriptions.</summary>
    public sealed class ProducerRegistered(
        string streamProvider, StreamId streamId, GrainId producerGrainId, SiloAddress? siloAddress)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>The agent that reads the queue of the stream.</summary>
        public GrainId ProducerGrainId { get; } = producerGrainId;
    }

    /// <summary>An agent is no longer stored.</summary>
    public sealed class ProducerUnregistered(
        string streamProvider, StreamId streamId, GrainId producerGrainId, SiloAddress? siloAddress)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>The agent that reads the queue of the stream.</summary>
        public GrainId ProducerGrainId { get; } = producerGrainId;
    }

    /// <summary>A consumer has got everything that the agent has read.</summary>
    public sealed class ConsumerCursorDrained(
        string streamProvider, StreamId streamId, Guid subscriptionId, SiloAddress? siloAddress)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>The subscription.</summary>
        public Guid SubscriptionId { get; } = subscriptionId;
    }

    /// <summary>Other queues than before belong to this silo.</summary>
    public sealed class BalancerChanged(
        string streamProvider, SiloAddress? siloAddress, QueueId[] previousQueues, QueueId[] currentQueues,
        IStreamQueueBalancer queueBalancer)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The queues of this silo before.</summary>
        public QueueId[] PreviousQueues { get; } = previousQueues;

        /// <summary>The queues of this silo now.</summary>
        public QueueId[] CurrentQueues { get; } = currentQueues;

        /// <summary>What distributes the queues.</summary>
        public IStreamQueueBalancer QueueBalancer { get; } = queueBalancer;
    }

    /// <summary>The agents of a silo were adjusted to its queues.</summary>
    public sealed class PullingAgentManagerState(
        string streamProvider, SiloAddress? siloAddress, QueueId[] currentQueues, int runningAgents)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The queues of this silo now.</summary>
        public QueueId[] CurrentQueues { get; } = currentQueues;

        /// <summary>The number of agents that run.</summary>
        public int RunningAgents { get; } = runningAgents;
    }

    /// <summary>An agent begins to read a queue.</summary>
    public sealed class PullingAgentStarted(
        string streamProvider, SiloAddress? siloAddress, QueueId queueId, TimeSpan dueTime, TimeSpan period)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The queue.</summary>
        public QueueId QueueId { get; } = queueId;

        /// <summary>Until the first read.</summary>
        public TimeSpan DueTime { get; } = dueTime;

        /// <summary>The pause between two reads of a queue without messages.</summary>
        public TimeSpan Period { get; } = period;
    }

    /// <summary>An agent has ended.</summary>
    public sealed class PullingAgentStopped(string streamProvider, SiloAddress? siloAddress, QueueId queueId)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The queue.</summary>
        public QueueId QueueId { get; } = queueId;
    }

    /// <summary>An agent has opened its queue.</summary>
    public sealed class QueueReceiverInitialized(string streamProvider, SiloAddress? siloAddress, QueueId queueId)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The queue.</summary>
        public QueueId QueueId { get; } = queueId;
    }

    /// <summary>An agent could not open its queue. It tries again.</summary>
    public sealed class QueueReceiverInitializationFailed(
        string streamProvider, SiloAddress? siloAddress, QueueId queueId, Exception exception)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The queue.</summary>
        public QueueId QueueId { get; } = queueId;

        /// <summary>Why.</summary>
        public Exception Exception { get; } = exception;
    }

    /// <summary>An agent has learned the subscriptions of a stream.</summary>
    public sealed class PullingAgentStreamRegistered(
        string streamProvider, SiloAddress? siloAddress, QueueId queueId, StreamId streamId, GrainId producerGrainId, int subscriberCount)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The queue.</summary>
        public QueueId QueueId { get; } = queueId;

        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>The agent that reads the queue of the stream.</summary>
        public GrainId ProducerGrainId { get; } = producerGrainId;

        /// <summary>The number of subscriptions that it has learned.</summary>
        public int SubscriberCount { get; } = subscriberCount;
    }

    /// <summary>An agent could not learn the subscriptions of a stream. It tries again.</summary>
    public sealed class PullingAgentStreamRegistrationFailed(
        string streamProvider, SiloAddress? siloAddress, QueueId queueId, StreamId streamId, Exception exception)
        : StreamingEvent(streamProvider, siloAddress)
    {
        /// <summary>The queue.</summary>
        public QueueId QueueId { get; } = queueId;

        /// <summary>The stream.</summary>
        public StreamId StreamId { get; } = streamId;

        /// <summary>Why.</summary>
        public Exception Exception { get; } = exception;
    }
}
