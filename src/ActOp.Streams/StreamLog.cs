using Microsoft.Extensions.Logging;
using Orleans.Runtime;
using Orleans.Streams;

namespace ActOp.Streams;

/// <summary>The log lines of streams and broadcast channels: event ids 1200 to 1239, and 1470 to 1474.</summary>
internal sealed partial class StreamLog(ILogger logger)
{
    [LoggerMessage(1200, LogLevel.Information, "The provider {provider} reads {count} queues on this silo.")]
    private static partial void QueuesChanged(ILogger logger, string provider, int count);

    [LoggerMessage(1201, LogLevel.Warning,
        "No grain storage has the name PubSubStore: subscriptions to streams are lost with the silo that keeps them.")]
    private static partial void NoPubSubStore(ILogger logger);

    [LoggerMessage(1202, LogLevel.Warning, "The queue {queue} of {provider} could not be read (failure {failures} in a row).")]
    private static partial void ReadFailed(ILogger logger, string provider, QueueId queue, int failures, Exception exception);

    [LoggerMessage(1203, LogLevel.Warning, "The subscriptions to the stream {stream} of {provider} could not be read (attempt {attempt}).")]
    private static partial void RegistrationFailed(ILogger logger, string provider, StreamId stream, int attempt, Exception exception);

    [LoggerMessage(1204, LogLevel.Warning, "An item of the stream {stream} could not be delivered to {consumer} and is skipped.")]
    private static partial void ItemSkipped(ILogger logger, StreamId stream, GrainId consumer, Exception exception);

    [LoggerMessage(1205, LogLevel.Information, "The subscription of {consumer} to the stream {stream} ends: the consumer is gone.")]
    private static partial void ConsumerGone(ILogger logger, StreamId stream, GrainId consumer);

    [LoggerMessage(1206, LogLevel.Warning,
        "Items of the stream {stream} reached {consumer}, which has no observer for their subscription. They are dropped. "
        + "Implement IStreamSubscriptionObserver, or attach an observer in OnActivateAsync.")]
    private static partial void NobodyAttached(ILogger logger, QualifiedStreamId stream, GrainId? consumer);

    [LoggerMessage(1207, LogLevel.Warning, "The failure handler of {provider} has failed itself.")]
    private static partial void HandlerFailed(ILogger logger, string provider, Exception exception);

    [LoggerMessage(1208, LogLevel.Warning, "A delivery of the stream {stream} to {consumer} has failed; it is repeated.")]
    private static partial void DeliveryFailed(ILogger logger, StreamId stream, GrainId consumer, Exception exception);

    [LoggerMessage(1209, LogLevel.Warning, "The agent {agent} could not be told of a subscription to {stream}.")]
    private static partial void AgentNotTold(ILogger logger, GrainId agent, QualifiedStreamId stream, Exception exception);

    [LoggerMessage(1210, LogLevel.Warning, "The pattern {pattern} of the implicit subscriptions of {grainType} cannot be used: {reason}.")]
    private static partial void PatternUnusable(ILogger logger, string pattern, GrainType grainType, string reason);

    [LoggerMessage(1211, LogLevel.Warning, "The agent of the queue {queue} of {provider} did not end in time.")]
    private static partial void AgentLeft(ILogger logger, string provider, QueueId queue);

    [LoggerMessage(1212, LogLevel.Warning,
        "The rendezvous of the stream {stream} of {provider} was not told that an agent has stopped or that a consumer is gone.")]
    private static partial void RendezvousNotTold(ILogger logger, string provider, StreamId stream, Exception exception);

    [LoggerMessage(1220, LogLevel.Warning, "An item of the broadcast channel {channel} was not processed by {consumer}.")]
    private static partial void BroadcastFailed(
        ILogger logger, Orleans.BroadcastChannel.ChannelId channel, GrainId consumer, Exception exception);

    [LoggerMessage(1470, LogLevel.Warning,
        "The filter {filter} of {provider} has thrown {count} times. The items that it was asked about are delivered.")]
    private static partial void FilterFailed(ILogger logger, string provider, Type filter, long count, Exception exception);

    [LoggerMessage(1471, LogLevel.Warning,
        "{what} has failed in the queue {queue} of {provider} (failure {count} of such parts). The queue goes on without it.")]
    private static partial void QueuePartFailed(
        ILogger logger, string what, string provider, QueueId queue, long count, Exception exception);

    [LoggerMessage(1472, LogLevel.Warning,
        "{what} of the class {grainType} has thrown {count} times for {name}. The class is not subscribed there until it answers.")]
    private static partial void SubscriptionUnusable(
        ILogger logger, string what, GrainType grainType, string name, long count, Exception exception);

    [LoggerMessage(1473, LogLevel.Warning, "{what} of the provider {provider} has failed.")]
    private static partial void ProviderPartFailed(ILogger logger, string what, string provider, Exception exception);

    internal ILogger Logger => logger;

    internal void FilterFailed(string provider, Type filter, long count, Exception exception) =>
        FilterFailed(logger, provider, filter, count, exception);

    internal void QueuePartFailed(string what, string provider, QueueId queue, long count, Exception exception) =>
        QueuePartFailed(logger, what, provider, queue, count, exception);

    internal void SubscriptionUnusable(string what, GrainType grainType, string name, long count, Exception exception) =>
        SubscriptionUnusable(logger, what, grainType, name, count, exception);

    internal void ProviderPartFailed(string what, string provider, Exception exception) =>
        ProviderPartFailed(logger, what, provider, exception);

    internal void QueuesChanged(string provider, int count) => QueuesChanged(logger, provider, count);

    internal void NoPubSubStore() => NoPubSubStore(logger);

    internal void ReadFailed(string provider, QueueId queue, int failures, Exception exception) =>
        ReadFailed(logger, provider, queue, failures, exception);

    internal void RegistrationFailed(string provider, StreamId stream, int attempt, Exception exception) =>
        RegistrationFailed(logger, provider, stream, attempt, exception);

    internal void ItemSkipped(StreamId stream, GrainId consumer, Exception exception) => ItemSkipped(logger, stream, consumer, exception);

    internal void ConsumerGone(StreamId stream, GrainId consumer) => ConsumerGone(logger, stream, consumer);

    internal void NobodyAttached(QualifiedStreamId stream, GrainId? consumer) => NobodyAttached(logger, stream, consumer);

    internal void HandlerFailed(string provider, Exception exception) => HandlerFailed(logger, provider, exception);

    internal void DeliveryFailed(StreamId stream, GrainId consumer, Exception exception) =>
        DeliveryFailed(logger, stream, consumer, exception);

    internal void AgentNotTold(GrainId agent, QualifiedStreamId stream, Exception exception) =>
        AgentNotTold(logger, agent, stream, exception);

    internal void RendezvousNotTold(StreamId stream, string provider, Exception exception) =>
        RendezvousNotTold(logger, provider, stream, exception);

    internal void PatternUnusable(string pattern, GrainType grainType, string reason) =>
        PatternUnusable(logger, pattern, grainType, reason);

    internal void AgentLeft(string provider, QueueId queue) => AgentLeft(logger, provider, queue);

    internal void BroadcastFailed(Orleans.BroadcastChannel.ChannelId channel, GrainId consumer, Exception exception) =>
        BroadcastFailed(logger, channel, consumer, exception);
}
