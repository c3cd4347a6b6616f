using System.Collections.Concurrent;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;
using Orleans.Metadata;
using Orleans.Providers;
using Orleans.Providers.Streams.Common;
using Orleans.Runtime.Providers;
using Orleans.Streams;
using Orleans.Streams.Filtering;

namespace ActOp.Border.Tests;

/// <summary>
/// A silo with a stream provider of the application: each of its parts does wrong when a test plans it. Streams whose key begins with
/// "bad" are those in trouble. They share their queue with others; streams whose key begins with "other" are in a second queue.
/// </summary>
public sealed class TroubledStreams() : ClusterFixture(1)
{
    internal const string Provider = "troubled";

    internal LogCapture Log { get; } = new();

    internal IControllable Agents => (IControllable)Streams;

    private IStreamProvider Streams => Cluster.Silos[0].ServiceProvider.GetRequiredKeyedService<IStreamProvider>(Provider);

    internal IAsyncStream<int> Stream(string space, string key) => Streams.GetStream<int>(StreamId.Create(space, key));

    internal Task CommandAsync(PersistentStreamProviderCommand command) =>
        Agents.ExecuteCommand((int)command, null).WaitAsync(Gate.Patience);

    protected override void Configure(InProcessTestClusterOptions options) => options.InitializeClientOnDeploy = false;

    protected override void ConfigureSilo(ISiloBuilder silo)
    {
        silo.Services.AddSingleton<ILoggerProvider>(Log);
        silo.Configure<SiloMessagingOptions>(static options => options.ResponseTimeout = TimeSpan.FromSeconds(1));
        silo.AddMemoryGrainStorage("PubSubStore");
        // Before those of the runtime, which it must not disturb.
        silo.Services.AddSingleton<IStreamNamespacePredicateProvider, TroubledPredicates>();
        silo.AddPersistentStreams(Provider, static (_, _) => new TroubledQueues(), static streams =>
        {
            streams.ConfigurePullingAgent(static agent => agent.Configure(static options =>
            {
                options.MaxEventDeliveryTime = options.InitQueueTimeout = TimeSpan.FromMilliseconds(500);
                options.GetQueueMsgsTimerPeriod = TimeSpan.FromMilliseconds(5);
            }));
            streams.ConfigurePartitionBalancing(static (_, _) => TroubledBalancer.Instance);
            streams.ConfigureComponent<IMessageDeliveryBackoffProvider>(static (_, _) => new TroubledBackoff("delivery pause"));
            streams.ConfigureComponent<IQueueReaderBackoffProvider>(static (_, _) => new TroubledBackoff("pause of reads"));
        });
        silo.AddStreamFilter<TroubledFilter>(Provider);
        silo.Services.AddKeyedSingleton<IStreamIdMapper, TroubledMapper>("troubled mapper");
        silo.AddMemoryStreams<TroubledBodies>("bodies", static streams => streams.ConfigurePartitioning(1));
    }
}

/// <summary>Two queues in the memory of the process.</summary>
internal sealed class TroubledQueues : IQueueAdapterFactory, IQueueAdapter, IStreamQueueMapper, IQueueAdapterCache, IStreamFailureHandler
{
    internal static readonly QueueId[] All = [QueueId.GetQueueId("troubled", 0, 0), QueueId.GetQueueId("troubled", 1, 1)];

    private static readonly ConcurrentQueue<IBatchContainer>[] Messages = [new(), new()];
    private static long s_number;

    public string Name => TroubledStreams.Provider;

    public bool IsRewindable => true;

    public StreamProviderDirection Direction => StreamProviderDirection.ReadWrite;

    public bool ShouldFaultSubsriptionOnError => false;

    public Task<IQueueAdapter> CreateAdapter() => Task.FromResult<IQueueAdapter>(this);

    public IQueueAdapterCache GetQueueAdapterCache() => this;

    public IStreamQueueMapper GetStreamQueueMapper() => this;

    public Task<IStreamFailureHandler> GetDeliveryFailureHandler(QueueId queueId) =>
        Mischief.ActAsync<IStreamFailureHandler>("maker of the failure handler", () => this);

    public Task OnDeliveryFailure(GuidId subscriptionId, string name, StreamId stream, StreamSequenceToken? token) =>
        Mischief.ActAsync("failure handler");

    public Task OnSubscriptionFailure(GuidId subscriptionId, string name, StreamId stream, StreamSequenceToken? token) =>
        Task.CompletedTask;

    public IEnumerable<QueueId> GetAllQueues() => All;

    public QueueId GetQueueForStream(StreamId streamId) => All[IndexOf(streamId)];

    public Task QueueMessageBatchAsync<T>(
        StreamId streamId, IEnumerable<T> events, StreamSequenceToken? token, Dictionary<string, object>? requestContext)
    {
        var number = Interlocked.Increment(ref s_number);
        Messages[IndexOf(streamId)].Enqueue(new TroubledBatch(streamId, [.. events.Cast<object>().Cast<int>()], number));
        return streamId.GetKeyAsString().StartsWith("bad", StringComparison.Ordinal) ? Mischief.ActAsync("adapter") : Task.CompletedTask;
    }

