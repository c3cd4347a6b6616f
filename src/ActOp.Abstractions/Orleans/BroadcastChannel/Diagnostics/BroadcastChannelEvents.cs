using ActOp.Diagnostics;
using Orleans.Runtime;

namespace Orleans.BroadcastChannel.Diagnostics;

/// <summary>What happens on broadcast channels, for tests and tools.</summary>
public static class BroadcastChannelEvents
{
    /// <summary>The name of the <see cref="System.Diagnostics.DiagnosticListener"/>. An event has the name of its class.</summary>
    public const string ListenerName = "Orleans.BroadcastChannel";

    /// <summary>All events. They come on the thread where they happen: an observer must be quick.</summary>
    public static IObservable<BroadcastChannelEvent> AllEvents => Feed;

    internal static EventFeed<BroadcastChannelEvent> Feed { get; } = new(ListenerName);

    /// <summary>An event of a channel.</summary>
    public abstract class BroadcastChannelEvent(string providerName, SiloAddress? siloAddress, string clusterId)
    {
        /// <summary>An event of no known cluster.</summary>
        protected BroadcastChannelEvent(string providerName)
            : this(providerName, null, "")
        {
        }

        /// <summary>The name of the channel's provider.</summary>
        public string ProviderName { get; } = providerName;

        /// <summary>The silo where it happens; null on a client.</summary>
        public SiloAddress? SiloAddress { get; } = siloAddress;

        /// <summary>The cluster where it happens.</summary>
        public string ClusterId { get; } = clusterId;
    }

    /// <summary>An item was published: the calls to its consumers have begun.</summary>
    public sealed class ItemPublished(
        string providerName, ChannelId channelId, int subscriberCount, SiloAddress? siloAddress, string clusterId)
        : BroadcastChannelEvent(providerName, siloAddress, clusterId)
    {
        /// <summary>An event of no known cluster.</summary>
        public ItemPublished(string providerName, ChannelId channelId, int subscriberCount)
            : this(providerName, channelId, subscriberCount, null, "")
        {
        }

        /// <summary>The channel.</summary>
        public ChannelId ChannelId { get; } = channelId;

        /// <summary>The number of grains that the item is sent to.</summary>
        public int SubscriberCount { get; } = subscriberCount;
    }

    /// <summary>A grain has processed an item.</summary>
    public sealed class ItemDelivered(
        string providerName, ChannelId channelId, GrainId consumerGrainId, SiloAddress? siloAddress, string clusterId)
        : BroadcastChannelEvent(providerName, siloAddress, clusterId)
    {
        /// <summary>An event of no known cluster.</summary>
        public ItemDelivered(string providerName, ChannelId channelId, GrainId consumerGrainId)
            : this(providerName, channelId, consumerGrainId, null, "")
        {
        }

        /// <summary>The channel.</summary>
        public ChannelId ChannelId { get; } = channelId;

        /// <summary>The grain.</summary>
        public GrainId ConsumerGrainId { get; } = consumerGrainId;
    }
}
