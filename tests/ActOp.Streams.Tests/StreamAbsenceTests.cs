using ActOp.Streams;
using ActOp.TestClusters;
using Orleans.Streams;

namespace ActOp.Streams.Tests;

/// <summary>A silo in virtual time with one queue for each of two providers. Agents of "hasty" give an item up after a second.</summary>
public sealed class StillStreams : VirtualTime
{
    protected override void ConfigureSilo(ISiloBuilder silo)
    {
        base.ConfigureSilo(silo);
        // Only what is tested ends in time: the clock passes faster than a busy machine calls.
        silo.Configure<SiloMessagingOptions>(static options => options.ResponseTimeout = TimeSpan.FromHours(1));
        silo.AddMemoryGrainStorage("PubSubStore");
        silo.AddMemoryStreams("patient", static streams => streams.ConfigurePartitioning(1));
        silo.AddMemoryStreams("hasty", static streams =>
        {
            streams.ConfigurePartitioning(1);
            streams.ConfigurePullingAgent(static agent => agent.Configure(static options =>
                options.MaxEventDeliveryTime = TimeSpan.FromSeconds(1)));
        });
    }
}

/// <summary>
/// Clients that consume, and that the silo does not know. A silo that has just joined knows none: they learn of it, and dial it, a little
/// later.
/// </summary>
public class StreamAbsenceTests(StillStreams cluster) : IClassFixture<StillStreams>
{
    private static readonly TimeSpan Slice = TimeSpan.FromMilliseconds(100);

    private StreamNode Parts => cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<StreamNode>();

    [Theory]
    [InlineData("patient")]
    [InlineData("hasty")]
    public async Task A_client_that_is_unknown_for_a_moment_keeps_its_subscription(string provider)
    {
        var (client, stream, rendezvous) = await SubscribeAsync(provider);
        client.IsAway = true;
        await stream.OnNextAsync(1);
        var end = cluster.Clock.GetUtcNow() + TimeSpan.FromSeconds(5);
        await PassUntilAsync(() => client.RefusedAt is not null && cluster.Clock.GetUtcNow() >= end);
        client.IsAway = false;
        await stream.OnNextAsync(2);
        await PassUntilAsync(() => client.Box.Items.Contains("2"));
        Assert.Single(await rendezvous.GetSubscriptions());
        // What could not be delivered is repeated for as long as for other consumers.
        Assert.Equal(provider == "hasty" ? ["2"] : ["1", "2"], client.Box.Items);
    }

    /// <summary>Also if there are no more items: the last one was given up long before.</summary>
    [Theory]
    [InlineData("patient")]
    [InlineData("hasty")]
    public async Task A_client_that_stays_unknown_loses_its_subscription(string provider)
    {
        var (client, stream, rendezvous) = await SubscribeAsync(provider);
        var (other, _, _) = await SubscribeAsync(provider, stream);
        client.IsAway = true;
        await stream.OnNextAsync(1);
        await PassUntilAsync(() => client.RefusedAt is not null && other.Box.Items.Contains("1"));
        var count = 2;
        await PassUntilAsync(() => count == 1, async () => count = (await rendezvous.GetSubscriptions()).Count);
        Assert.InRange(cluster.Clock.GetUtcNow() - client.RefusedAt!.Value, TimeSpan.FromSeconds(9.5), TimeSpan.FromSeconds(60));
        await stream.OnNextAsync(2);
        await PassUntilAsync(() => other.Box.Items.Contains("2"));
        Assert.Empty(client.Box.Items);
    }

    private Task PassUntilAsync(Func<bool> isReached, Func<Task>? look = null) => TestingUtils.WaitUntilAsync(
        async _ =>
        {
            if (isReached())
                return true;
            cluster.Clock.Advance(Slice);
            if (look is not null)
                await look();
            return isReached();
        },
        Gate.Patience, TimeSpan.FromMilliseconds(10));

    private async Task<(Client Client, IAsyncStream<int> Stream, IPubSubRendezvousGrain Rendezvous)> SubscribeAsync(
        string provider, IAsyncStream<int>? known = null)
    {
        var stream = known ?? cluster.Silo.GetStreamProvider(provider).GetStream<int>(StreamId.Create("clients", Guid.NewGuid()));
        var client = new Client(cluster.Clock, Parts.Source(provider).Adapter);
        var host = Parts.AddObserver(client);
        host.SetComponent<IStreamConsumerExtension>(client);
        var qualified = new QualifiedStreamId(provider, stream.StreamId);
        var rendezvous = Parts.Grain<IPubSubRendezvousGrain>(qualified.ToString());
        await rendezvous.RegisterConsumer(qualified, new SubscriptionEntry
        {
            Id = StreamPubSub.Mark(Guid.NewGuid(), isImplicit: false),
            Consumer = host.GrainId,
        });
        return (client, stream, rendezvous);
    }

    /// <summary>Stands for a client. While it is away, calls of it end as those of a client without a link to this silo.</summary>
    private sealed class Client(FakeClock clock, IQueueAdapter adapter) : IGrainObserver, IStreamConsumerExtension
    {
        private volatile bool _isAway;

        internal Box Box { get; } = Box.New();

        internal bool IsAway
        {
            set => _isAway = value;
        }

        /// <summary>When a delivery has failed first.</summary>
        internal DateTimeOffset? RefusedAt { get; private set; }

        public Task<DeliveryReport> Deliver(
            Guid subscription, QualifiedStreamId stream, DeliveryBatch batches, StreamSequenceToken? agreedStart)
        {
            if (_isAway)
            {
                RefusedAt ??= clock.GetUtcNow();
                throw Unknown();
            }

            foreach (var batch in batches.Items)
            {
                var bound = ((IBoundBatch)batch).Bind(adapter);
                foreach (var (item, _) in bound.GetEvents<int>())
                    Box.Put(Box.Name, item.ToString());
            }

            return Task.FromResult(new DeliveryReport(batches.Items.Length));
        }

        public Task Fail(Guid subscription, QualifiedStreamId stream, Exception reason) => _isAway ? throw Unknown() : Task.CompletedTask;

        public Task<StreamSequenceToken?> GetStart(Guid subscription) =>
            _isAway ? throw Unknown() : Task.FromResult<StreamSequenceToken?>(null);

        private static ClientNotAvailableException Unknown() => new("The client is not connected to this silo.");
    }
}
