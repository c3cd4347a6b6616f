using Microsoft.Extensions.DependencyInjection;
using Orleans.Streams;
using Orleans.Streams.Core;

namespace DropIn;

public interface IProducer : IGrainWithStringKey
{
    Task Produce(string name, params string[] items);
}

public sealed class ProducerGrain : Grain, IProducer
{
    public async Task Produce(string name, params string[] items)
    {
        var stream = this.GetStreamProvider("streams").GetStream<string>(StreamId.Create(name, this.GetPrimaryKeyString()));
        foreach (var item in items)
            await stream.OnNextAsync(item);
    }
}

public interface IConsumer : IGrainWithStringKey
{
    Task<Guid> Subscribe(string name, string key);

    Task<int> Resume(string name, string key, StreamSequenceToken? token);

    Task<int> Unsubscribe(string name, string key);

    Task<StreamSequenceToken?> LastToken();

    Task End();
}

/// <summary>Subscribes when it is told to, and notes what it gets under its key.</summary>
public sealed class ConsumerGrain : Grain, IConsumer, IAsyncObserver<string>
{
    private StreamSequenceToken? _last;

    /// <summary>An item may begin the activation: it comes when this has ended.</summary>
    public override async Task OnActivateAsync(CancellationToken cancellationToken)
    {
        if (this.GetPrimaryKeyString().EndsWith(" resumes", StringComparison.Ordinal))
            await Resume("resumed", this.GetPrimaryKeyString(), null);
    }

    public async Task<Guid> Subscribe(string name, string key) => (await StreamOf(name, key).SubscribeAsync(this)).HandleId;

    public async Task<int> Resume(string name, string key, StreamSequenceToken? token)
    {
        var handles = await StreamOf(name, key).GetAllSubscriptionHandles();
        foreach (var handle in handles)
            await handle.ResumeAsync(this, token);
        return handles.Count;
    }

    public async Task<int> Unsubscribe(string name, string key)
    {
        var handles = await StreamOf(name, key).GetAllSubscriptionHandles();
        foreach (var handle in handles)
            await handle.UnsubscribeAsync();
        return (await StreamOf(name, key).GetAllSubscriptionHandles()).Count;
    }

    public Task<StreamSequenceToken?> LastToken() => Task.FromResult(_last);

    public Task End()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public Task OnNextAsync(string item, StreamSequenceToken? token = null)
    {
        _last = token;
        Journal.Of(this.GetPrimaryKeyString()).Add(item);
        return Task.CompletedTask;
    }

    public Task OnCompletedAsync() => Task.CompletedTask;

    public Task OnErrorAsync(Exception ex)
    {
        Journal.Of(this.GetPrimaryKeyString()).Add("error " + ex.GetType().Name);
        return Task.CompletedTask;
    }

    private IAsyncStream<string> StreamOf(string name, string key) =>
        this.GetStreamProvider("streams").GetStream<string>(StreamId.Create(name, key));
}

public interface IImplicitConsumer : IGrainWithStringKey;

/// <summary>Gets what is sent to the stream with its key.</summary>
[ImplicitStreamSubscription("implicit")]
public sealed class ImplicitConsumerGrain : Grain, IImplicitConsumer, IStreamSubscriptionObserver, IAsyncObserver<string>
{
    public async Task OnSubscribed(IStreamSubscriptionHandleFactory handleFactory)
    {
        Journal.Of(this.GetPrimaryKeyString()).Add($"subscribed {handleFactory.ProviderName} {handleFactory.StreamId.GetNamespace()}");
        await handleFactory.Create<string>().ResumeAsync(this);
    }

    public Task OnNextAsync(string item, StreamSequenceToken? token = null)
    {
        Journal.Of(this.GetPrimaryKeyString()).Add(item);
        return Task.CompletedTask;
    }

    public Task OnCompletedAsync() => Task.CompletedTask;

    public Task OnErrorAsync(Exception ex) => Task.CompletedTask;
}

public interface IBatchConsumer : IGrainWithGuidKey;

[RegexImplicitStreamSubscription("^batch[0-9]$")]
public sealed class BatchConsumerGrain : Grain, IBatchConsumer
{
    public override async Task OnActivateAsync(CancellationToken cancellationToken)
    {
        var key = this.GetPrimaryKey();
        var stream = this.GetStreamProvider("streams").GetStream<int>(StreamId.Create("batch7", key));
        await stream.SubscribeAsync((IList<SequentialItem<int>> items) =>
        {
            foreach (var item in items)
                Journal.Of(key.ToString("N")).Add($"{item.Item}");
            return Task.CompletedTask;
        });
    }
}

internal sealed class NotingObserver(Func<string, Task> note) : IAsyncObserver<string>
{
    public Task OnNextAsync(string item, StreamSequenceToken? token = null) => note(item);