    public IQueueAdapterReceiver CreateReceiver(QueueId queueId) =>
        IsInTrouble(queueId) && !Mischief.Does("maker of the receiver") ? null! : new Receiver((int)queueId.GetNumericId());

    public IQueueCache CreateQueueCache(QueueId queueId) =>
        IsInTrouble(queueId) && !Mischief.Does("maker of the cache") ? null! : new TroubledCache(IsInTrouble(queueId));

    private static bool IsInTrouble(QueueId queue) => queue.GetNumericId() == 0;

    private static int IndexOf(StreamId stream) => stream.GetKeyAsString().StartsWith("other", StringComparison.Ordinal) ? 1 : 0;

    private sealed class Receiver(int index) : IQueueAdapterReceiver
    {
        public Task Initialize(TimeSpan timeout) => index == 0 ? Mischief.ActAsync("start of a receiver") : Task.CompletedTask;

        public Task<IList<IBatchContainer>> GetQueueMessagesAsync(int maxCount)
        {
            if (index > 0)
                return Task.FromResult(Take());
            // What comes before each pause.
            if (Mischief.IsPlanned("pause of reads"))
                throw new FormatException(Mischief.Word);
            // One that comes late is not read by anybody.
            var hangs = Mischief.DeedOf("read") is Deed.Hangs;
            return Mischief.ActAsync<IList<IBatchContainer>>(
                "read", () => hangs ? [] : Take(), () => [null!, new TroubledBatch(default, [0], 0), .. Take(), null!]);
        }

        public Task MessagesDeliveredAsync(IList<IBatchContainer> messages) =>
            index == 0 ? Mischief.ActAsync("acknowledgement") : Task.CompletedTask;

        public Task Shutdown(TimeSpan timeout) => index == 0 ? Mischief.ActAsync("end of a receiver") : Task.CompletedTask;

        private IList<IBatchContainer> Take()
        {
            List<IBatchContainer> taken = [];
            while (Messages[index].TryDequeue(out var one))
                taken.Add(one);
            return taken;
        }
    }
}

/// <summary>Items of a stream in trouble may fail where they are read.</summary>
[GenerateSerializer]
public sealed class TroubledBatch(StreamId stream, int[] items, long number) : IBatchContainer
{
    [Id(0)]
    private StreamId Stream { get; set; } = stream;

    [Id(1)]
    public int[] Items { get; private set; } = items;

    [Id(2)]
    public long Number { get; private set; } = number;

    public StreamId StreamId => IsBad && !Mischief.Does("stream of a batch") ? default : Stream;

    public StreamSequenceToken SequenceToken =>
        IsBad && !Mischief.Does("position of a batch") ? null! : new EventSequenceTokenV2(Number);

    private bool IsBad => Stream != default && Stream.GetKeyAsString().StartsWith("bad", StringComparison.Ordinal);

    public IEnumerable<Tuple<T, StreamSequenceToken>> GetEvents<T>() => IsBad && !Mischief.Does("items of a batch") ? null!
        : Items.Select((item, index) => Tuple.Create((T)(object)item, (StreamSequenceToken)new EventSequenceTokenV2(Number, index)));

    public bool ImportRequestContext()
    {
        if (IsBad)
            Mischief.Act("request context of a batch");
        return false;
    }
}

/// <summary>A cache of the application, which leaves the work to the one of the runtime.</summary>
internal sealed class TroubledCache(bool isInTrouble) : IQueueCache
{
    private const int Capacity = 64;

    private static TroubledCache? s_last;

    private readonly SimpleQueueCache _cache = new(Capacity, Microsoft.Extensions.Logging.Abstractions.NullLogger.Instance);

    /// <summary>Whether no cursor of the last cache holds a batch.</summary>
    internal static bool IsAtRest => s_last?._cache.GetMaxAddCount() == Capacity;

    public int GetMaxAddCount()
    {
        if (!isInTrouble)
            return _cache.GetMaxAddCount();
        s_last = this;
        return Mischief.Does("room in a cache") ? _cache.GetMaxAddCount() : 0;
    }

    public void AddToCache(IList<IBatchContainer> messages)
    {
        if (isInTrouble && Mischief.DeedOf("addition to a cache") is not null)
            throw new FormatException(Mischief.Word);
        _cache.AddToCache(messages);
    }

    public bool TryPurgeFromCache(out IList<IBatchContainer> purgedItems)
    {
        purgedItems = null!;
        return isInTrouble && !Mischief.Does("removal from a cache") || _cache.TryPurgeFromCache(out purgedItems);
    }

    public IQueueCacheCursor GetCacheCursor(StreamId streamId, StreamSequenceToken? token)
    {
        var isBad = streamId.GetKeyAsString().StartsWith("bad", StringComparison.Ordinal);
        return isBad && !Mischief.Does("maker of a cursor") ? null! : new Cursor(_cache.GetCacheCursor(streamId, token), isBad);
    }

    public bool IsUnderPressure() => isInTrouble && !Mischief.Does("pressure of a cache") || _cache.IsUnderPressure();

