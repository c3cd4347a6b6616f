using ActOp.Foundation;
using Orleans.Runtime;
using Orleans.Streaming.Diagnostics;
using Orleans.Streams;

namespace ActOp.Streams;

/// <summary>
/// Tells the observers of <see cref="StreamingEvents"/> what one agent does. Holds nothing and never throws; without observers each method
/// is one read. On the turns of the agent.
/// </summary>
internal readonly struct AgentReports(AgentSetup setup, QueueId queue)
{
    private SiloAddress Silo => setup.Parts.Local.Address;

    internal void Started()
    {
        setup.Parts.Local.Counts.Add(NodeEvent.AgentStarted);
        if (StreamingEvents.Feed.IsWatched)
        {
            Write(new StreamingEvents.PullingAgentStarted(
                setup.Provider, Silo, queue, TimeSpan.Zero, setup.Options.GetQueueMsgsTimerPeriod));
        }
    }

    internal void Stopped()
    {
        setup.Parts.Local.Counts.Add(NodeEvent.AgentStopped);
        if (StreamingEvents.Feed.IsWatched)
            Write(new StreamingEvents.PullingAgentStopped(setup.Provider, Silo, queue));
    }

    internal void Opened()
    {
        if (StreamingEvents.Feed.IsWatched)
            Write(new StreamingEvents.QueueReceiverInitialized(setup.Provider, Silo, queue));
    }

    internal void NotOpened(Exception reason)
    {
        setup.Parts.Local.Counts.Add(NodeEvent.QueueNotOpened);
        if (StreamingEvents.Feed.IsWatched)
            Write(new StreamingEvents.QueueReceiverInitializationFailed(setup.Provider, Silo, queue, reason));
    }

    /// <summary>A queue that stays away must not fill the log.</summary>
    internal void NotRead(int failures, Exception reason)
    {
        setup.Parts.Local.Counts.Add(NodeEvent.QueueNotRead);
        if (FailureCount.IsTold(failures))
            setup.Parts.Log.ReadFailed(setup.Provider, queue, failures, reason);
    }

    internal void Registered(AgentStream stream, GrainId agent)
    {
        if (StreamingEvents.Feed.IsWatched)
        {
            Write(new StreamingEvents.PullingAgentStreamRegistered(
                setup.Provider, Silo, queue, stream.Id, agent, stream.Subscriptions.Count));
        }
    }

    internal void NotRegistered(StreamId stream, Exception reason)
    {
        if (StreamingEvents.Feed.IsWatched)
            Write(new StreamingEvents.PullingAgentStreamRegistrationFailed(setup.Provider, Silo, queue, stream, reason));
    }

    internal void Attached(StreamId stream, SubscriptionEntry entry)
    {
        if (!StreamingEvents.Feed.IsWatched)
            return;
        Write(new StreamingEvents.SubscriptionAdded(setup.Provider, stream, entry.Id, entry.Consumer, Silo));
        Write(new StreamingEvents.SubscriptionAttached(setup.Provider, stream, entry.Id, entry.Consumer, Silo));
    }

    internal void Detached(StreamId stream, Guid subscription)
    {
        if (!StreamingEvents.Feed.IsWatched)
            return;
        Write(new StreamingEvents.SubscriptionRemoved(setup.Provider, stream, subscription, Silo));
        Write(new StreamingEvents.SubscriptionDetached(setup.Provider, stream, subscription, Silo));
    }

    internal void Inactive(StreamId stream)
    {
        if (StreamingEvents.Feed.IsWatched)
            Write(new StreamingEvents.StreamInactive(setup.Provider, stream, setup.Options.StreamInactivityPeriod, Silo));
    }

    internal void Drained(StreamId stream, Guid subscription)
    {
        if (StreamingEvents.Feed.IsWatched)
            Write(new StreamingEvents.ConsumerCursorDrained(setup.Provider, stream, subscription, Silo));
    }

    internal void Delivered(StreamId stream, SubscriptionEntry entry, IStreamConsumerExtension consumer, List<IBatchContainer> batches,
        int taken)
    {
        setup.Parts.Local.Counts.Add(NodeEvent.MessageDelivered, taken);
        if (!StreamingEvents.Feed.IsWatched)
            return;
        foreach (var batch in batches.Take(taken))
        {
            Write(new StreamingEvents.MessageDelivered(setup.Provider, stream, entry.Id, Silo, consumer, batch));
            foreach (var token in TokensOf(batch))
                Write(new StreamingEvents.ItemDelivered(setup.Provider, stream, entry.Id, Silo, setup.Parts.ClusterId, token));
        }
    }

    /// <summary>The positions of the items. None if this silo cannot read them.</summary>
    private StreamSequenceToken?[] TokensOf(IBatchContainer batch)
    {
        try
        {
            var bound = (batch as IBoundBatch)?.Bind(setup.Adapter) ?? batch;
            return [.. bound.GetEvents<object>().Select(static item => item.Item2)];
        }
        catch (Exception)
        {
            // The consumer has read them: it may know types that this silo has not got.
            return [];
        }
    }

    private static void Write(StreamingEvents.StreamingEvent happened) => StreamingEvents.Feed.Write(happened);
}
