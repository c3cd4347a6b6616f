using Orleans.Runtime;

namespace Orleans.Streams;

/// <summary>Gives access to the streams of one provider.</summary>
public interface IStreamProvider
{
    /// <summary>Whether subscriptions can begin at an earlier item.</summary>
    bool IsRewindable { get; }

    /// <summary>The name under which the provider was added.</summary>
    string Name { get; }

    /// <summary>The stream with that id. Local and cheap: nothing is sent.</summary>
    IAsyncStream<T> GetStream<T>(StreamId streamId);
}

/// <summary>A stream, whatever its items are.</summary>
public interface IAsyncStream
{
    /// <summary>Whether subscriptions can begin at an earlier item.</summary>
    bool IsRewindable { get; }

    /// <summary>The name of the provider.</summary>
    string ProviderName { get; }

    /// <summary>The id of the stream.</summary>
    StreamId StreamId { get; }
}

/// <summary>
/// A stream of items: what producers write to and what consumers subscribe to. May be passed to other grains and kept in state.
/// </summary>
/// <typeparam name="T">The type of the items.</typeparam>
public interface IAsyncStream<T> : IAsyncStream, IEquatable<IAsyncStream<T>>, IComparable<IAsyncStream<T>>, IAsyncObservable<T>,
    IAsyncBatchObservable<T>, IAsyncBatchProducer<T>, IAsyncObserver<T>
{
    /// <summary>The explicit subscriptions of the calling grain or client to this stream.</summary>
    Task<IList<StreamSubscriptionHandle<T>>> GetAllSubscriptionHandles();
}

/// <summary>Takes items one by one.</summary>
/// <typeparam name="T">The type of the items.</typeparam>
public interface IAsyncObserver<in T>
{
    /// <summary>The next item.</summary>
    /// <param name="item">The item.</param>
    /// <param name="token">Its position in the stream.</param>
    Task OnNextAsync(T item, StreamSequenceToken? token = null);

    /// <summary>The stream has ended.</summary>
    Task OnCompletedAsync();

    /// <summary>Items could not be delivered.</summary>
    Task OnErrorAsync(Exception ex);
}

/// <summary>Takes items in batches.</summary>
/// <typeparam name="T">The type of the items.</typeparam>
public interface IAsyncBatchObserver<T>
{
    /// <summary>The next items, in order.</summary>
    Task OnNextAsync(IList<SequentialItem<T>> items);

    /// <summary>The stream has ended.</summary>
    Task OnCompletedAsync();

    /// <summary>Items could not be delivered.</summary>
    Task OnErrorAsync(Exception ex);
}

/// <summary>What observers of single items subscribe to.</summary>
/// <typeparam name="T">The type of the items.</typeparam>
public interface IAsyncObservable<T>
{
    /// <summary>Subscribes the calling grain or client.</summary>
    Task<StreamSubscriptionHandle<T>> SubscribeAsync(IAsyncObserver<T> observer);

    /// <summary>Subscribes the calling grain or client.</summary>
    /// <param name="observer">Takes the items.</param>
    /// <param name="token">The first item; null for those that come from now on.</param>
    /// <param name="filterData">What the filter of the provider gets.</param>
    Task<StreamSubscriptionHandle<T>> SubscribeAsync(IAsyncObserver<T> observer, StreamSequenceToken? token, string? filterData = null);
}

/// <summary>What observers of batches subscribe to.</summary>
/// <typeparam name="T">The type of the items.</typeparam>
public interface IAsyncBatchObservable<T>
{
    /// <summary>Subscribes the calling grain or client.</summary>
    Task<StreamSubscriptionHandle<T>> SubscribeAsync(IAsyncBatchObserver<T> observer);

    /// <summary>Subscribes the calling grain or client.</summary>
    /// <param name="observer">Takes the items.</param>
    /// <param name="token">The first item; null for those that come from now on.</param>
    Task<StreamSubscriptionHandle<T>> SubscribeAsync(IAsyncBatchObserver<T> observer, StreamSequenceToken? token);
}

/// <summary>What producers of batches write to.</summary>
/// <typeparam name="T">The type of the items.</typeparam>
public interface IAsyncBatchProducer<T> : IAsyncObserver<T>
{
    /// <summary>Adds items that stay together.</summary>
    Task OnNextBatchAsync(IEnumerable<T> batch, StreamSequenceToken? token = null);
}

/// <summary>An item and its position.</summary>
/// <typeparam name="T">The type of the item.</typeparam>
public class SequentialItem<T>
{
    /// <summary>Creates the pair.</summary>
    public SequentialItem(T item, StreamSequenceToken token)
    {
        Item = item;
        Token = token;
    }

    /// <summary>The item.</summary>
    public T Item { get; }

    /// <summary>Its position in the stream.</summary>
    public StreamSequenceToken Token { get; }
}

