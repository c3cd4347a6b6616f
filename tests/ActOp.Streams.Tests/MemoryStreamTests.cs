using ActOp.TestClusters;
using Orleans.Providers;
using Orleans.Providers.Streams.Common;
using Orleans.Streams;
using Orleans.Streams.Core;

namespace ActOp.Streams.Tests;

/// <summary>Two silos and a client with memory streams.</summary>
public sealed class StreamingSilos() : ClusterFixture(2)
{
    protected override void ConfigureSilo(ISiloBuilder silo) => silo
        .AddMemoryGrainStorage("PubSubStore")
        .AddMemoryStreams("memory")
        .AddMemoryStreams("impatient", static streams => streams.ConfigurePullingAgent(static agent => agent.Configure(static options =>
            options.MaxEventDeliveryTime = TimeSpan.FromMilliseconds(300))))
        .AddMemoryStreams<DefaultMemoryMessageBodySerializer>("batches", streams =>
        {
            streams.ConfigurePartitioning(2);
            streams.ConfigurePullingAgent(agent => agent.Configure(options => options.BatchContainerBatchSize = 10));
        })
        .AddMemoryStreams("implicit only", static streams => streams.ConfigureStreamPubSub(StreamPubSubType.ImplicitOnly));

    protected override void ConfigureClient(IClientBuilder client) => client
        .AddMemoryStreams("memory")
        .AddMemoryStreams("impatient")
        .AddMemoryStreams<DefaultMemoryMessageBodySerializer>("batches", static streams => streams.ConfigurePartitioning(2))
        .AddMemoryStreams("implicit only", static streams => streams.ConfigureStreamPubSub(StreamPubSubType.ImplicitOnly));
}

public class MemoryStreamTests(StreamingSilos cluster) : IClassFixture<StreamingSilos>
{
    private const string Provider = "memory";

    private IStreamProvider Streams => cluster.Client.GetStreamProvider(Provider);

    [Fact]
    public async Task A_grain_gets_what_a_grain_produces_in_order()
    {
        var (stream, box) = NewStream();
        var consumer = NewConsumer();
        var handle = await consumer.Subscribe(Provider, stream.StreamId, box.Name);
        Assert.Equal(stream.StreamId, handle.StreamId);
        await cluster.Client.GetGrain<IProducer>(Guid.NewGuid()).Produce(stream, 0, 500);
        Assert.Equal(Numbers(0, 500), await box.ReceivedAsync(500));
    }

    [Fact]
    public async Task A_client_produces_and_consumes()
    {
        var (stream, box) = NewStream();
        var handle = await stream.SubscribeAsync((item, token) =>
        {
            Assert.IsType<EventSequenceTokenV2>(token);
            Box.Put(box.Name, item.ToString());
            return Task.CompletedTask;
        });
        await stream.OnNextAsync(1);
        await stream.OnNextBatchAsync([2, 3, 4]);
        Assert.Equal(Numbers(1, 4), await box.ReceivedAsync(4));
        await handle.UnsubscribeAsync();
        await Assert.ThrowsAsync<InvalidOperationException>(handle.UnsubscribeAsync);
        Assert.Empty(await stream.GetAllSubscriptionHandles());
    }

    [Fact]
    public async Task Every_subscription_gets_every_item_and_none_after_its_end()
    {
        var (stream, first) = NewStream();
        var second = Box.New();
        var (one, other) = (NewConsumer(), NewConsumer());
        var handle = await one.Subscribe(Provider, stream.StreamId, first.Name);
        await other.Subscribe(Provider, stream.StreamId, second.Name);
        await stream.OnNextAsync(1);
        await first.ReceivedAsync(1);
        await second.ReceivedAsync(1);
        await one.Unsubscribe(handle);
        await stream.OnNextAsync(2);
        Assert.Equal(["1", "2"], await second.ReceivedAsync(1));
        Assert.Equal(["1"], first.Items);
    }

    [Fact]
    public async Task A_subscription_survives_the_activation_of_its_consumer_and_is_resumed()
    {
        var (stream, box) = NewStream();
        var consumer = NewConsumer();
        await consumer.Subscribe(Provider, stream.StreamId, box.Name);
        await stream.OnNextAsync(1);
        await box.ReceivedAsync(1);
        await consumer.End();
        Assert.Equal(1, await consumer.Resume(Provider, stream.StreamId, box.Name));
        await stream.OnNextAsync(2);
        Assert.Equal(["1", "2"], await box.ReceivedAsync(1));
    }