    public Task OnCompletedAsync() => Task.CompletedTask;

    public Task OnErrorAsync(Exception ex) => note("error " + ex.GetType().Name);
}

internal sealed class NotingBatchObserver(Action<string> note) : IAsyncBatchObserver<string>
{
    public Task OnNextAsync(IList<SequentialItem<string>> items)
    {
        foreach (var item in items)
            note(item.Item);
        return Task.CompletedTask;
    }

    public Task OnCompletedAsync() => Task.CompletedTask;

    public Task OnErrorAsync(Exception ex) => Task.CompletedTask;
}

/// <summary>Streams in memory, of a provider with the name "streams".</summary>
public class StreamTests(CommonCluster cluster)
{
    private readonly (Journal Journal, string Name) _made = Journal.Create();

    private string Name => _made.Name;

    private IAsyncStream<string> Stream(string name) =>
        cluster.Client.GetStreamProvider("streams").GetStream<string>(StreamId.Create(name, Name));

    [Fact]
    public async Task An_explicit_subscription_gets_the_items_in_order_until_it_ends()
    {
        var consumer = cluster.Client.GetGrain<IConsumer>(Name);
        var handle = await consumer.Subscribe("explicit", Name);
        Assert.NotEqual(Guid.Empty, handle);
        await cluster.Client.GetGrain<IProducer>(Name).Produce("explicit", "a", "b");
        await Stream("explicit").OnNextAsync("c");
        await _made.Journal.HasAsync("c");
        Assert.Equal(["a", "b", "c"], _made.Journal.Lines);
        Assert.Equal(0, await consumer.Unsubscribe("explicit", Name));
        await Stream("explicit").OnNextAsync("d");
        Assert.Empty(await Stream("explicit").GetAllSubscriptionHandles());
        Assert.DoesNotContain("d", _made.Journal.Lines);
    }

    [Fact]
    public async Task A_subscription_outlives_the_activation_and_is_resumed()
    {
        var key = Name + " resumes";
        var consumer = cluster.Client.GetGrain<IConsumer>(key);
        await consumer.Subscribe("resumed", key);
        var stream = cluster.Client.GetStreamProvider("streams").GetStream<string>(StreamId.Create("resumed", key));
        await stream.OnNextAsync("before");
        await Journal.Of(key).HasAsync("before");
        var ended = cluster.Cluster.WaitForDeactivationAsync(consumer);
        await consumer.End();
        await ended;
        await stream.OnNextAsync("after");
        await Journal.Of(key).HasAsync("after");
        Assert.Equal(["before", "after"], Journal.Of(key).Lines.Distinct());
    }

    [Fact]
    public async Task A_subscription_can_go_back_to_a_token()
    {
        var consumer = cluster.Client.GetGrain<IConsumer>(Name);
        await consumer.Subscribe("rewound", Name);
        await Stream("rewound").OnNextAsync("a");
        await _made.Journal.HasAsync("a");
        var token = await consumer.LastToken();
        Assert.NotNull(token);
        await Stream("rewound").OnNextAsync("b");
        await _made.Journal.HasAsync("b");
        Assert.True(Stream("rewound").IsRewindable);
        await consumer.Resume("rewound", Name, token);
        await Stream("rewound").OnNextAsync("c");
        await _made.Journal.HasAsync("c");
        Assert.Equal(["a", "b", "a", "b", "c"], _made.Journal.Lines);
        Assert.Equal(0, token.CompareTo(token));
        Assert.True((await consumer.LastToken())!.Newer(token));
    }

    [Theory]
    [InlineData("streams", StreamSubscriptionStartPosition.EarliestAvailable, "a b c")]
    [InlineData("streams", StreamSubscriptionStartPosition.Latest, "c")]
    [InlineData("streams", null, "c")]
    [InlineData("early", StreamSubscriptionStartPosition.Latest, "c")]
    [InlineData("early", null, "a b c")]
    public async Task A_subscription_begins_with_the_oldest_item_that_is_there_if_it_or_the_provider_says_so(
        string provider, StreamSubscriptionStartPosition? start, string expected)
    {
        var stream = cluster.Client.GetStreamProvider(provider).GetStream<string>(StreamId.Create("places", Name));
        await stream.SubscribeAsync((item, _) => Note("first " + item));
        await stream.OnNextAsync("a");
        await stream.OnNextAsync("b");
        await _made.Journal.HasAsync("first b");
        var late = new NotingObserver(item => Note("late " + item));
        await (start is { } place ? stream.SubscribeAsync(late, place) : stream.SubscribeAsync(late));
        await stream.OnNextAsync("c");
        await _made.Journal.HasAsync("late c");
        Assert.Equal(expected.Split(' ').Select(static item => "late " + item), _made.Journal.Lines.Where(static line =>
            line.StartsWith("late ", StringComparison.Ordinal)));

        Task Note(string line)
        {
            _made.Journal.Add(line);
            return Task.CompletedTask;
        }
    }

