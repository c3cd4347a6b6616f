using System.Collections.Concurrent;
using ActOp.Foundation;
using ActOp.Streams;
using ActOp.TestClusters;
using Orleans.Core.Internal;
using Orleans.Providers.Streams.Common;
using Orleans.Streams;
using Orleans.Streams.Core;

namespace ActOp.Streams.Tests;

/// <summary>What a <see cref="BadConsumerGrain"/> answers to a delivery.</summary>
public enum BadAnswer
{
    TakesLessThanNothing,
    TakesMoreThanItGot,
    WantsToBeginElsewhere,
    WantsToBeginNowhere,
    WantsBoth,
    Throws,
    MissesAClient,
    TakesAll,
}

/// <summary>A position of an application, which cannot be compared with those of memory streams.</summary>
[GenerateSerializer]
public sealed class Nowhere : StreamSequenceToken
{
    [Id(0)]
    public override long SequenceNumber { get; protected set; }

    [Id(1)]
    public override int EventIndex { get; protected set; }

    public override bool Equals(StreamSequenceToken? other) => other is Nowhere;

    public override int CompareTo(StreamSequenceToken? other) => throw new ArgumentOutOfRangeException(nameof(other));
}

public interface IBadConsumer : IGrainWithStringKey
{
    Task Answer(BadAnswer answer, string? gate = null);
}

/// <summary>A consumer that speaks the protocol of the agents itself, and badly.</summary>
internal sealed class BadConsumerGrain : Grain, IBadConsumer, IStreamConsumerExtension
{
    private BadAnswer _answer;
    private string? _gate;

    public Task Answer(BadAnswer answer, string? gate)
    {
        (_answer, _gate) = (answer, gate);
        return Task.CompletedTask;
    }

    public Task<DeliveryReport> Deliver(
        Guid subscription, QualifiedStreamId stream, DeliveryBatch batches, StreamSequenceToken? agreedStart) =>
            Task.FromResult(AnswerTo(batches));

    private DeliveryReport AnswerTo(DeliveryBatch batches) => _answer switch
    {
        BadAnswer.TakesLessThanNothing => new DeliveryReport(-1),
        BadAnswer.TakesMoreThanItGot => new DeliveryReport(1_000_000),
        BadAnswer.WantsToBeginElsewhere => new DeliveryReport(0, batches.Items[0].SequenceToken),
        BadAnswer.WantsToBeginNowhere => new DeliveryReport(0, new Nowhere()),
        BadAnswer.WantsBoth => new DeliveryReport(1, batches.Items[0].SequenceToken),
        BadAnswer.Throws => throw new InvalidOperationException("The consumer wants nothing."),
        BadAnswer.MissesAClient => throw new ClientNotAvailableException("A client that the consumer calls is gone."),
        _ => TakeAll(batches),
    };

    private DeliveryReport TakeAll(DeliveryBatch batches)
    {
        Box.Put(this.GetPrimaryKeyString(), "taken");
        return new DeliveryReport(batches.Items.Length);
    }

    public Task Fail(Guid subscription, QualifiedStreamId stream, Exception reason)
    {
        Box.Put(this.GetPrimaryKeyString(), reason.GetType().Name);
        return Task.CompletedTask;
    }

    public async Task<StreamSequenceToken?> GetStart(Guid subscription)
    {
        await Gate.PassAsync(_gate);
        return null;
    }
}

/// <summary>A silo with one queue of memory streams, whose cache is small and whose agent is impatient.</summary>
public sealed class NarrowStreams() : ClusterFixture(1)
{
    protected override void ConfigureSilo(ISiloBuilder silo) => silo
        .AddMemoryGrainStorage("PubSubStore")
        .AddMemoryStreams<Orleans.Providers.DefaultMemoryMessageBodySerializer>("narrow", static streams =>
        {
            streams.ConfigurePartitioning(1);
            streams.Configure<SimpleQueueCacheOptions>(static cache => cache.Configure(static options => options.CacheSize = 4));
            streams.ConfigurePullingAgent(static agent => agent.Configure(static options =>
                options.MaxEventDeliveryTime = TimeSpan.FromMilliseconds(20)));
        });

