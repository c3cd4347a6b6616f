using Orleans.Configuration;
using Orleans.Internal;
using Orleans.Runtime;
using Orleans.Streams;
using Orleans.Streams.Filtering;

namespace ActOp.Streams;

/// <summary>What the agents of a provider have in common. Immutable.</summary>
internal sealed record AgentSetup(
    StreamNode Parts, string Provider, IQueueAdapter Adapter, IQueueAdapterFactory Factory, StreamPubSub PubSub,
    StreamPullingAgentOptions Options, IStreamFilter? Filter, AgentBackoffs Backoffs);

/// <summary>How long agents of a provider pause after failures.</summary>
/// <param name="Deliveries">Between tries of a delivery.</param>
/// <param name="Reads">Between reads of a queue.</param>
internal sealed record AgentBackoffs(IBackoffProvider Deliveries, IBackoffProvider Reads);

/// <summary>A stream of which the agent has seen items.</summary>
/// <param name="id">The stream.</param>
/// <param name="qualified">The stream and its provider.</param>
/// <param name="number">The number of its registration: an agent that sees a stream again registers again.</param>
internal sealed class AgentStream(StreamId id, QualifiedStreamId qualified, long number)
{
    internal StreamId Id => id;

    internal long Number => number;

    internal QualifiedStreamId Qualified => qualified;

    internal Dictionary<Guid, AgentSubscription> Subscriptions { get; } = [];

    /// <summary>Removed while the subscriptions were being read: they must not come back with the answer.</summary>
    internal HashSet<Guid> Removed { get; } = [];

    /// <summary>Holds the first batches until the subscriptions are known; null from then on.</summary>
    internal IQueueCacheCursor? Hold { get; set; }

    /// <summary>The oldest batch that the subscriptions found by the registration get.</summary>
    internal StreamSequenceToken? First { get; set; }

    /// <summary>Coarse time in ms of the last batch.</summary>
    internal long LastBatch { get; set; }
}
