using ActOp.Calls;
using Orleans;
using Orleans.Concurrency;
using Orleans.Runtime;
using Orleans.Streams;

namespace ActOp.Streams;

/// <summary>What agents call on consumers: grains (as an extension) and clients (as an observer).</summary>
[OfRuntime]
internal interface IStreamConsumerExtension : IGrainExtension
{
    /// <summary>
    /// Delivers batches to one subscription, in order. The consumer takes as many as it can within a time limit, at least one.
    /// </summary>
    Task<DeliveryReport> Deliver(Guid subscription, QualifiedStreamId stream, DeliveryBatch batches, StreamSequenceToken? agreedStart);

    /// <summary>Items were not delivered: the observer's <c>OnErrorAsync</c>.</summary>
    Task Fail(Guid subscription, QualifiedStreamId stream, Exception reason);

    /// <summary>Where the observer wants to begin; null for where the agent is.</summary>
    [AlwaysInterleave]
    Task<StreamSequenceToken?> GetStart(Guid subscription);
}

/// <summary>What the rendezvous of a stream calls on the agents that read it.</summary>
[OfRuntime]
internal interface IStreamAgent : IGrainObserver
{
    /// <summary>Adds a subscription, or renews one whose observer wants to begin elsewhere. Twice has no further effect.</summary>
    Task AddSubscriber(SubscriptionEntry subscription, StreamId stream);

    /// <summary>Removes a subscription. Twice has no further effect.</summary>
    Task RemoveSubscriber(Guid subscription, StreamId stream);
}

/// <summary>Where the agents and the explicit subscriptions of one stream meet. The key is the qualified id of the stream.</summary>
/// <remarks>What is open to clients concerns their own subscriptions only: see <see cref="RendezvousRights"/>.</remarks>
[OfRuntime]
internal interface IPubSubRendezvousGrain : IGrainWithStringKey
{
    /// <summary>Adds the agent; returns the subscriptions.</summary>
    /// <param name="stream">The stream.</param>
    /// <param name="producer">The agent.</param>
    /// <param name="number">Counts the registrations of the agent: its later ones have higher numbers.</param>
    Task<List<SubscriptionEntry>> RegisterProducer(QualifiedStreamId stream, GrainId producer, long number);

    /// <summary>
    /// Removes the agent, unless it has registered again since: a request that is late does not undo a newer registration.
    /// </summary>
    Task UnregisterProducer(QualifiedStreamId stream, GrainId producer, long number);

    /// <summary>Keeps the subscription, and tells it to the agents. When the task has ended, they know it.</summary>
    [Callers(Callers.Everyone)]
    Task RegisterConsumer(QualifiedStreamId stream, SubscriptionEntry subscription);

    [Callers(Callers.Everyone)]
    Task UnregisterConsumer(QualifiedStreamId stream, Guid subscription);

    /// <summary>Ends a subscription that has failed; it cannot be resumed. False if it does not exist.</summary>
    [Callers(Callers.Everyone)]
    Task<bool> FaultSubscription(QualifiedStreamId stream, Guid subscription);

    /// <summary>All of them; a client gets its own.</summary>
    [Callers(Callers.Everyone)]
    Task<List<SubscriptionEntry>> GetSubscriptions();

    [Callers(Callers.Everyone)]
    Task<int> ProducerCount();
}

/// <summary>Batches of one delivery.</summary>
/// <remarks>Not copied on the way to a consumer of the same silo: batches do not change, see <see cref="IBatchContainer"/>.</remarks>
[GenerateSerializer, Immutable]
internal sealed class DeliveryBatch(IBatchContainer[] items)
{
    [Id(0)]
    public IBatchContainer[] Items { get; private set; } = items;
}

/// <summary>What became of a delivery.</summary>
/// <param name="Taken">The number of batches, from the first, that the consumer has processed.</param>
/// <param name="Restart">If not null, nothing was taken: the consumer wants to begin there.</param>
/// <param name="Error">Why the batch behind the taken ones failed, or null.</param>
/// <param name="HasNobody">The consumer has no observer for the subscription; what was delivered is dropped.</param>
[GenerateSerializer]
internal readonly record struct DeliveryReport(
    int Taken, StreamSequenceToken? Restart = null, Exception? Error = null, bool HasNobody = false);

/// <summary>An explicit subscription as its rendezvous keeps it.</summary>
[GenerateSerializer]
internal sealed class SubscriptionEntry
{
    [Id(0)]
    public Guid Id { get; set; }

    [Id(1)]
    public GrainId Consumer { get; set; }

    [Id(2)]
    public string? FilterData { get; set; }

    /// <summary>It has failed and gets nothing any more.</summary>
    [Id(3)]
    public bool IsFaulted { get; set; }

    /// <summary>Where it has begun, if it has said so. Of no interest when its agent has seen it.</summary>
    [Id(4)]
    public Orleans.Streams.StreamSubscriptionStartPosition? Start { get; set; }
}

/// <summary>What the rendezvous of a stream keeps.</summary>
[GenerateSerializer]
internal sealed class PubSubGrainState
{
    /// <summary>The agents that read the stream.</summary>
    [Id(0)]
    public List<GrainId> Producers { get; set; } = [];

    [Id(1)]
    public List<SubscriptionEntry> Consumers { get; set; } = [];

    /// <summary>The numbers of the registrations of <see cref="Producers"/>. Those that are missing are 0.</summary>
    [Id(2)]
    public List<long> Numbers { get; set; } = [];

    /// <summary>The number with which an agent has registered last; null if it has not.</summary>
    internal long? NumberOf(GrainId producer) => Producers.IndexOf(producer) switch
    {
        < 0 => null,
        var index => index < Numbers.Count ? Numbers[index] : 0,
    };

    internal void SetProducer(GrainId producer, long number)
    {
        RemoveProducer(producer);
        while (Numbers.Count < Producers.Count)
            Numbers.Add(0);
        Producers.Add(producer);
        Numbers.Add(number);
    }

    internal void RemoveProducer(GrainId producer)
    {
        var index = Producers.IndexOf(producer);
        if (index < 0)
            return;
        Producers.RemoveAt(index);
        if (index < Numbers.Count)
            Numbers.RemoveAt(index);
    }
}