    private sealed class Cursor(IQueueCacheCursor cursor, bool isBad) : IQueueCacheCursor
    {
        public IBatchContainer? GetCurrent(out Exception? exception)
        {
            var current = cursor.GetCurrent(out exception);
            if (!isBad || Mischief.Does("message of a cursor"))
                return current;
            if (Mischief.DeedOf("message of a cursor") is Deed.ReturnsForeign)
                exception = new FormatException(Mischief.Word);
            return null;
        }

        public bool MoveNext() => (isBad && !Mischief.Does("move of a cursor")) || cursor.MoveNext()
            || (isBad && Mischief.IsPlanned("message of a cursor"));

        public void Refresh(StreamSequenceToken token)
        {
            if (isBad)
                Mischief.Act("refresh of a cursor");
            cursor.Refresh(token);
        }

        public void RecordDeliveryFailure()
        {
            if (isBad)
                Mischief.Act("note of a failed delivery");
            cursor.RecordDeliveryFailure();
        }

        public void Dispose()
        {
            cursor.Dispose();
            if (isBad)
                Mischief.Act("end of a cursor");
        }
    }
}

internal sealed class TroubledBackoff(string name) : IMessageDeliveryBackoffProvider, IQueueReaderBackoffProvider
{
    public TimeSpan Next(int attempt)
    {
        Mischief.Act(name);
        return Mischief.DeedOf(name) switch
        {
            Deed.ReturnsForeign => TimeSpan.MaxValue,
            Deed.ReturnsNull => -TimeSpan.FromDays(1),
            _ => TimeSpan.FromMilliseconds(20),
        };
    }
}

/// <summary>Gives all queues to the one silo.</summary>
internal sealed class TroubledBalancer : IStreamQueueBalancer
{
    internal static readonly TroubledBalancer Instance = new();

    private IStreamQueueBalanceListener? _listener;

    internal Task ChangeAsync() => _listener!.QueueDistributionChangeNotification();

    public Task Initialize(IStreamQueueMapper queueMapper) => Mischief.ActAsync("start of a balancer");

    public Task Shutdown() => Mischief.ActAsync("end of a balancer");

    public IEnumerable<QueueId> GetMyQueues() => Mischief.Does("queues of a balancer") ? TroubledQueues.All
        : Mischief.DeedOf("queues of a balancer") is Deed.ReturnsForeign
            ? [.. TroubledQueues.All, .. TroubledQueues.All, QueueId.GetQueueId("nobody", 7, 7)] : null!;

    public bool SubscribeToQueueDistributionChangeEvents(IStreamQueueBalanceListener observer)
    {
        _listener = observer;
        return true;
    }

    public bool UnSubscribeFromQueueDistributionChangeEvents(IStreamQueueBalanceListener observer)
    {
        Mischief.Act("goodbye to a balancer");
        return true;
    }
}

internal sealed class TroubledFilter : IStreamFilter
{
    private static int s_asked;

    public bool ShouldDeliver(StreamId streamId, object item, string? filterData)
    {
        if (!streamId.GetKeyAsString().StartsWith("bad", StringComparison.Ordinal) || Mischief.Does("filter"))
            return true;
        return Mischief.DeedOf("filter") is Deed.ActsTwice && Interlocked.Increment(ref s_asked) % 2 == 0;
    }
}

/// <summary>Fails for every pattern: for one of its own, and for those of others.</summary>
internal sealed class TroubledPredicates : IStreamNamespacePredicateProvider
{
    public bool TryGetPredicate(
        string predicatePattern, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out IStreamNamespacePredicate? predicate)
    {
        predicate = null;
        return predicatePattern.Contains("mapped", StringComparison.Ordinal) ? true : throw new FormatException(Mischief.Word);
    }
}

/// <summary>Made by the runtime, by its type.</summary>
public sealed class TroubledPredicate : IStreamNamespacePredicate
{
    public string PredicatePattern => ConstructorStreamNamespacePredicateProvider.FormatPattern(typeof(TroubledPredicate), null);

    public bool IsMatch(string streamNamespace)
    {
        if (streamNamespace.StartsWith("predicate", StringComparison.Ordinal))
            Mischief.Act("predicate of namespaces");
        return streamNamespace.StartsWith("predicate", StringComparison.Ordinal);
    }
}

internal sealed class TroubledMapper : IStreamIdMapper
{
    public IdSpan GetGrainKeyId(GrainBindings grainBindings, StreamId streamId) =>
        Mischief.Does("mapper of streams") ? IdSpan.Create(streamId.GetKeyAsString()) : default;
}

internal sealed class TroubledBodies(Orleans.Serialization.Serializer<MemoryMessageBody> serializer) : IMemoryMessageBodySerializer
{
    public ArraySegment<byte> Serialize(MemoryMessageBody body) =>
        Mischief.Does("writer of bodies") ? serializer.SerializeToArray(body) : default(ArraySegment<byte>);

    public MemoryMessageBody Deserialize(ArraySegment<byte> bodyBytes) =>
        Mischief.Does("reader of bodies") ? serializer.Deserialize(bodyBytes.AsSpan()) : null!;
}
