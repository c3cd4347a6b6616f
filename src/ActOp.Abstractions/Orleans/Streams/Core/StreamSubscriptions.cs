using Orleans.Runtime;

namespace Orleans.Streams.Core;

/// <summary>A grain that is told of its subscriptions when their first items arrive, so that it can attach observers.</summary>
public interface IStreamSubscriptionObserver
{
    /// <summary>Items of a subscription without an observer have arrived; they are delivered when this has ended.</summary>
    /// <param name="handleFactory">Makes the handle, whose <c>ResumeAsync</c> attaches an observer.</param>
    Task OnSubscribed(IStreamSubscriptionHandleFactory handleFactory);
}

/// <summary>Makes the handle of one subscription.</summary>
public interface IStreamSubscriptionHandleFactory
{
    /// <summary>The name of the stream's provider.</summary>
    string ProviderName { get; }

    /// <summary>The stream.</summary>
    StreamId StreamId { get; }

    /// <summary>The id of the subscription.</summary>
    GuidId SubscriptionId { get; }

    /// <summary>The handle.</summary>
    StreamSubscriptionHandle<T> Create<T>();
}

/// <summary>Subscriptions of grains that are made by others.</summary>
public interface IStreamSubscriptionManager
{
    /// <summary>Subscribes a grain.</summary>
    Task<StreamSubscription> AddSubscription(string streamProviderName, StreamId streamId, GrainReference grainRef);

    /// <summary>Ends a subscription.</summary>
    Task RemoveSubscription(string streamProviderName, StreamId streamId, Guid subscriptionId);

    /// <summary>The subscriptions to a stream.</summary>
    Task<IEnumerable<StreamSubscription>> GetSubscriptions(string streamProviderName, StreamId streamId);
}

/// <summary>Finds the managers of subscriptions.</summary>
public interface IStreamSubscriptionManagerAdmin
{
    /// <summary>The manager of that kind, see <see cref="StreamSubscriptionManagerType"/>.</summary>
    IStreamSubscriptionManager GetStreamSubscriptionManager(string managerType);
}

/// <summary>A stream provider that has a manager of subscriptions.</summary>
public interface IStreamSubscriptionManagerRetriever
{
    /// <summary>The manager; null if the provider knows implicit subscriptions only.</summary>
    IStreamSubscriptionManager? GetStreamSubscriptionManager();
}

/// <summary>Kinds of managers of subscriptions.</summary>
public static class StreamSubscriptionManagerType
{
    /// <summary>Explicit subscriptions.</summary>
    public const string ExplicitSubscribeOnly = "ExplicitSubscribeOnly";
}

/// <summary>A subscription as managers see it.</summary>
public sealed class StreamSubscription : IEquatable<StreamSubscription>
{
    /// <summary>Names a subscription.</summary>
    public StreamSubscription(Guid subscriptionId, string streamProviderName, StreamId streamId, GrainId grainId)
    {
        SubscriptionId = subscriptionId;
        StreamProviderName = streamProviderName;
        StreamId = streamId;
        GrainId = grainId;
    }

    /// <summary>Its id.</summary>
    public Guid SubscriptionId { get; }

    /// <summary>The name of the stream's provider.</summary>
    public string StreamProviderName { get; }

    /// <summary>The stream.</summary>
    public StreamId StreamId { get; }

    /// <summary>The consumer.</summary>
    public GrainId GrainId { get; }

    /// <inheritdoc/>
    public bool Equals(StreamSubscription? other) => other is not null && SubscriptionId == other.SubscriptionId
        && StreamProviderName == other.StreamProviderName && StreamId == other.StreamId && GrainId == other.GrainId;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as StreamSubscription);

    /// <inheritdoc/>
    public override int GetHashCode() => SubscriptionId.GetHashCode();
}
