using ActOp.Calls;
using ActOp.Serialization;
using ActOp.Streams;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Providers.Streams.Common;
using Orleans.Runtime;
using Orleans.Serialization;
using Orleans.Streams;

namespace Orleans.Providers;

/// <summary>What a producer of a memory stream has added together.</summary>
[GenerateSerializer]
public sealed class MemoryMessageBody
{
    /// <summary>Creates the body.</summary>
    public MemoryMessageBody(IEnumerable<object> events, Dictionary<string, object>? requestContext)
    {
        ArgumentNullException.ThrowIfNull(events);
        Events = [.. events];
        RequestContext = requestContext;
    }

    /// <summary>The items.</summary>
    [Id(0)]
    public List<object> Events { get; private set; }

    /// <summary>The request context of the producer.</summary>
    [Id(1)]
    public Dictionary<string, object>? RequestContext { get; private set; }
}

/// <summary>Turns bodies into bytes and back. One object serves all threads.</summary>
public interface IMemoryMessageBodySerializer
{
    /// <summary>The bytes of a body.</summary>
    ArraySegment<byte> Serialize(MemoryMessageBody body);

    /// <summary>The body in the bytes.</summary>
    MemoryMessageBody Deserialize(ArraySegment<byte> bodyBytes);
}

/// <summary>
/// Writes what <see cref="DefaultMemoryMessageBodySerializer"/> writes, without the assembly of its serializer: a provider that is
/// configured with that one has this one.
/// </summary>
internal sealed class MessageBodySerializer(ICodecScope scope) : IMemoryMessageBodySerializer
{
    public ArraySegment<byte> Serialize(MemoryMessageBody body) => MarkedMessage.ToArray(body, scope);

    public MemoryMessageBody Deserialize(ArraySegment<byte> bodyBytes) =>
        MarkedMessage.Read<MemoryMessageBody>(bodyBytes, scope.Runtime, scope, out _);

    /// <summary>The serializer that a provider is configured with.</summary>
    internal static IMemoryMessageBodySerializer Create<TSerializer>(IServiceProvider services)
        where TSerializer : class, IMemoryMessageBodySerializer =>
            typeof(TSerializer) == typeof(DefaultMemoryMessageBodySerializer)
                ? new MessageBodySerializer(services.GetRequiredService<ICodecScope>())
                : ActivatorUtilities.GetServiceOrCreateInstance<TSerializer>(services);
}

/// <summary>Uses the serializer of the silo.</summary>
public sealed class DefaultMemoryMessageBodySerializer : IMemoryMessageBodySerializer, IOnDeserialized
{
    private Serializer<MemoryMessageBody> _serializer;

    /// <summary>Creates the serializer.</summary>
    public DefaultMemoryMessageBodySerializer(Serializer<MemoryMessageBody> serializer) => _serializer = serializer;

    /// <inheritdoc/>
    public ArraySegment<byte> Serialize(MemoryMessageBody body) => _serializer.SerializeToArray(body);

    /// <inheritdoc/>
    public MemoryMessageBody Deserialize(ArraySegment<byte> bodyBytes) => _serializer.Deserialize(bodyBytes.AsSpan());

    void IOnDeserialized.OnDeserialized(DeserializationContext context) =>
        _serializer = context.ServiceProvider.GetRequiredService<Serializer<MemoryMessageBody>>();
}

/// <summary>A message in a queue of memory streams.</summary>
[GenerateSerializer, Immutable]
public struct MemoryMessageData
{
    /// <summary>The stream.</summary>
    [Id(0)]
    public StreamId StreamId;

    /// <summary>Its number in the queue.</summary>
    [Id(1)]
    public long SequenceNumber;

    /// <summary>When it came into the queue.</summary>
    [Id(2)]
    public DateTime EnqueueTimeUtc;

    /// <summary>When it was read.</summary>
    [Id(3)]
    public DateTime DequeueTimeUtc;

    /// <summary>The body. Must not be changed.</summary>
    [Id(4)]
    public ArraySegment<byte> Payload;
}

/// <summary>One queue of memory streams.</summary>
[OfRuntime]
public interface IMemoryStreamQueueGrain : IGrainWithGuidKey
{
    /// <summary>Adds a message. Waits while the queue is full. Producers may be clients.</summary>
    [Callers(Callers.Everyone)]
    Task Enqueue(MemoryMessageData data);

    /// <summary>Removes and returns the oldest messages.</summary>
    Task<List<MemoryMessageData>> Dequeue(int maxCount);
}