    protected override void ConfigureClient(IClientBuilder client) => client
        .AddMemoryStreams<Orleans.Providers.DefaultMemoryMessageBodySerializer>(
            "narrow", static streams => streams.ConfigurePartitioning(1));
}

/// <summary>No subscription holds the queue that it shares with others, whatever its consumer does.</summary>
public class StreamHoldTests(NarrowStreams cluster) : IClassFixture<NarrowStreams>
{
    private const string Provider = "narrow";

    [Theory]
    [InlineData(BadAnswer.TakesLessThanNothing)]
    [InlineData(BadAnswer.TakesMoreThanItGot)]
    [InlineData(BadAnswer.WantsToBeginElsewhere)]
    [InlineData(BadAnswer.WantsToBeginNowhere)]
    [InlineData(BadAnswer.WantsBoth)]
    [InlineData(BadAnswer.Throws)]
    public async Task A_consumer_that_answers_badly_does_not_hold_the_queue(BadAnswer answer)
    {
        var (good, box) = await NewConsumerAsync();
        var (bad, badBox) = await NewBadConsumerAsync(answer);
        for (var i = 0; i < 12; i++)
        {
            await good.OnNextAsync(i);
            await bad.OnNextAsync(i);
        }

        Assert.Equal(Numbers(0, 12), await box.ReceivedAsync(12));
        Assert.Contains(nameof(StreamEventDeliveryFailureException), await badBox.ReceivedAsync(2));
    }

    /// <summary>Only a consumer that is a client can be gone for ever.</summary>
    [Fact]
    public async Task A_grain_that_misses_a_client_keeps_its_subscription()
    {
        var (stream, box) = await NewBadConsumerAsync(BadAnswer.MissesAClient);
        await stream.OnNextAsync(1);
        Assert.Equal([nameof(StreamEventDeliveryFailureException)], await box.ReceivedAsync(1));
        await cluster.Client.GetGrain<IBadConsumer>(box.Name).Answer(BadAnswer.TakesAll);
        await stream.OnNextAsync(2);
        Assert.Equal("taken", (await box.ReceivedAsync(1))[^1]);
    }

    [Fact]
    public async Task A_consumer_may_begin_at_a_position_of_the_other_class()
    {
        var stream = NewStream();
        var (first, second) = (Box.New(), Box.New());
        var tokens = new ConcurrentQueue<StreamSequenceToken>();
        await stream.SubscribeAsync((item, token) =>
        {
            tokens.Enqueue(token!);
            Box.Put(first.Name, item.ToString());
            return Task.CompletedTask;
        });
        for (var i = 0; i < 3; i++)
            await stream.OnNextAsync(i);
        await first.ReceivedAsync(3);
        var grain = cluster.Client.GetGrain<IConsumer>(Guid.NewGuid());
        await grain.Subscribe(Provider, stream.StreamId, second.Name, new EventSequenceToken(tokens.ElementAt(1).SequenceNumber));
        Assert.Equal(Numbers(1, 2), await second.ReceivedAsync(2));
        for (var i = 3; i < 20; i++)
            await stream.OnNextAsync(i);
        Assert.Equal(Numbers(1, 19), await second.ReceivedAsync(17));
    }

    [Fact]
    public async Task A_position_of_an_unknown_class_is_told_to_the_observer_which_gets_the_next_items()
    {
        var stream = NewStream();
        var (first, second) = (Box.New(), Box.New());
        await cluster.Client.GetGrain<IConsumer>(Guid.NewGuid()).Subscribe(Provider, stream.StreamId, first.Name);
        await stream.OnNextAsync(0);
        await first.ReceivedAsync(1);
        await cluster.Client.GetGrain<IConsumer>(Guid.NewGuid()).Subscribe(Provider, stream.StreamId, second.Name, new Nowhere());
        Assert.Equal([nameof(ArgumentOutOfRangeException)], await second.ReceivedAsync(1));
        for (var i = 1; i < 20; i++)
            await stream.OnNextAsync(i);
        Assert.Equal(Numbers(0, 20), await first.ReceivedAsync(19));
    }

