using System.Runtime.CompilerServices;
using ActOp.Channels;
using ActOp.Configuration;
using ActOp.Mesh;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Orleans.Concurrency;

namespace ActOp.Calls.Tests;

/// <summary>Two silos and a client with a channel for large payloads.</summary>
public sealed class SilosWithChannels() : ClusterFixture(2)
{
    internal const int MaxMessageSize = 3 << 20;

    internal static void Add(ChannelsOptions channels) => channels
        .Add("bulk", static bulk => (bulk.Links, bulk.MaxMessageSize) = (2, MaxMessageSize))
        .Add("news");

    protected override void ConfigureSilo(ISiloBuilder silo) => silo.AddChannels(Add);

    protected override void ConfigureClient(IClientBuilder client) => client.AddChannels(Add);
}

/// <summary>Calls of a named channel and their answers have connections of their own.</summary>
public sealed class ChannelTests(SilosWithChannels cluster) : IClassFixture<SilosWithChannels>
{
    private const int Bulk = 1;
    private const int News = 2;

    private Node First => cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    private Node Second => cluster.Cluster.Silos[1].ServiceProvider.GetRequiredService<Node>();

    [Fact]
    public async Task A_call_with_a_channel_and_its_answer_use_the_links_of_the_channel_only()
    {
        var store = await StoreAsync();
        var (there, back) = (PeerOf(First, Second), PeerOf(Second, First));
        Peer[] peers = [there, back];
        var (ordinary, bulk, news) = (Frames(peers, 0), Frames(peers, Bulk), Frames(peers, News));
        await FromFirst(grain => grain.Fill(store, 10, 1000));
        Assert.Equal((0, 20, 0), (Frames(peers, 0) - ordinary, Frames(peers, Bulk) - bulk, Frames(peers, News) - news));
        await FromFirst(grain => grain.Tell(store, 10));
        Assert.Equal((0, 20, 20), (Frames(peers, 0) - ordinary, Frames(peers, Bulk) - bulk, Frames(peers, News) - news));
        await FromFirst(grain => grain.Ask(store, 10));
        Assert.Equal((20, 20, 20), (Frames(peers, 0) - ordinary, Frames(peers, Bulk) - bulk, Frames(peers, News) - news));
    }

    [Fact]
    public async Task A_channel_that_is_not_read_and_has_more_waiting_than_its_link_takes_delays_no_other_call()
    {
        var store = await StoreAsync();
        var links = BulkLinks(PeerOf(Second, First));
        foreach (var link in links)
            PauseReading(link, ReadPause.Requests);
        // More than the queue of the link and the buffers of the sockets take.
        var filled = FromFirst(grain => grain.Fill(store, 20, SilosWithChannels.MaxMessageSize - 1000));
        await FromFirst(grain => grain.Ask(store, 100));
        await FromFirst(grain => grain.Tell(store, 100));
        Assert.False(filled.IsCompleted);
        foreach (var link in links)
            ResumeReading(link, ReadPause.Requests);
        await filled;
        Assert.Equal(20L * (SilosWithChannels.MaxMessageSize - 1000), await FromFirst(grain => grain.Size(store)));
    }

    [Fact]
    public async Task A_request_or_an_answer_that_is_too_long_for_its_channel_fails_and_names_the_channel()
    {
        var store = await StoreAsync();
        var thrown = await Assert.ThrowsAsync<LimitExceededException>(() =>
            FromFirst(grain => grain.Fill(store, 1, SilosWithChannels.MaxMessageSize)));
        Assert.Contains("MaxMessageSize of the channel bulk", thrown.Message);
        thrown = await Assert.ThrowsAsync<LimitExceededException>(() =>
            FromFirst(grain => grain.Fetch(store, SilosWithChannels.MaxMessageSize)));
        Assert.Contains("MaxMessageSize of the channel bulk", thrown.Message);
        // The limit is that of the channel, not of the node.
        Assert.Equal(SilosWithChannels.MaxMessageSize, await FromFirst(grain => grain.FetchElsewhere(store, SilosWithChannels.MaxMessageSize)));
    }

    [Fact]
    public async Task A_client_uses_the_channels_that_it_has()
    {
        var store = await StoreAsync();
        var client = cluster.Client.ServiceProvider.GetRequiredService<Node>();
        Peer[] peers = [PeerOf(client, First), PeerOf(client, Second)];
        var (ordinary, bulk) = (Frames(peers, 0), Frames(peers, Bulk));
        await cluster.Client.GetGrain<IStore>(store).Put(new byte[100_000]);
        Assert.Equal(1, Frames(peers, Bulk) - bulk);
        Assert.Equal(0, Frames(peers, 0) - ordinary);
    }

    [Fact]
    public async Task A_client_without_channels_is_answered_over_its_ordinary_links()
    {
        var store = await StoreAsync();
        var other = await cluster.Cluster.StartSecondClientAsync();
        var grains = other.Services.GetRequiredService<IClusterClient>();
        await grains.GetGrain<IStore>(store).Put(new byte[1000]);
        Assert.Equal(1000, (await grains.GetGrain<IStore>(store).Fetch(1000)).Length);
        Assert.All(other.Services.GetRequiredService<Node>().Peers.Mesh.Peers(), static peer => Assert.Equal(peer.DataLinks, peer.Links.Count));
        await other.StopAsync();
        other.Dispose();
    }