    [Fact]
    public async Task A_handle_travels_and_is_resumed_where_it_arrives()
    {
        var (stream, box) = NewStream();
        var consumer = NewConsumer();
        var handle = await consumer.Subscribe(Provider, stream.StreamId, "nowhere");
        await consumer.End();
        await consumer.ResumeHandle(handle, box.Name);
        await stream.OnNextAsync(7);
        Assert.Equal(["7"], await box.ReceivedAsync(1));
    }

    [Fact]
    public async Task A_consumer_begins_at_an_earlier_item()
    {
        var (stream, box) = NewStream();
        var consumer = NewConsumer();
        var tokens = new List<StreamSequenceToken>();
        var seen = Box.New();
        await stream.SubscribeAsync((item, token) =>
        {
            tokens.Add(token!);
            Box.Put(seen.Name, item.ToString());
            return Task.CompletedTask;
        });
        for (var i = 0; i < 5; i++)
            await stream.OnNextAsync(i);
        await seen.ReceivedAsync(5);
        await consumer.Subscribe(Provider, stream.StreamId, box.Name, tokens[2]);
        Assert.Equal(["2", "3", "4"], await box.ReceivedAsync(3));
        await consumer.Resume(Provider, stream.StreamId, box.Name, tokens[1]);
        Assert.Equal(["2", "3", "4", "1", "2", "3", "4"], await box.ReceivedAsync(4));
    }

    [Fact]
    public async Task A_consumer_of_batches_gets_lists()
    {
        var stream = cluster.Client.GetStreamProvider("batches").GetStream<int>(StreamId.Create("numbers", Guid.NewGuid()));
        var box = Box.New();
        await NewConsumer().SubscribeBatches(stream, box.Name);
        await stream.OnNextBatchAsync([1, 2, 3]);
        Assert.Equal(["1+2+3"], await box.ReceivedAsync(1));
    }

    [Theory]
    [InlineData("batches", "1+2+3+4")]
    [InlineData("memory", "1")]
    public async Task Batches_are_joined_for_a_consumer_of_batches_as_far_as_the_option_says(string provider, string first)
    {
        var stream = cluster.ClientOf(0).GetStreamProvider(provider).GetStream<int>(StreamId.Create("joined", Guid.NewGuid()));
        var (seen, box) = (Box.New(), Box.New());
        var tokens = new List<StreamSequenceToken>();
        await stream.SubscribeAsync((item, token) =>
        {
            tokens.Add(token!);
            Box.Put(seen.Name, item.ToString());
            return Task.CompletedTask;
        });
        for (var i = 1; i <= 4; i++)
            await stream.OnNextAsync(i);
        await seen.ReceivedAsync(4);
        // All of them are in the cache now.
        await stream.SubscribeAsync(new Lists(box.Name), tokens[0]);
        Assert.Equal(first, (await box.ReceivedAsync(1))[0]);
    }

    [Fact]
    public async Task An_item_whose_consumer_fails_is_delivered_again()
    {
        var (stream, box) = NewStream();
        var consumer = NewConsumer();
        await consumer.Subscribe(Provider, stream.StreamId, box.Name);
        await consumer.FailNext(2);
        await stream.OnNextAsync(1);
        await stream.OnNextAsync(2);
        Assert.Equal(["1", "2"], await box.ReceivedAsync(2));
    }

    [Fact]
    public async Task An_item_that_cannot_be_delivered_in_time_is_skipped_and_its_observer_is_told()
    {
        var (stream, box) = NewStream("impatient");
        var consumer = NewConsumer();
        await consumer.Subscribe("impatient", stream.StreamId, box.Name);
        await consumer.FailNext(1_000_000);
        await stream.OnNextAsync(1);
        Assert.Equal([nameof(StreamEventDeliveryFailureException)], await box.ReceivedAsync(1));
        await consumer.FailNext(0);
        await stream.OnNextAsync(2);
        Assert.Equal("2", (await box.ReceivedAsync(1))[^1]);
    }