    [Fact]
    public async Task A_rewind_asked_for_while_the_consumer_is_being_asked_is_asked_about_too()
    {
        using var gate = new Gate();
        var (stream, box) = await NewBadConsumerAsync(BadAnswer.TakesAll);
        var subscription = Assert.Single(await Manager.GetSubscriptions(Provider, stream.StreamId));
        await stream.OnNextAsync(1);
        // The first question, of the registration, is over then.
        await box.ReceivedAsync(1);
        var grain = cluster.Client.GetGrain<IBadConsumer>(subscription.GrainId.Key.ToString());
        await grain.Answer(BadAnswer.TakesAll, gate.Name);
        await RegisterAgainAsync(stream, subscription);
        await gate.ArrivedAsync();
        await RegisterAgainAsync(stream, subscription);
        gate.Open();
        await gate.ArrivedAsync();
    }

    [Fact]
    public async Task A_subscription_that_is_taken_back_stays_at_no_agent()
    {
        var parts = cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<StreamNode>();
        var (kind, cross) = (new Agent(false), new Agent(true));
        var stream = new QualifiedStreamId(Provider, StreamId.Create("agents", Guid.NewGuid()));
        var rendezvous = parts.Grain<IPubSubRendezvousGrain>(stream.ToString());
        foreach (var agent in new[] { kind, cross })
            await rendezvous.RegisterProducer(stream, parts.AddObserver(agent).GrainId, 1);
        var id = StreamPubSub.Mark(Guid.NewGuid(), isImplicit: false);
        var entry = new SubscriptionEntry { Id = id, Consumer = cluster.Client.GetGrain<IBadConsumer>("x").GetGrainId() };
        await Assert.ThrowsAsync<InvalidOperationException>(() => rendezvous.RegisterConsumer(stream, entry));
        Assert.Empty(await rendezvous.GetSubscriptions());
        Assert.Equal([1, 1], new[] { kind.Added, cross.Added });
        Assert.Equal([1, 1], new[] { kind.Removed, cross.Removed });
    }

    /// <summary>Its silo is there, only the link to it was lost: an agent that is forgotten hears of no subscription any more.</summary>
    [Fact]
    public async Task An_agent_that_cannot_be_reached_for_a_moment_is_told_again()
    {
        var parts = cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<StreamNode>();
        var agent = new Agent(false) { Refusals = 1 };
        var stream = new QualifiedStreamId(Provider, StreamId.Create("agents", Guid.NewGuid()));
        var rendezvous = parts.Grain<IPubSubRendezvousGrain>(stream.ToString());
        await rendezvous.RegisterProducer(stream, parts.AddObserver(agent).GrainId, 1);
        var id = StreamPubSub.Mark(Guid.NewGuid(), isImplicit: false);
        var entry = new SubscriptionEntry { Id = id, Consumer = cluster.Client.GetGrain<IBadConsumer>("x").GetGrainId() };
        await rendezvous.RegisterConsumer(stream, entry);
        Assert.Equal(1, agent.Added);
        agent.Refusals = 1;
        await rendezvous.UnregisterConsumer(stream, entry.Id);
        Assert.Equal(1, agent.Removed);
        Assert.Equal(1, await rendezvous.ProducerCount());
    }

    /// <summary>The consumer unsubscribes, or resumes with another observer, while the first one has an item.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_delivery_under_way_ends_with_its_observer(bool isReplaced)
    {
        var consumers = new StreamConsumers(cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<StreamNode>(), null);
        var (id, stream) = (Guid.NewGuid(), new QualifiedStreamId(Provider, StreamId.Create("agents", Guid.NewGuid())));
        List<int> heard = [], heardByOther = [];
        consumers.Attach(id, new StreamAttachment<int>(
            new Listener(item =>
            {
                heard.Add(item);
                if (isReplaced)
                    consumers.Attach(id, new StreamAttachment<int>(new Listener(heardByOther.Add), null, null, 1));
                else
                    consumers.Detach(id);
            }),
            null, null, 1));
        var batches = new DeliveryBatch([new Pair(stream.StreamId, 1), new Pair(stream.StreamId, 3)]);
        Assert.Equal(0, (await consumers.Deliver(id, stream, batches, null)).Taken);
        Assert.Equal(2, (await consumers.Deliver(id, stream, batches, null)).Taken);
        Assert.Equal([1], heard);
        Assert.Equal(isReplaced ? [1, 2, 3, 4] : [], heardByOther);
    }