    [Fact]
    public async Task A_channel_that_is_not_configured_fails_the_start_and_the_error_says_what_to_do()
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo(static (_, silo) => silo.AddChannels(static channels => channels.Add("news")));
        await using var unfit = builder.Build();
        var thrown = await Assert.ThrowsAnyAsync<Exception>(() => unfit.DeployAsync());
        var reason = Assert.IsType<OrleansConfigurationException>(thrown.GetBaseException());
        Assert.Contains("[Channel(\"bulk\")]", reason.Message);
        Assert.Contains("AddChannels", reason.Message);
    }

    [Theory]
    [InlineData("a", 0, null, "ChannelOptions.Links of the channel a")]
    [InlineData("a", 64, null, "ConnectionOptions.ConnectionsPerEndpoint")]
    [InlineData("a", 1, 10, "ChannelOptions.MaxMessageSize of the channel a")]
    public void Wrong_options_of_a_channel_are_refused_and_named(string name, int links, int? size, string named)
    {
        var options = new ChannelsOptions().Add(name, channel => (channel.Links, channel.MaxMessageSize) = (links, size));
        var thrown = Assert.Throws<OrleansConfigurationException>(() => options.Validate(1, 1 << 20));
        Assert.Contains(named, thrown.Message);
    }

    /// <summary>One link; a peer pauses all of its own.</summary>
    [UnsafeAccessor(UnsafeAccessorKind.Method)]
    private static extern void PauseReading(Link link, ReadPause reason);

    [UnsafeAccessor(UnsafeAccessorKind.Method)]
    private static extern void ResumeReading(Link link, ReadPause reason);

    private static Peer PeerOf(Node node, Node other) =>
        node.Peers.Mesh.Peers().Single(peer => peer.Id?.Name == other.Address.ToParsableString() && peer.State == PeerState.Connected);

    private static Link[] BulkLinks(Peer peer) => [peer.GetLink(0, Bulk)!, peer.GetLink(1, Bulk)!];

    private static long Frames(Peer[] peers, int channel) => peers.Sum(peer =>
        (channel == Bulk ? BulkLinks(peer) : [peer.GetLink(0, channel)!]).Sum(static link => link.FramesSent));

    private Task<T> FromFirst<T>(Func<IStoreCaller, Task<T>> call) => call(cluster.Client.GetGrain<IStoreCaller>(0));

    private Task FromFirst(Func<IStoreCaller, Task> call) => call(cluster.Client.GetGrain<IStoreCaller>(0));

    /// <summary>A store on the second silo, whose place the caller on the first one knows.</summary>
    private async Task<string> StoreAsync()
    {
        var store = Guid.NewGuid().ToString();
        await Place.On(cluster.AddressOf(1), () => cluster.Client.GetGrain<IStore>(store).Size());
        await Place.On(cluster.AddressOf(0), () => cluster.Client.GetGrain<IStoreCaller>(0).Ask(store, 1));
        return store;
    }

    public interface IStore : IGrainWithStringKey
    {
        [Channel("bulk")]
        Task Put(byte[] bytes);

        [Channel("bulk")]
        Task<byte[]> Fetch(int size);

        Task<byte[]> FetchElsewhere(int size);

        Task<long> Size();
    }

    [Channel("news")]
    public interface IStoreNews : IGrainWithStringKey
    {
        Task Hear();
    }

    public interface IStoreCaller : IGrainWithIntegerKey
    {
        Task Fill(string store, int times, int size);

        [AlwaysInterleave]
        Task Tell(string store, int times);

        [AlwaysInterleave]
        Task Ask(string store, int times);

        [AlwaysInterleave]
        Task<long> Size(string store);

        Task<int> Fetch(string store, int size);

        Task<int> FetchElsewhere(string store, int size);
    }

    public sealed class StoreGrain : Grain, IStore, IStoreNews
    {
        private long _size;

        public Task Put(byte[] bytes)
        {
            _size += bytes.Length;
            return Task.CompletedTask;
        }

        public Task<byte[]> Fetch(int size) => Task.FromResult(new byte[size]);

        public Task<byte[]> FetchElsewhere(int size) => Task.FromResult(new byte[size]);

        public Task<long> Size() => Task.FromResult(_size);

        public Task Hear() => Task.CompletedTask;
    }

    public sealed class StoreCallerGrain : Grain, IStoreCaller
    {
        public Task Fill(string store, int times, int size)
        {
            var bytes = new byte[size];
            return Task.WhenAll(Enumerable.Range(0, times).Select(_ => GrainFactory.GetGrain<IStore>(store).Put(bytes)));
        }

        public async Task Tell(string store, int times)
        {
            for (var time = 0; time < times; time++)
                await GrainFactory.GetGrain<IStore>(store).AsReference<IStoreNews>().Hear();
        }

        public async Task Ask(string store, int times)
        {
            for (var time = 0; time < times; time++)
                await GrainFactory.GetGrain<IStore>(store).Size();
        }

        public Task<long> Size(string store) => GrainFactory.GetGrain<IStore>(store).Size();

        public async Task<int> Fetch(string store, int size) => (await GrainFactory.GetGrain<IStore>(store).Fetch(size)).Length;

        public async Task<int> FetchElsewhere(string store, int size) =>
            (await GrainFactory.GetGrain<IStore>(store).FetchElsewhere(size)).Length;
    }
}
