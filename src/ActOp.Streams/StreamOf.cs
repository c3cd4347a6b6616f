using ActOp.Calls;
using ActOp.Runtime.Calls;
using ActOp.Serialization;
using ActOp.Wire;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;
using Orleans.Streams;

namespace ActOp.Streams;

/// <summary>
/// A stream of a provider: a name, not a resource. Immutable; any thread. May be passed to other processes and kept in state.
/// </summary>
/// <param name="parts">Those of this node; null for a stream that was read outside of a silo or client, which can only be passed
/// on.</param>
/// <param name="providerName">The provider.</param>
/// <param name="streamId">The id.</param>
internal sealed class StreamOf<T>(StreamNode? parts, string providerName, StreamId streamId) : IAsyncStream<T>, IPositionedObservable<T>
{
    private const string Adding = "QueueMessageBatchAsync of the adapter";

    public string ProviderName => providerName;

    public StreamId StreamId => streamId;

    public bool IsRewindable => Source.IsRewindable;

    private IStreamSource? _source;

    internal IStreamSource Source => _source ??= (parts ?? throw new InvalidOperationException(
        "The stream " + providerName + "/" + streamId + " was read outside of a silo or client, so it cannot be used here.")).Source(
            providerName);

    /// <summary>The source, for the code that runs on this thread.</summary>
    /// <exception cref="ActOp.Tenants.CrossTenantException">It may not use the stream.</exception>
    private IStreamSource SourceForCaller()
    {
        var source = Source;
        source.Parts.CheckTenant(Qualified);
        return source;
    }

    internal QualifiedStreamId Qualified => new(providerName, streamId);

    public Task OnNextAsync(T item, StreamSequenceToken? token = null)
    {
        var source = SourceForCaller();
        RefuseToken(source, token);
        return Given.Task(source.Adapter.QueueMessageBatchAsync(streamId, [item], token, RequestContext.CopyValues()), Adding);
    }

    public Task OnNextBatchAsync(IEnumerable<T> batch, StreamSequenceToken? token = null)
    {
        ArgumentNullException.ThrowIfNull(batch);
        var source = SourceForCaller();
        RefuseToken(source, token);
        return Given.Task(source.Adapter.QueueMessageBatchAsync(streamId, batch, token, RequestContext.CopyValues()), Adding);
    }

    // As in Orleans: a queue has no end, and a producer cannot fail its consumers.
    public Task OnCompletedAsync() => throw new NotSupportedException("A stream with queues cannot be completed.");

    public Task OnErrorAsync(Exception ex) => throw new NotSupportedException("A producer of a stream with queues cannot report errors.");

    public Task<StreamSubscriptionHandle<T>> SubscribeAsync(IAsyncObserver<T> observer) => SubscribeAsync(observer, null);

    public Task<StreamSubscriptionHandle<T>> SubscribeAsync(
        IAsyncObserver<T> observer, StreamSequenceToken? token, string? filterData = null)
    {
        ArgumentNullException.ThrowIfNull(observer);
        return SubscribeAsync(observer, null, token, filterData);
    }

    public Task<StreamSubscriptionHandle<T>> SubscribeAsync(IAsyncBatchObserver<T> observer) => SubscribeAsync(observer, null);

    public Task<StreamSubscriptionHandle<T>> SubscribeAsync(IAsyncBatchObserver<T> observer, StreamSequenceToken? token)
    {
        ArgumentNullException.ThrowIfNull(observer);
        return SubscribeAsync(null, observer, token, null);
    }

    public Task<StreamSubscriptionHandle<T>> SubscribeAsync(
        IAsyncObserver<T>? observer, IAsyncBatchObserver<T>? batchObserver, StreamSubscriptionStartPosition startPosition,
        string? filterData)
    {
        if (!Enum.IsDefined(startPosition))
            throw new ArgumentOutOfRangeException(nameof(startPosition), startPosition, "No such place.");
        return SubscribeAsync(observer, batchObserver, null, filterData, startPosition);
    }

    public async Task<IList<StreamSubscriptionHandle<T>>> GetAllSubscriptionHandles()
    {
        var source = SourceForCaller();
        var subscriptions = await source.PubSub.GetAllSubscriptions(Qualified, source.Parts.Caller.Id);
        return [.. subscriptions.Select(one => new SubscriptionHandle<T>(this, one.SubscriptionId, null))];
    }