    [Fact]
    public async Task A_grain_with_an_implicit_subscription_is_told_and_gets_the_context_of_the_producer()
    {
        var box = Box.New();
        var key = Guid.NewGuid();
        var stream = cluster.Client.GetStreamProvider("implicit only").GetStream<string>(StreamId.Create("implicit", key));
        RequestContext.Set("who", "the producer");
        await stream.OnNextAsync(box.Name + ":a");
        RequestContext.Clear();
        await stream.OnNextAsync(box.Name + ":end");
        Assert.Equal(["a of the producer", "end"], await box.ReceivedAsync(2));
        await stream.OnNextAsync(box.Name + ":b");
        await box.ReceivedAsync(1);
        Assert.Equal(2, await cluster.Client.GetGrain<IImplicit>(key).Activations());
    }

    [Fact]
    public async Task A_pattern_subscribes_to_the_namespaces_that_match()
    {
        var box = Box.New();
        var key = Guid.NewGuid();
        await Streams.GetStream<string>("pattern-12", key).OnNextAsync(box.Name + ":yes");
        await Streams.GetStream<string>("pattern-x", key).OnNextAsync(box.Name + ":no");
        Assert.Equal(["yes"], await box.ReceivedAsync(1));
    }

    [Fact]
    public async Task A_grain_attaches_to_its_implicit_subscription_when_it_is_activated()
    {
        var box = Box.New();
        await Streams.GetStream<string>("attached", box.Name).OnNextAsync("hello");
        Assert.Equal(["hello"], await box.ReceivedAsync(1));
    }

    [Fact]
    public async Task A_manager_subscribes_grains_and_lists_and_ends_their_subscriptions()
    {
        var key = Guid.NewGuid();
        var stream = StreamId.Create("managed", key);
        var manager = cluster.ClientOf(0).ServiceProvider.GetRequiredService<IStreamSubscriptionManagerAdmin>()
            .GetStreamSubscriptionManager(StreamSubscriptionManagerType.ExplicitSubscribeOnly);
        var grain = (GrainReference)cluster.Client.GetGrain<IImplicit>(key);
        var subscription = await manager.AddSubscription(Provider, stream, grain);
        Assert.Equal(grain.GrainId, subscription.GrainId);
        Assert.Equal([subscription], await manager.GetSubscriptions(Provider, stream));
        var box = Box.New();
        await Streams.GetStream<string>(stream).OnNextAsync(box.Name + ":managed");
        Assert.Equal(["managed"], await box.ReceivedAsync(1));
        await manager.RemoveSubscription(Provider, stream, subscription.SubscriptionId);
        Assert.Empty(await manager.GetSubscriptions(Provider, stream));
    }

    [Fact]
    public void Streams_compare_by_provider_and_id()
    {
        var id = StreamId.Create("ns", 42L);
        Assert.Equal(Streams.GetStream<int>(id), Streams.GetStream<int>("ns", 42L));
        Assert.NotEqual(Streams.GetStream<int>(id), cluster.Client.GetStreamProvider("batches").GetStream<int>(id));
        Assert.True(Streams.GetStream<int>(id).CompareTo(Streams.GetStream<int>("ns", "z")) < 0);
        Assert.Throws<KeyNotFoundException>(() => cluster.Client.GetStreamProvider("unknown"));
    }

    private static string[] Numbers(int from, int count) => [.. Enumerable.Range(from, count).Select(static one => one.ToString())];

    private (IAsyncStream<int> Stream, Box Box) NewStream(string provider = Provider) =>
        (cluster.Client.GetStreamProvider(provider).GetStream<int>(StreamId.Create("numbers", Guid.NewGuid())), Box.New());

    private IConsumer NewConsumer() => cluster.Client.GetGrain<IConsumer>(Guid.NewGuid());

    private sealed class Lists(string box) : IAsyncBatchObserver<int>
    {
        public Task OnNextAsync(IList<SequentialItem<int>> items)
        {
            Box.Put(box, string.Join('+', items.Select(static one => one.Item)));
            return Task.CompletedTask;
        }

        public Task OnCompletedAsync() => Task.CompletedTask;

        public Task OnErrorAsync(Exception ex) => Task.CompletedTask;
    }
}
