using System.Collections.Concurrent;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging.Abstractions;
using Orleans.Providers.Streams.Common;
using Orleans.Streams;

namespace ActOp.Streams.Tests;

/// <summary>A silo whose agent reads a queue that the test fills, in virtual time.</summary>
public class StreamOptionTests
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(7);
    private static readonly TimeSpan OpenLimit = TimeSpan.FromSeconds(13);

    [Fact]
    public async Task An_agent_gives_up_to_open_its_queue_after_the_time_of_the_options()
    {
        var queue = new Queue { Opens = false };
        var clock = new FakeClock();
        await using var cluster = await DeployAsync(queue, clock);
        await clock.TimerSetAsync(OpenLimit).WaitAsync(Gate.Patience);
        Assert.Equal((OpenLimit, 0), (Assert.Single(queue.Limits), queue.Reads));
        clock.Advance(OpenLimit);
    }

    [Fact]
    public async Task An_agent_looks_into_an_empty_queue_once_in_a_period_of_the_options()
    {
        var queue = new Queue();
        var clock = new FakeClock();
        await using var cluster = await DeployAsync(queue, clock);
        await clock.TimerSetAsync(Pause).WaitAsync(Gate.Patience);
        var reads = queue.Reads;
        clock.Advance(Pause - TimeSpan.FromMilliseconds(1));
        Assert.Equal(reads, queue.Reads);
        clock.Advance(TimeSpan.FromMilliseconds(1));
        await clock.TimerSetAsync(Pause).WaitAsync(Gate.Patience);
        Assert.Equal(reads + 1, queue.Reads);
    }

    [Fact]
    public async Task An_agent_forgets_a_stream_that_has_had_no_item_for_the_time_of_the_options()
    {
        var queue = new Queue();
        var clock = new FakeClock();
        await using var cluster = await DeployAsync(queue, clock);
        await ReadAsync(queue, clock, 1);
        Assert.Equal(1, queue.Registrations);
        await ReadAsync(null, clock, 2);
        await ReadAsync(queue, clock, 1);
        Assert.Equal(1, queue.Registrations);
        await ReadAsync(null, clock, 5);
        await ReadAsync(queue, clock, 1);
        Assert.Equal(2, queue.Registrations);
    }

    [Fact]
    public async Task A_provider_joins_the_stages_of_its_options()
    {
        await using var cluster = await DeployAsync(new Queue(), new FakeClock());
        var stages = new Stages();
        ((PersistentStreamProvider)cluster.Silos[0].ServiceProvider.GetRequiredKeyedService<IStreamProvider>("empty")).Participate(stages);
        Assert.Equal([9_000, 19_000], stages.Joined);
    }

    [Theory]
    [InlineData(3)]
    [InlineData(5)]
    public void A_cache_takes_as_many_batches_as_its_options_say(int size)
    {
        var caches = new SimpleQueueAdapterCache(new SimpleQueueCacheOptions { CacheSize = size }, "empty", NullLoggerFactory.Instance);
        Assert.Equal(size, caches.CreateQueueCache(QueueId.GetQueueId("empty", 0, 0)).GetMaxAddCount());
    }

    [Fact]
    public async Task A_message_that_comes_while_its_agent_stops_is_left_to_the_next_agent()
    {
        var queue = new Queue { AnswersAtStop = true };
        await using var cluster = await DeployAsync(queue, new FakeClock());
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(queue.Reads == 1), Gate.Patience);
        await cluster.StopAllSilosAsync();
        Assert.Equal(1, queue.Registrations);
        Assert.Equal(0, queue.Acknowledged);
    }

    [Fact]
    public async Task An_agent_whose_last_acknowledgement_fails_gives_its_queue_to_the_next_one()
    {
        var queue = new Queue { RefusesAtStop = true };
        await using var cluster = await DeployAsync(queue, new FakeClock());
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(queue.Reads == 2), Gate.Patience);
        await cluster.StopAllSilosAsync();
        Assert.Equal((1, 1), (queue.Refused, queue.Shutdowns));
    }

    private static async Task<InProcessTestCluster> DeployAsync(Queue queue, FakeClock clock)
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.Options.InitializeClientOnDeploy = false;
        builder.ConfigureSilo((_, silo) =>
        {
            silo.Services.AddSingleton<TimeProvider>(clock);
            silo.AddPersistentStreams("empty", (_, _) => queue, static streams =>
            {
                streams.ConfigureStreamPubSub(StreamPubSubType.ImplicitOnly);
                streams.ConfigureLifecycle(static options => options.Configure(
                    static one => (one.InitStage, one.StartStage) = (9_000, 19_000)));
                streams.ConfigurePullingAgent(static agent => agent.Configure(
                    static one => (one.GetQueueMsgsTimerPeriod, one.InitQueueTimeout, one.StreamInactivityPeriod) =
                        (Pause, OpenLimit, 4 * Pause)));
            });
        });
        var cluster = builder.Build();
        await cluster.DeployAsync();
        return cluster;
    }

    /// <summary>So many reads of the agent, a period apart; the first one finds a batch if a queue is given.</summary>
    private static async Task ReadAsync(Queue? queue, FakeClock clock, int count)
    {
        await clock.TimerSetAsync(Pause).WaitAsync(Gate.Patience);
        queue?.Messages.Enqueue(new Batch(clock.GetTimestamp()));
        for (var i = 0; i < count; i++)
        {
            clock.Advance(Pause);
            // A read that finds something is followed by another one at once.
            await clock.TimerSetAsync(Pause).WaitAsync(Gate.Patience);
        }
    }

    private sealed class Stages : ILifecycleObservable
    {
        public List<int> Joined { get; } = [];

        public IDisposable Subscribe(string observerName, int stage, ILifecycleObserver observer)
        {
            Joined.Add(stage);
            return Stream.Null;
        }
    }

    private sealed class Batch(long number) : IBatchContainer
    {
        public StreamId StreamId { get; } = StreamId.Create("nobody", "listens");

        public StreamSequenceToken SequenceToken { get; } = new EventSequenceTokenV2(number);

        public IEnumerable<Tuple<T, StreamSequenceToken>> GetEvents<T>() => [];

        public bool ImportRequestContext() => false;
    }

    /// <summary>One queue, which notes how it is used. The agent holds a place in the cache for each stream that it registers.</summary>
    private sealed class Queue() : SimpleQueueCache(100, NullLogger.Instance), IQueueAdapterFactory, IQueueAdapter, IQueueAdapterReceiver,
        IQueueAdapterCache
    {
        private readonly HashRingBasedStreamQueueMapper _mapper =
            new(new HashRingStreamQueueMapperOptions { TotalQueueCount = 1 }, "empty");
        private int _reads;
        private int _registrations;
        private volatile bool _stops;

        public bool Opens { get; init; } = true;

        public bool AnswersAtStop { get; init; }

        /// <summary>One batch can be acknowledged, which fails, only when the agent ends.</summary>
        public bool RefusesAtStop { get; init; }

        public int Acknowledged { get; private set; }

        public int Refused { get; private set; }

        public int Shutdowns { get; private set; }

        public ConcurrentQueue<IBatchContainer> Messages { get; } = new();

        public ConcurrentQueue<TimeSpan> Limits { get; } = new();

        public int Reads => Volatile.Read(ref _reads);

        public int Registrations => Volatile.Read(ref _registrations);

        public string Name => "empty";

        public bool IsRewindable => false;

        public StreamProviderDirection Direction => StreamProviderDirection.ReadOnly;

        public Task<IQueueAdapter> CreateAdapter() => Task.FromResult<IQueueAdapter>(this);

        public IQueueAdapterCache GetQueueAdapterCache() => this;

        public IQueueCache CreateQueueCache(QueueId queueId) => this;

        public override bool TryPurgeFromCache(out IList<IBatchContainer> purgedItems)
        {
            if (!RefusesAtStop || _stops)
                return base.TryPurgeFromCache(out purgedItems);
            purgedItems = [];
            return false;
        }

        public override IQueueCacheCursor GetCacheCursor(StreamId streamId, StreamSequenceToken? token)
        {
            Interlocked.Increment(ref _registrations);
            return base.GetCacheCursor(streamId, token);
        }

        public IStreamQueueMapper GetStreamQueueMapper() => _mapper;

        public Task<IStreamFailureHandler> GetDeliveryFailureHandler(QueueId queueId) =>
            Task.FromResult<IStreamFailureHandler>(new NoOpStreamDeliveryFailureHandler());

        public Task QueueMessageBatchAsync<T>(
            StreamId streamId, IEnumerable<T> events, StreamSequenceToken? token, Dictionary<string, object>? requestContext) =>
                throw new NotSupportedException();

        public IQueueAdapterReceiver CreateReceiver(QueueId queueId) => this;

        public Task Initialize(TimeSpan timeout)
        {
            Limits.Enqueue(timeout);
            return Opens ? Task.CompletedTask : new TaskCompletionSource().Task;
        }

        public Task<IList<IBatchContainer>> GetQueueMessagesAsync(int maxCount)
        {
            Interlocked.Increment(ref _reads);
            return Task.FromResult<IList<IBatchContainer>>(Messages.TryDequeue(out var message) ? [message] : []);
        }

        public async Task<IList<IBatchContainer>> GetQueueMessagesAsync(int maxCount, CancellationToken cancellationToken)
        {
            if (!AnswersAtStop && !RefusesAtStop)
                return await GetQueueMessagesAsync(maxCount);
            if (Interlocked.Increment(ref _reads) == 1 && RefusesAtStop)
                return [new Batch(1)];
            var stopped = new TaskCompletionSource();
            await using (cancellationToken.Register(stopped.SetResult))
                await stopped.Task;
            _stops = true;
            return AnswersAtStop ? [new Batch(1)] : [];
        }

        public Task MessagesDeliveredAsync(IList<IBatchContainer> messages)
        {
            if (RefusesAtStop)
            {
                Refused++;
                throw new InvalidOperationException("on purpose");
            }

            Acknowledged += messages.Count;
            return Task.CompletedTask;
        }

        public Task Shutdown(TimeSpan timeout)
        {
            Shutdowns++;
            return Task.CompletedTask;
        }
    }
}