    /// <summary>It has forgotten the stream, and has got a new batch of it before the rendezvous heard of that.</summary>
    [Fact]
    public async Task An_agent_that_has_registered_again_stays_when_its_earlier_end_comes_late()
    {
        var parts = cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<StreamNode>();
        var agent = new Agent(false);
        var id = parts.AddObserver(agent).GrainId;
        var stream = new QualifiedStreamId(Provider, StreamId.Create("agents", Guid.NewGuid()));
        var rendezvous = parts.Grain<IPubSubRendezvousGrain>(stream.ToString());
        await rendezvous.RegisterProducer(stream, id, 1);
        await rendezvous.RegisterProducer(stream, id, 2);
        await rendezvous.RegisterProducer(stream, id, 1);
        await rendezvous.UnregisterProducer(stream, id, 1);
        Assert.Equal(1, await rendezvous.ProducerCount());
        // The number is stored.
        await rendezvous.AsReference<IGrainManagementExtension>().DeactivateOnIdle();
        await rendezvous.UnregisterProducer(stream, id, 1);
        Assert.Equal(1, await rendezvous.ProducerCount());
        await rendezvous.UnregisterProducer(stream, id, 2);
        Assert.Equal(0, await rendezvous.ProducerCount());
        GC.KeepAlive(agent);
    }

    /// <summary>The rendezvous may be on a silo that knows less than the one on which it was before.</summary>
    [Fact]
    public async Task An_agent_on_a_silo_that_the_view_does_not_list_yet_stays_and_one_on_a_dead_silo_does_not()
    {
        var parts = cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<StreamNode>();
        var here = cluster.AddressOf(0);
        var newcomer = SystemGrainIds.Observer(SiloAddress.New(System.Net.IPEndPoint.Parse("10.9.8.7:11111"), 1), Guid.NewGuid());
        var dead = SystemGrainIds.Observer(SiloAddress.New(here.Endpoint, here.Generation - 1), Guid.NewGuid());
        var agent = new Agent(false);
        var stream = new QualifiedStreamId(Provider, StreamId.Create("agents", Guid.NewGuid()));
        var rendezvous = parts.Grain<IPubSubRendezvousGrain>(stream.ToString());
        await rendezvous.RegisterProducer(stream, newcomer, 1);
        await rendezvous.RegisterProducer(stream, dead, 1);
        await rendezvous.RegisterProducer(stream, parts.AddObserver(agent).GrainId, 1);
        Assert.Equal(2, await rendezvous.ProducerCount());
        GC.KeepAlive(agent);
    }

    [Fact]
    public async Task Subscriptions_are_stored_also_while_no_agent_reads_the_stream_and_what_has_ended_does_not_come_back()
    {
        var parts = cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<StreamNode>();
        var stream = new QualifiedStreamId(Provider, StreamId.Create("agents", Guid.NewGuid()));
        var rendezvous = parts.Grain<IPubSubRendezvousGrain>(stream.ToString());
        var consumer = cluster.Client.GetGrain<IBadConsumer>("x").GetGrainId();
        var entries = new[] { Guid.NewGuid(), Guid.NewGuid() }.Select(id => new SubscriptionEntry { Id = id, Consumer = consumer }).ToArray();
        foreach (var entry in entries)
            await rendezvous.RegisterConsumer(stream, entry);
        await rendezvous.AsReference<IGrainManagementExtension>().DeactivateOnIdle();
        Assert.Equal(entries.Select(static one => one.Id), (await rendezvous.GetSubscriptions()).Select(static one => one.Id));

        await rendezvous.UnregisterConsumer(stream, entries[0].Id);
        await rendezvous.AsReference<IGrainManagementExtension>().DeactivateOnIdle();
        Assert.Equal(entries[1].Id, Assert.Single(await rendezvous.GetSubscriptions()).Id);
    }