    public bool Equals(IAsyncStream<T>? other) =>
        other is not null && other.StreamId == streamId && string.Equals(other.ProviderName, providerName, StringComparison.Ordinal);

    public override bool Equals(object? obj) => Equals(obj as IAsyncStream<T>);

    public override int GetHashCode() => HashCode.Combine(providerName, streamId);

    public int CompareTo(IAsyncStream<T>? other)
    {
        if (other is null)
            return 1;
        var order = streamId.CompareTo(other.StreamId);
        return order != 0 ? order : string.CompareOrdinal(providerName, other.ProviderName);
    }

    public override string ToString() => "Stream " + Qualified;

    /// <summary>Attaches an observer to a subscription of the calling grain or client.</summary>
    internal async Task<StreamSubscriptionHandle<T>> ResumeAsync(
        SubscriptionHandle<T> old, IAsyncObserver<T>? observer, IAsyncBatchObserver<T>? batchObserver, StreamSequenceToken? token)
    {
        var source = SourceForCaller();
        RefuseToken(source, token);
        var (consumers, id) = source.Parts.Caller;
        consumers.Attach(old.HandleId, new StreamAttachment<T>(observer, batchObserver, token, source.BatchSize));
        // The agents ask where to begin when they hear of a subscription again.
        if (token is not null && !StreamPubSub.IsImplicit(old.HandleId))
            await source.PubSub.RegisterConsumer(GuidId.GetGuidId(old.HandleId), Qualified, id, old.FilterData);
        old.Invalidate();
        return new SubscriptionHandle<T>(this, old.HandleId, old.FilterData);
    }

    internal async Task UnsubscribeAsync(Guid subscription)
    {
        var source = SourceForCaller();
        await source.PubSub.UnregisterConsumer(GuidId.GetGuidId(subscription), Qualified);
        source.Parts.Caller.Consumers.Detach(subscription);
    }

    private async Task<StreamSubscriptionHandle<T>> SubscribeAsync(
        IAsyncObserver<T>? observer, IAsyncBatchObserver<T>? batchObserver, StreamSequenceToken? token, string? filterData,
        StreamSubscriptionStartPosition? start = null)
    {
        var source = SourceForCaller();
        RefuseToken(source, token);
        var (consumers, id) = source.Parts.Caller;
        var subscription = source.PubSub.CreateSubscriptionId(Qualified, id);
        // Attached first: items may arrive before the registration has ended.
        consumers.Attach(subscription.Guid, new StreamAttachment<T>(observer, batchObserver, token, source.BatchSize));
        try
        {
            await (source.PubSub is StreamPubSub own
                ? own.RegisterConsumer(subscription, Qualified, id, filterData, start)
                : start is null or StreamSubscriptionStartPosition.Latest
                    ? source.PubSub.RegisterConsumer(subscription, Qualified, id, filterData)
                    : throw new NotSupportedException(source.PubSub.GetType() + " has no places to begin at."));
        }
        catch
        {
            consumers.Detach(subscription.Guid);
            throw;
        }

        return new SubscriptionHandle<T>(this, subscription.Guid, filterData);
    }

    private static void RefuseToken(IStreamSource source, StreamSequenceToken? token)
    {
        if (token is not null && !source.IsRewindable)
        {
            throw new ArgumentNullException(nameof(token), "The streams of " + source.Name
                + " are not rewindable, so a position must be null.");
        }
    }
}

/// <summary>
/// The handle of a subscription. A handle that was read or copied has no observer, only the name of the subscription. Any thread.
/// </summary>
internal sealed class SubscriptionHandle<T>(StreamOf<T> stream, Guid id, string? filterData) : StreamSubscriptionHandle<T>
{
    private volatile bool _isVoid;

    public override StreamId StreamId => stream.StreamId;

    public override string ProviderName => stream.ProviderName;

    public override Guid HandleId => id;

    internal StreamOf<T> Stream => stream;

    internal string? FilterData => filterData;

    public override Task<StreamSubscriptionHandle<T>> ResumeAsync(IAsyncObserver<T> observer, StreamSequenceToken? token = null)
    {
        ArgumentNullException.ThrowIfNull(observer);
        RefuseVoid();
        return stream.ResumeAsync(this, observer, null, token);
    }