    [Fact]
    public async Task An_observer_of_batches_can_begin_with_the_oldest_item()
    {
        await Stream("lists").SubscribeAsync((item, _) =>
        {
            _made.Journal.Add("first " + item);
            return Task.CompletedTask;
        });
        await Stream("lists").OnNextAsync("a");
        await _made.Journal.HasAsync("first a");
        await Stream("lists").SubscribeAsync(
            new NotingBatchObserver(item => _made.Journal.Add("late " + item)), StreamSubscriptionStartPosition.EarliestAvailable);
        await _made.Journal.HasAsync("late a");
    }

    [Fact]
    public async Task An_implicit_subscription_begins_with_the_first_item()
    {
        await Stream("implicit").OnNextAsync("a");
        await Stream("implicit").OnNextAsync("b");
        await _made.Journal.HasAsync("b");
        Assert.Equal(["subscribed streams implicit", "a", "b"], _made.Journal.Lines);
        Assert.Empty(await Stream("implicit").GetAllSubscriptionHandles());
    }

    [Fact]
    public async Task A_batch_arrives_as_it_was_sent()
    {
        var key = Guid.ParseExact(Name, "N");
        var stream = cluster.Client.GetStreamProvider("streams").GetStream<int>(StreamId.Create("batch7", key));
        await stream.OnNextBatchAsync([1, 2, 3]);
        await _made.Journal.CountAsync(3);
        Assert.Equal(["1", "2", "3"], _made.Journal.Lines);
    }

    [Fact]
    public async Task A_client_subscribes_as_a_grain_does()
    {
        var handle = await Stream("client").SubscribeAsync((item, token) =>
        {
            _made.Journal.Add($"{item} {token is not null}");
            return Task.CompletedTask;
        });
        Assert.Equal(("streams", StreamId.Create("client", Name)), (handle.ProviderName, handle.StreamId));
        await cluster.Client.GetGrain<IProducer>(Name).Produce("client", "a");
        await _made.Journal.HasAsync("a True");
        Assert.Equal(handle.HandleId, (await Stream("client").GetAllSubscriptionHandles()).Single().HandleId);
        await handle.UnsubscribeAsync();
        await Assert.ThrowsAsync<InvalidOperationException>(() => handle.UnsubscribeAsync());
    }

    [Fact]
    public async Task A_producer_cannot_end_a_stream()
    {
        var completed = await Assert.ThrowsAnyAsync<Exception>(() => Stream("ended").OnCompletedAsync());
        var failed = await Assert.ThrowsAnyAsync<Exception>(() => Stream("ended").OnErrorAsync(new OrderException("x", 1)));
        Assert.Equal((Stated.RefusalToEndAStream, Stated.RefusalToEndAStream), (completed.GetType().Name, failed.GetType().Name));
    }

    [Fact]
    public void Streams_have_names_and_ids()
    {
        var stream = Stream("names");
        Assert.Equal("streams", stream.ProviderName);
        Assert.Equal(("names", Name), (stream.StreamId.GetNamespace(), stream.StreamId.GetKeyAsString()));
        Assert.Equal("names/" + Name, stream.StreamId.ToString());
        Assert.Equal(stream, Stream("names"));
        Assert.NotEqual(stream, Stream("others"));
        Assert.Equal("null/00000000000000000000000000000000", StreamId.Create(null, Guid.Empty).ToString());
        Assert.Equal("n/7", StreamId.Create("n", 7).ToString());
        Assert.Equal(StreamId.Create("n", "k"), StreamId.Parse("n/k"u8));
        Assert.Throws<KeyNotFoundException>(() => cluster.Client.GetStreamProvider("nowhere"));
    }

    [Fact]
    public async Task A_subscription_manager_subscribes_grains_to_streams()
    {
        var services = cluster.ServicesOf(0);
        var manager = services.GetRequiredService<IStreamSubscriptionManagerAdmin>()
            .GetStreamSubscriptionManager(StreamSubscriptionManagerType.ExplicitSubscribeOnly);
        var consumer = cluster.FactoryOf(0).GetGrain<IConsumer>(Name);
        var id = StreamId.Create("managed", Name);
        var subscription = await manager.AddSubscription("streams", id, (GrainReference)(object)consumer);
        Assert.Equal((consumer.GetGrainId(), id, "streams"),
            (subscription.GrainId, subscription.StreamId, subscription.StreamProviderName));
        Assert.Single(await manager.GetSubscriptions("streams", id));
        await manager.RemoveSubscription("streams", id, subscription.SubscriptionId);
        Assert.Empty(await manager.GetSubscriptions("streams", id));
    }
}