    private IStreamSubscriptionManager Manager => cluster.ClientOf(0).ServiceProvider.GetRequiredService<IStreamSubscriptionManagerAdmin>()
        .GetStreamSubscriptionManager(StreamSubscriptionManagerType.ExplicitSubscribeOnly);

    private static string[] Numbers(int from, int count) => [.. Enumerable.Range(from, count).Select(static one => one.ToString())];

    private IAsyncStream<int> NewStream() =>
        cluster.Client.GetStreamProvider(Provider).GetStream<int>(StreamId.Create("narrow", Guid.NewGuid()));

    private async Task<(IAsyncStream<int> Stream, Box Box)> NewConsumerAsync()
    {
        var (stream, box) = (NewStream(), Box.New());
        await cluster.Client.GetGrain<IConsumer>(Guid.NewGuid()).Subscribe(Provider, stream.StreamId, box.Name);
        return (stream, box);
    }

    /// <summary>The box gets the failures that the consumer is told of.</summary>
    private async Task<(IAsyncStream<int> Stream, Box Box)> NewBadConsumerAsync(BadAnswer answer)
    {
        var (stream, box) = (NewStream(), Box.New());
        var grain = cluster.Client.GetGrain<IBadConsumer>(box.Name);
        await grain.Answer(answer);
        await Manager.AddSubscription(Provider, stream.StreamId, (GrainReference)grain);
        return (stream, box);
    }

    private async Task RegisterAgainAsync(IAsyncStream<int> stream, StreamSubscription subscription)
    {
        var parts = cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<StreamNode>();
        var qualified = new QualifiedStreamId(Provider, stream.StreamId);
        await parts.Grain<IPubSubRendezvousGrain>(qualified.ToString()).RegisterConsumer(
            qualified, new SubscriptionEntry { Id = subscription.SubscriptionId, Consumer = subscription.GrainId });
    }

    private sealed class Listener(Action<int> heard) : IAsyncObserver<int>
    {
        public Task OnNextAsync(int item, StreamSequenceToken? token = null)
        {
            heard(item);
            return Task.CompletedTask;
        }

        public Task OnCompletedAsync() => Task.CompletedTask;

        public Task OnErrorAsync(Exception ex) => Task.CompletedTask;
    }

    /// <summary>Two numbers.</summary>
    private sealed class Pair(StreamId stream, int first) : IBatchContainer
    {
        public StreamId StreamId => stream;

        public StreamSequenceToken SequenceToken => new EventSequenceTokenV2(first);

        public IEnumerable<Tuple<T, StreamSequenceToken>> GetEvents<T>() => new[] { first, first + 1 }.Select((item, index) =>
            Tuple.Create((T)(object)item, (StreamSequenceToken)new EventSequenceTokenV2(first, index)));

        public bool ImportRequestContext() => false;
    }

    /// <summary>An agent that counts; a cross one answers with an exception.</summary>
    private sealed class Agent(bool isCross) : IStreamAgent
    {
        internal int Added { get; private set; }

        internal int Removed { get; private set; }

        /// <summary>So many calls fail as if the link were lost.</summary>
        internal int Refusals { get; set; }

        public Task AddSubscriber(SubscriptionEntry subscription, StreamId stream)
        {
            if (Refusals-- > 0)
                throw new SiloUnavailableException("The link is lost.");
            Added++;
            return isCross ? throw new InvalidOperationException("The agent has noted it, and fails.") : Task.CompletedTask;
        }

        public Task RemoveSubscriber(Guid subscription, StreamId stream)
        {
            if (Refusals-- > 0)
                throw new SiloUnavailableException("The link is lost.");
            Removed++;
            return Task.CompletedTask;
        }
    }
}
