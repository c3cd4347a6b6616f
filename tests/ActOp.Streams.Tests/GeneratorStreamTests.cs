using System.Collections.Concurrent;
using ActOp.TestClusters;
using Orleans.Providers;
using Orleans.Providers.Streams.Generator;
using Orleans.Streams;
using Orleans.Streams.Filtering;

namespace ActOp.Streams.Tests;

public interface IGenerated : IGrainWithGuidKey;

[ImplicitStreamSubscription("generated")]
public sealed class Generated : Grain, IGenerated
{
    internal static readonly ConcurrentDictionary<Guid, (int Count, bool HasReport)> Seen = new();

    public override async Task OnActivateAsync(CancellationToken cancellationToken) =>
        await this.GetStreamProvider("generator").GetStream<GeneratedEvent>("generated", this.GetPrimaryKey()).SubscribeAsync((item, _) =>
        {
            Seen.AddOrUpdate(this.GetPrimaryKey(), _ => (1, false), (_, seen) =>
                (seen.Count + 1, item.EventType == GeneratedEvent.GeneratedEventType.Report));
            return Task.CompletedTask;
        });
}

public sealed class EvenFilter : IStreamFilter
{
    public bool ShouldDeliver(StreamId streamId, object item, string? filterData) => filterData != "even" || (int)item % 2 == 0;
}

/// <summary>One silo whose agents make items up, and one provider with a filter.</summary>
public sealed class GeneratingSilo() : ClusterFixture(1)
{
    protected override void ConfigureSilo(ISiloBuilder silo) => silo.AddMemoryGrainStorage("PubSubStore")
        .AddPersistentStreams("generator", GeneratorAdapterFactory.Create, static streams =>
        {
            streams.Configure<HashRingStreamQueueMapperOptions>(static options => options.Configure(static one => one.TotalQueueCount = 4));
            streams.UseDynamicClusterConfigDeploymentBalancer();
            streams.ConfigureStreamPubSub(StreamPubSubType.ImplicitOnly);
            streams.ConfigureLifecycle(static options => options.Configure(static one =>
                one.StartupState = StreamLifecycleOptions.RunState.Initialized));
        })
        .AddMemoryStreams("filtered").AddStreamFilter<EvenFilter>("filtered");

    protected override void ConfigureClient(IClientBuilder client) => client.AddMemoryStreams("filtered");
}

public class GeneratorStreamTests(GeneratingSilo cluster) : IClassFixture<GeneratingSilo>
{
    [Fact]
    public async Task Generated_items_reach_implicit_subscriptions_through_a_cache_of_the_contract()
    {
        var provider = (IControllable)cluster.ClientOf(0).GetStreamProvider("generator");
        Assert.Equal(0,
            await provider.ExecuteCommand(
                (int)Orleans.Providers.Streams.Common.PersistentStreamProviderCommand.GetNumberRunningAgents, null));
        await provider.ExecuteCommand(
            (int)StreamGeneratorCommand.Configure, new SimpleGeneratorOptions { StreamNamespace = "generated", EventsInStream = 500 });
        await provider.ExecuteCommand((int)Orleans.Providers.Streams.Common.PersistentStreamProviderCommand.StartAgents, null);
        await TestingUtils.WaitUntilAsync(
            static _ => Task.FromResult(Generated.Seen.Count == 4 && Generated.Seen.Values.All(static one => one == (500, true))),
                Gate.Patience);
    }

    [Fact]
    public async Task A_filter_decides_by_subscription_which_items_are_delivered()
    {
        var stream = cluster.Client.GetStreamProvider("filtered").GetStream<int>(StreamId.Create("numbers", Guid.NewGuid()));
        var (all, even) = (Box.New(), Box.New());
        await stream.SubscribeAsync(new Putter(all), null);
        await stream.SubscribeAsync(new Putter(even), null, "even");
        for (var i = 1; i <= 6; i++)
            await stream.OnNextAsync(i);
        Assert.Equal(["1", "2", "3", "4", "5", "6"], await all.ReceivedAsync(6));
        Assert.Equal(["2", "4", "6"], await even.ReceivedAsync(3));
    }

    private sealed class Putter(Box box) : IAsyncObserver<int>
    {
        public Task OnNextAsync(int item, StreamSequenceToken? token)
        {
            Box.Put(box.Name, item.ToString());
            return Task.CompletedTask;
        }

        public Task OnCompletedAsync() => Task.CompletedTask;

        public Task OnErrorAsync(Exception ex) => Task.CompletedTask;
    }
}