    public override Task<StreamSubscriptionHandle<T>> ResumeAsync(IAsyncBatchObserver<T> observer, StreamSequenceToken? token = null)
    {
        ArgumentNullException.ThrowIfNull(observer);
        RefuseVoid();
        return stream.ResumeAsync(this, null, observer, token);
    }

    public override async Task UnsubscribeAsync()
    {
        RefuseVoid();
        await stream.UnsubscribeAsync(id);
        Invalidate();
    }

    public override bool Equals(StreamSubscriptionHandle<T>? other) =>
        other is not null && other.HandleId == id && other.StreamId == StreamId && other.ProviderName == ProviderName;

    public override bool Equals(object? obj) => Equals(obj as StreamSubscriptionHandle<T>);

    public override int GetHashCode() => id.GetHashCode();

    public override string ToString() => "Subscription " + id + " to " + stream;

    internal void Invalidate() => _isVoid = true;

    private void RefuseVoid()
    {
        if (_isVoid)
        {
            throw new InvalidOperationException(
                "The handle is void: it was resumed or unsubscribed. Use the handle that ResumeAsync has returned.");
        }
    }
}

/// <summary>Lets streams and handles travel.</summary>
internal static class StreamValueCodecs
{
    private static readonly Lock Gate = new();
    private static bool s_added;

    internal static void Add()
    {
        lock (Gate)
        {
            if (s_added)
                return;
            s_added = true;
            CodecTable.AddGeneric(typeof(StreamOf<>), typeof(StreamOfCodec<>));
            CodecTable.AddGeneric(typeof(SubscriptionHandle<>), typeof(SubscriptionHandleCodec<>));
            TypeManifest.AddType(typeof(StreamOf<>), "stream`1");
            TypeManifest.AddType(typeof(SubscriptionHandle<>), "stream-subscription`1");
        }
    }

    internal static StreamNode? PartsOf(CallRuntime? runtime) => (runtime as CallSender)?.Services.GetService<StreamNode>();
}

/// <summary>Provider and id.</summary>
internal sealed class StreamOfCodec<T> : ReferenceCodec<StreamOf<T>>
{
    protected override bool IsExactImmutable => true;

    protected override void WriteBody(ref WireWriter writer, StreamOf<T> value)
    {
        writer.WriteString(value.ProviderName);
        Codec<StreamId>.Default.Write(ref writer, value.StreamId);
    }

    protected override StreamOf<T> ReadBody(ref WireReader reader, int at)
    {
        var parts = StreamValueCodecs.PartsOf(reader.Session.Runtime);
        var provider = reader.ReadString();
        var value = new StreamOf<T>(parts, provider, Codec<StreamId>.Default.Read(ref reader));
        Record(ref reader, at, value);
        return value;
    }

    protected override StreamOf<T> CopyBody(StreamOf<T> value, CopyContext context) => value;
}

/// <summary>Stream, subscription and filter data.</summary>
internal sealed class SubscriptionHandleCodec<T> : ReferenceCodec<SubscriptionHandle<T>>
{
    protected override void WriteBody(ref WireWriter writer, SubscriptionHandle<T> value)
    {
        writer.WriteString(value.ProviderName);
        Codec<StreamId>.Default.Write(ref writer, value.StreamId);
        writer.WriteGuid(value.HandleId);
        writer.WriteNullableString(value.FilterData);
    }

    protected override SubscriptionHandle<T> ReadBody(ref WireReader reader, int at)
    {
        var parts = StreamValueCodecs.PartsOf(reader.Session.Runtime);
        var provider = reader.ReadString();
        var stream = new StreamOf<T>(parts, provider, Codec<StreamId>.Default.Read(ref reader));
        var id = reader.ReadGuid();
        var value = new SubscriptionHandle<T>(stream, id, reader.ReadNullableString());
        Record(ref reader, at, value);
        return value;
    }

    protected override SubscriptionHandle<T> CopyBody(SubscriptionHandle<T> value, CopyContext context)
    {
        var copy = new SubscriptionHandle<T>(value.Stream, value.HandleId, value.FilterData);
        context.RecordCopy(value, copy);
        return copy;
    }
}