/// <summary>
/// Memory streams: their queues are grains, so what is in a queue is lost with the silo that has its grain, as in Orleans. Messages leave a
/// queue when they were delivered.
/// </summary>
/// <remarks>Holds references to the queues; any thread.</remarks>
/// <typeparam name="TSerializer">Turns the items into bytes.</typeparam>
public class MemoryAdapterFactory<TSerializer> : IQueueAdapterFactory, IQueueAdapter, IQueueAdapterCache, IQueuedFormat
    where TSerializer : class, IMemoryMessageBodySerializer
{
    private readonly HashRingBasedStreamQueueMapper _mapper;
    private readonly SimpleQueueCacheOptions _cacheOptions;
    private readonly StreamCacheEvictionOptions _eviction;
    private readonly BatchFormat _format;
    private readonly IGrainFactory _grains;
    private readonly StreamNode _parts;
    private readonly TimeProvider _time;
    private readonly IMemoryQueue[] _queues;

    internal MemoryAdapterFactory(
        string providerName, IServiceProvider services, HashRingStreamQueueMapperOptions queues, SimpleQueueCacheOptions cache,
        StreamCacheEvictionOptions eviction)
    {
        Name = providerName;
        _mapper = new HashRingBasedStreamQueueMapper(queues, providerName);
        _cacheOptions = cache;
        _eviction = eviction;
        _parts = services.GetRequiredService<StreamNode>();
        _format = new BatchFormat(
            _parts.Calls, services.GetRequiredKeyedService<IMemoryMessageBodySerializer>(providerName),
            typed: typeof(TSerializer) == typeof(DefaultMemoryMessageBodySerializer));
        _grains = services.GetRequiredService<IGrainFactory>();
        _time = services.GetRequiredService<TimeProvider>();
        _queues = new IMemoryQueue[queues.TotalQueueCount];
    }

    /// <inheritdoc/>
    public string Name { get; }

    /// <inheritdoc/>
    public bool IsRewindable => true;

    /// <inheritdoc/>
    public StreamProviderDirection Direction => StreamProviderDirection.ReadWrite;

    /// <summary>Makes the factory of a provider, with the options under its name.</summary>
    public static MemoryAdapterFactory<TSerializer> Create(IServiceProvider services, string name)
    {
        ArgumentNullException.ThrowIfNull(services);
        return new MemoryAdapterFactory<TSerializer>(
            name, services, Options<HashRingStreamQueueMapperOptions>(), Options<SimpleQueueCacheOptions>(),
            Options<StreamCacheEvictionOptions>());

        TOptions Options<TOptions>() => services.GetRequiredService<IOptionsMonitor<TOptions>>().Get(name);
    }

    /// <inheritdoc/>
    public Task<IQueueAdapter> CreateAdapter() => Task.FromResult<IQueueAdapter>(this);

    /// <inheritdoc/>
    public IQueueAdapterCache GetQueueAdapterCache() => this;

    /// <inheritdoc/>
    public IStreamQueueMapper GetStreamQueueMapper() => _mapper;

    /// <inheritdoc/>
    public Task<IStreamFailureHandler> GetDeliveryFailureHandler(QueueId queueId) =>
        Task.FromResult<IStreamFailureHandler>(new NoOpStreamDeliveryFailureHandler());

    /// <inheritdoc/>
    public IQueueCache CreateQueueCache(QueueId queueId) => new SimpleQueueCache(_cacheOptions.CacheSize, _eviction, _time);

    /// <inheritdoc/>
    public IQueueAdapterReceiver CreateReceiver(QueueId queueId) => new MemoryReceiver(QueueOf(queueId), _parts.Local.NewId());

    /// <inheritdoc/>
    /// <exception cref="ArgumentException">A position was given: the queue makes them itself.</exception>
    public Task QueueMessageBatchAsync<T>(
        StreamId streamId, IEnumerable<T> events, StreamSequenceToken? token, Dictionary<string, object>? requestContext)
    {
        ArgumentNullException.ThrowIfNull(events);
        if (token is not null)
            throw new ArgumentException("Producers of memory streams cannot choose positions: the token must be null.", nameof(token));
        return QueueOf(_mapper.GetQueueForStream(streamId)).Enqueue(
            new MemoryMessageData { StreamId = streamId, Payload = _format.Write(events, requestContext) });
    }

    IBatchContainer IQueuedFormat.Open(QueuedBatch batch) => _format.Open(batch);

    private IMemoryQueue QueueOf(QueueId queue)
    {
        ref var found = ref _queues[queue.GetNumericId()];
        return found ??= _grains.GetGrain<IMemoryQueue>(KeyOf(queue));
    }

    /// <summary>The same in every process.</summary>
    internal static Guid KeyOf(QueueId queue)
    {
        Span<byte> bytes = stackalloc byte[16];
        for (var i = 0; i < 4; i++)
        {
            var part = StableHash.HashOf(System.Text.Encoding.UTF8.GetBytes(i + "/" + queue));
            BitConverter.TryWriteBytes(bytes[(4 * i)..], part);
        }

        return new Guid(bytes);
    }
}
