using ActOp.Streams;
using ActOp.TestClusters;
using Orleans.Storage;
using Orleans.Streams;

namespace ActOp.Streams.Tests;

/// <summary>Streams whose silos come and go.</summary>
public class StreamLossTests
{
    private const string Provider = "memory";

    /// <summary>The store is outside of the silos, as a database is.</summary>
    private static readonly OutsideStore Store = new();

    [Fact]
    public async Task Subscriptions_survive_the_loss_of_a_silo_and_its_agents()
    {
        await using var cluster = await DeployAsync(3);
        var streams = Enumerable.Range(0, 24).Select(_ => NewStream(cluster)).ToArray();
        foreach (var (stream, box) in streams)
        {
            await cluster.Client.GetGrain<IConsumer>(Guid.NewGuid()).Subscribe(Provider, stream.StreamId, box.Name);
            await stream.OnNextAsync(1);
            Assert.Equal(["1"], await box.ReceivedAsync(1));
        }

        await cluster.KillSiloAsync(cluster.Silos[2]);
        await cluster.WaitForLivenessToStabilizeAsync(didKill: true);
        foreach (var (stream, box) in streams)
        {
            // A consumer whose silo was lost has no observer until somebody resumes the subscription.
            foreach (var handle in await SubscriptionsOf(cluster, stream))
                await cluster.Client.GetGrain<IConsumer>(handle.GrainId).Resume(Provider, stream.StreamId, box.Name);
            await ProduceSoonAsync(stream, 2);
            await SoonAsync(box, "2");
        }
    }

    [Fact]
    public async Task Queues_move_to_a_silo_that_joins_and_back_without_loss()
    {
        await using var cluster = await DeployAsync(1);
        var streams = Enumerable.Range(0, 16).Select(_ => NewStream(cluster)).ToArray();
        foreach (var (stream, box) in streams)
            await cluster.Client.GetGrain<IConsumer>(Guid.NewGuid()).Subscribe(Provider, stream.StreamId, box.Name);
        var joined = await cluster.StartAdditionalSiloAsync();
        await cluster.WaitForLivenessToStabilizeAsync();
        foreach (var (stream, box) in streams)
        {
            await stream.OnNextAsync(1);
            await SoonAsync(box, "1");
        }

        await cluster.StopSiloAsync(joined);
        foreach (var (stream, box) in streams)
        {
            foreach (var handle in await SubscriptionsOf(cluster, stream))
                await cluster.Client.GetGrain<IConsumer>(handle.GrainId).Resume(Provider, stream.StreamId, box.Name);
            await ProduceSoonAsync(stream, 2);
            await SoonAsync(box, "2");
        }
    }

    /// <summary>The items are in queues that no agent reads yet.</summary>
    [Fact]
    public async Task What_is_in_a_queue_moves_when_its_silo_stops()
    {
        await using var cluster = await DeployAsync(2, static streams => streams.ConfigureLifecycle(
            builder => builder.Configure(static options => options.StartupState = StreamLifecycleOptions.RunState.Initialized)));
        var boxes = Enumerable.Range(0, 24).Select(static _ => Box.New()).ToArray();
        var streams = cluster.Client.GetStreamProvider(Provider);
        foreach (var box in boxes)
        {
            for (var i = 0; i < 3; i++)
                await streams.GetStream<string>(StreamId.Create("implicit", Guid.NewGuid())).OnNextAsync(box.Name + ":" + i);
        }

        await cluster.StopSiloAsync(cluster.Silos[1]);
        var provider = (Orleans.Providers.IControllable)cluster.Silos[0].ServiceProvider.GetRequiredKeyedService<IStreamProvider>(Provider);
        await provider.ExecuteCommand((int)Orleans.Providers.Streams.Common.PersistentStreamProviderCommand.StartAgents, null);
        foreach (var box in boxes)
            Assert.Equal(["0", "1", "2"], (await box.ReceivedAsync(3)).Order());
    }

    [Fact]
    public async Task A_client_that_is_gone_has_no_subscriptions_any_more()
    {
        await using var cluster = await DeployAsync(1);
        var (stream, box) = NewStream(cluster);
        await stream.SubscribeAsync((item, _) =>
        {
            Box.Put(box.Name, item.ToString());
            return Task.CompletedTask;
        });
        await stream.OnNextAsync(1);
        await box.ReceivedAsync(1);
        var silo = cluster.Silos[0].ServiceProvider.GetRequiredService<IClusterClient>();
        await cluster.KillClientAsync();
        var again = silo.GetStreamProvider(Provider).GetStream<int>(stream.StreamId);
        var pubSub = silo.ServiceProvider.GetRequiredKeyedService<IStreamProvider>(Provider) as IStreamSource;
        await again.OnNextAsync(2);
        await TestingUtils.WaitUntilAsync(
            async _ => await pubSub!.PubSub.ConsumerCount(new QualifiedStreamId(Provider, stream.StreamId)) == 0, 2 * Gate.Patience);
    }

    private static async Task SoonAsync(Box box, string item)
    {
        while (!box.Items.Contains(item))
            await box.ReceivedAsync(1);
    }

    /// <summary>The queue of the stream may have been on the silo that is gone.</summary>
    private static Task ProduceSoonAsync(IAsyncStream<int> stream, int item) => TestingUtils.WaitUntilAsync(
        async _ => await Record.ExceptionAsync(() => stream.OnNextAsync(item)) is null, Gate.Patience);

    private static async Task<List<Orleans.Streams.Core.StreamSubscription>> SubscriptionsOf(
        InProcessTestCluster cluster, IAsyncStream<int> stream) =>
            await ((IStreamSource)cluster.Silos[0].ServiceProvider.GetRequiredKeyedService<IStreamProvider>(Provider)).PubSub
                .GetAllSubscriptions(new QualifiedStreamId(Provider, stream.StreamId));

    private static (IAsyncStream<int> Stream, Box Box) NewStream(InProcessTestCluster cluster) =>
        (cluster.Client.GetStreamProvider(Provider).GetStream<int>(StreamId.Create("numbers", Guid.NewGuid())), Box.New());

    private static async Task<InProcessTestCluster> DeployAsync(short silos, Action<ISiloMemoryStreamConfigurator>? configure = null)
    {
        var builder = new InProcessTestClusterBuilder(silos);
        builder.ConfigureSilo((_, silo) =>
        {
            silo.Services.AddKeyedSingleton<IGrainStorage>("PubSubStore", Store);
            silo.AddMemoryStreams(Provider, configure);
        });
        builder.ConfigureClient(static client => client.AddMemoryStreams(Provider));
        var cluster = builder.Build();
        await cluster.DeployAsync();
        return cluster;
    }

    private sealed class OutsideStore : IGrainStorage
    {
        private readonly System.Collections.Concurrent.ConcurrentDictionary<(string, GrainId), object?> _records = new();

        public Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
        {
            grainState.RecordExists = _records.TryGetValue((stateName, grainId), out var found);
            if (grainState.RecordExists)
                grainState.State = new Orleans.Serialization.DeepCopier().Copy((T)found!);
            return Task.CompletedTask;
        }

        public Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
        {
            _records[(stateName, grainId)] = new Orleans.Serialization.DeepCopier().Copy(grainState.State);
            grainState.RecordExists = true;
            return Task.CompletedTask;
        }

        public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
        {
            _records.TryRemove((stateName, grainId), out _);
            grainState.RecordExists = false;
            return Task.CompletedTask;
        }
    }
}