/// <summary>A position in a stream. The adapter of the queue says how positions compare.</summary>
[SerializerTransparent]
public abstract class StreamSequenceToken : IEquatable<StreamSequenceToken>, IComparable<StreamSequenceToken>
{
    /// <summary>The number of the batch.</summary>
    public abstract long SequenceNumber { get; protected set; }

    /// <summary>The number of the item in its batch.</summary>
    public abstract int EventIndex { get; protected set; }

    /// <inheritdoc/>
    public abstract bool Equals(StreamSequenceToken? other);

    /// <inheritdoc/>
    public abstract int CompareTo(StreamSequenceToken? other);
}

/// <summary>Comparisons of positions by name.</summary>
public static class StreamSequenceTokenUtilities
{
    /// <summary>Whether <paramref name="me"/> is behind <paramref name="other"/> in the stream.</summary>
    public static bool Newer(this StreamSequenceToken me, StreamSequenceToken other)
    {
        ArgumentNullException.ThrowIfNull(me);
        return me.CompareTo(other) > 0;
    }

    /// <summary>Whether <paramref name="me"/> is before <paramref name="other"/> in the stream.</summary>
    public static bool Older(this StreamSequenceToken me, StreamSequenceToken other)
    {
        ArgumentNullException.ThrowIfNull(me);
        return me.CompareTo(other) < 0;
    }
}

/// <summary>A subscription of a grain or client. May be kept in state and resumed with <c>ResumeAsync</c> later.</summary>
/// <typeparam name="T">The type of the items.</typeparam>
public abstract class StreamSubscriptionHandle<T> : IEquatable<StreamSubscriptionHandle<T>>
{
    /// <summary>The stream.</summary>
    public abstract StreamId StreamId { get; }

    /// <summary>The name of the stream's provider.</summary>
    public abstract string ProviderName { get; }

    /// <summary>The id of the subscription.</summary>
    public abstract Guid HandleId { get; }

    /// <summary>Ends the subscription.</summary>
    public abstract Task UnsubscribeAsync();

    /// <summary>Attaches an observer to the subscription; this handle is void afterwards.</summary>
    /// <param name="observer">Takes the items.</param>
    /// <param name="token">The first item; null to continue.</param>
    public abstract Task<StreamSubscriptionHandle<T>> ResumeAsync(IAsyncObserver<T> observer, StreamSequenceToken? token = null);

    /// <summary>Attaches an observer to the subscription; this handle is void afterwards.</summary>
    /// <param name="observer">Takes the items.</param>
    /// <param name="token">The first item; null to continue.</param>
    public abstract Task<StreamSubscriptionHandle<T>> ResumeAsync(IAsyncBatchObserver<T> observer, StreamSequenceToken? token = null);

    /// <inheritdoc/>
    public abstract bool Equals(StreamSubscriptionHandle<T>? other);
}

/// <summary>Which subscriptions a provider knows.</summary>
public enum StreamPubSubType
{
    /// <summary>Those that grains and clients have made, and those of attributes.</summary>
    ExplicitGrainBasedAndImplicit = 0,

    /// <summary>Those that grains and clients have made.</summary>
    ExplicitGrainBasedOnly = 1,

    /// <summary>Those of attributes. Needs no storage.</summary>
    ImplicitOnly = 2,
}

/// <summary>The identity of a stream with a <see cref="System.Guid"/> as key; for code of older versions.</summary>
public interface IStreamIdentity
{
    /// <summary>The key.</summary>
    Guid Guid { get; }

    /// <summary>The namespace, or null.</summary>
    string? Namespace { get; }
}

/// <summary>The identity of a stream with a <see cref="System.Guid"/> as key; for code of older versions.</summary>
public sealed class StreamIdentity : IStreamIdentity
{
    /// <summary>Names a stream.</summary>
    public StreamIdentity(Guid streamGuid, string? streamNamespace)
    {
        Guid = streamGuid;
        Namespace = streamNamespace;
    }

    /// <inheritdoc/>
    public Guid Guid { get; }

    /// <inheritdoc/>
    public string? Namespace { get; }

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is StreamIdentity other && Guid == other.Guid && Namespace == other.Namespace;

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Guid, Namespace);
}

/// <summary>A position in a stream that is named.</summary>
public class StreamPosition
{
    /// <summary>Names a position.</summary>
    public StreamPosition(StreamId streamId, StreamSequenceToken sequenceToken)
    {
        ArgumentNullException.ThrowIfNull(sequenceToken);
        StreamId = streamId;
        SequenceToken = sequenceToken;
    }

    /// <summary>The stream.</summary>
    public StreamId StreamId { get; }

    /// <summary>The position.</summary>
    public StreamSequenceToken SequenceToken { get; }
}

/// <summary>The way a queue is used.</summary>
public enum StreamProviderDirection
{
    /// <summary>Not at all.</summary>
    None = 0,

    /// <summary>Items only come from it.</summary>
    ReadOnly = 1,

    /// <summary>Items only go to it.</summary>
    WriteOnly = 2,

    /// <summary>Both.</summary>
    ReadWrite = 3,
}
