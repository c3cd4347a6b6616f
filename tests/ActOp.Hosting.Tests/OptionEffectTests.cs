using System.Net;
using System.Net.Sockets;
using ActOp.Configuration;
using ActOp.Runtime.Nodes;
using Microsoft.Extensions.Hosting;
using Orleans.Runtime.Messaging;

namespace ActOp.Hosting.Tests;

/// <summary>What a node is set up with by its options. What the parts do with it is in their own tests.</summary>
public class OptionEffectTests
{
    [Fact]
    public void Connections_are_opened_and_repeated_within_the_configured_times()
    {
        var mesh = Silo(silo => silo.Configure<ConnectionOptions>(options =>
        {
            options.OpenConnectionTimeout = TimeSpan.FromSeconds(7);
            options.ConnectionRetryDelay = TimeSpan.FromMilliseconds(30);
            options.ConnectionsPerEndpoint = 3;
        })).Mesh;
        Assert.Equal((7, 3), (mesh.HandshakeTimeout.TotalSeconds, mesh.LinksPerPeer));
        Assert.All([mesh.ReconnectMin, mesh.ReconnectMax, mesh.SearchMax], static time => Assert.Equal(30, time.TotalMilliseconds));
        Assert.Equal((50, 1_000),
            (Silo(static _ => { }).Mesh.ReconnectMin.TotalMilliseconds, Silo(static _ => { }).Mesh.ReconnectMax.TotalMilliseconds));
    }

    [Theory]
    [InlineData(1, 3, 30)]
    [InlineData(5, 3, 38)]
    [InlineData(1, 1, 30)]
    [InlineData(20, 1, 88)]
    [InlineData(60, 3, 368)]
    [InlineData(3600, 100_000, int.MaxValue / 1000.0)]
    public void A_silent_link_stays_longer_than_its_silo_is_suspected(int probe, int limit, double patience) => Assert.Equal(
        TimeSpan.FromSeconds(patience),
        Silo(silo => silo.Configure<ClusterMembershipOptions>(options =>
            (options.ProbeTimeout, options.NumMissedProbesLimit) = (TimeSpan.FromSeconds(probe), limit))).Mesh.KeepAliveTimeout);

    [Fact]
    public void A_protocol_that_does_not_exist_is_refused() => Refuses(
        "ConnectionOptions.ProtocolVersion",
        silo => silo.Configure<ConnectionOptions>(options => options.ProtocolVersion = (NetworkProtocolVersion)2));

    [Fact]
    public void Queues_of_senders_are_threads_of_the_send_stages_unless_these_are_set()
    {
        var stages = Silo(silo => silo.Configure<SiloMessagingOptions>(options =>
            (options.SiloSenderQueues, options.GatewaySenderQueues) = (11, 12))).Stages;
        Assert.Equal((11, 12), (stages.SiloSendThreads, stages.ClientSendThreads));
        stages = Silo(silo => silo.Configure<SiloMessagingOptions>(options => options.SiloSenderQueues = 11)
            .Configure<StageOptions>(options => options.SiloSendThreads = 3)).Stages;
        Assert.Equal((3, null), (stages.SiloSendThreads, stages.ClientSendThreads));
    }

    [Fact]
    public void A_silo_listens_and_is_reached_where_the_endpoints_say()
    {
        var setup = Silo(silo => silo.Configure<EndpointOptions>(options =>
        {
            options.AdvertisedIPAddress = IPAddress.Parse("10.1.2.3");
            (options.SiloPort, options.GatewayPort) = (21, 22);
            options.SiloListeningEndpoint = new IPEndPoint(IPAddress.Any, 31);
            options.GatewayListeningEndpoint = new IPEndPoint(IPAddress.Any, 32);
        }).Configure<SiloOptions>(options => options.SiloName = "one"));
        Assert.Equal("10.1.2.3:21", setup.Address.Endpoint.ToString());
        Assert.Equal("10.1.2.3:22", setup.Gateway!.ToString());
        Assert.Equal(["0.0.0.0:31", "0.0.0.0:32"], setup.Listens.Select(static listen => listen.Item1.ToString()));
        Assert.Equal("one", setup.Name);
        Assert.Null(Silo(silo => silo.Configure<EndpointOptions>(options => options.GatewayPort = 0)).Gateway);
    }

    [Fact]
    public void A_silo_belongs_to_the_configured_cluster_and_service()
    {
        var mesh = Silo(silo => silo.Configure<ClusterOptions>(options => (options.ClusterId, options.ServiceId) = ("c", "s"))).Mesh;
        Assert.Equal(("c", "s"), (mesh.ClusterId, mesh.ServiceId));
    }

    [Fact]
    public void Gateways_are_addresses_or_names()
    {
        var setup = Client(static client => client.UseStaticClustering(
            new DnsEndPoint("silo.example", 7), new IPEndPoint(IPAddress.IPv6Loopback, 8), new IPEndPoint(IPAddress.Loopback, 9)));
        Assert.Equal(new DnsEndPoint("silo.example", 7), setup.Gateways[0]);
        Assert.Equal([new IPEndPoint(IPAddress.IPv6Loopback, 8), new IPEndPoint(IPAddress.Loopback, 9)], setup.Gateways[1..]);
        var exception = Assert.Throws<OrleansConfigurationException>(() => Client(static client =>
            client.UseStaticClustering((StaticGatewayListProviderOptions options) => options.Gateways = [new Uri("gwy.tcp:nothing")])));
        Assert.Contains("StaticGatewayListProviderOptions.Gateways", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_client_has_the_address_that_its_options_give_in_its_id()
    {
        Assert.Equal(IPAddress.Parse("10.9.8.7"), AddressOf(static options => options.LocalAddress = IPAddress.Parse("10.9.8.7")));
        Assert.Equal(IPAddress.Loopback, AddressOf(static options => options.NetworkInterfaceName = "lo"));
        Assert.Equal(AddressFamily.InterNetworkV6,
            AddressOf(static options => options.PreferredFamily = AddressFamily.InterNetworkV6).AddressFamily);
        Assert.Equal(AddressFamily.InterNetwork, AddressOf(static _ => { }).AddressFamily);
        Assert.Contains("NetworkInterfaceName", Assert.Throws<OrleansConfigurationException>(() =>
            AddressOf(static options => options.NetworkInterfaceName = "none-such")).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_cache_of_locations_has_the_configured_strategy_size_and_lifetime()
    {
        var setup = Silo(silo => silo.Configure<GrainDirectoryOptions>(options =>
        {
            options.CachingStrategy = GrainDirectoryOptions.CachingStrategyType.None;
            options.CacheSize = 77;
            options.MaximumCacheTTL = TimeSpan.FromSeconds(9);
        }));
        Assert.Equal((false, 77, 9), (setup.CachesLocations, setup.LocationCacheSize, setup.LocationLifetime.TotalSeconds));
        Assert.True(Silo(static _ => { }).CachesLocations);
        Assert.Null(Silo(static _ => { }).CustomLocations);
        Refuses("GrainDirectoryOptions.CachingStrategy", silo => silo.Configure<GrainDirectoryOptions>(options =>
            options.CachingStrategy = GrainDirectoryOptions.CachingStrategyType.Custom));
    }

    [Fact]
    public void A_value_out_of_range_fails_and_its_option_is_named()
    {
        Refuses("MessagingOptions.MaxMessageHeaderSize",
            silo => silo.Configure<SiloMessagingOptions>(options => options.MaxMessageHeaderSize = 0));
        Refuses("SiloMessagingOptions.MaxRequestProcessingTime",
            silo => silo.Configure<SiloMessagingOptions>(options => options.MaxRequestProcessingTime = TimeSpan.Zero));
        Refuses("ClusterMembershipOptions.NumProbedSilos",
            silo => silo.Configure<ClusterMembershipOptions>(options => options.NumProbedSilos = 0));
        Refuses("GrainCollectionOptions.ClassSpecificCollectionAge[A.B]",
            silo => silo.Configure<GrainCollectionOptions>(options => options.ClassSpecificCollectionAge["A.B"] = TimeSpan.Zero));
        Refuses("GrainCollectionOptions.CollectionAge must be longer than CollectionQuantum (00:01:00), but is 00:01:00.",
            silo => silo.Configure<GrainCollectionOptions>(options => options.CollectionAge = TimeSpan.FromMinutes(1)));
        Refuses("GrainCollectionOptions.ClassSpecificCollectionAge[A.B] must be longer than CollectionQuantum (00:01:00)",
            silo => silo.Configure<GrainCollectionOptions>(
                options => options.ClassSpecificCollectionAge["A.B"] = TimeSpan.FromSeconds(10)));
        Refuses("LoadSheddingOptions.CpuThreshold", silo => silo.Configure<LoadSheddingOptions>(options => options.CpuThreshold = 101));
        Refuses("StatelessWorkerOptions.MinIdleCyclesBeforeRemoval",
            silo => silo.Configure<StatelessWorkerOptions>(options => options.MinIdleCyclesBeforeRemoval = 0));
        Refuses("SchedulingOptions.ActivationSchedulingQuantum",
            silo => silo.Configure<SchedulingOptions>(options => options.ActivationSchedulingQuantum = TimeSpan.Zero));
        Assert.Contains("GatewayOptions.PreferredGatewayIndex", Assert.Throws<OrleansConfigurationException>(() => Client(client =>
            client.Configure<GatewayOptions>(options => options.PreferredGatewayIndex = 1))).Message, StringComparison.Ordinal);
    }

    private static IPAddress AddressOf(Action<ClientMessagingOptions> configure) =>
        Client(client => client.Configure(configure)).Address.Endpoint.Address;

    private static void Refuses(string option, Action<ISiloBuilder> configure) => Assert.Contains(
        option, Assert.Throws<OrleansConfigurationException>(() => Silo(configure)).Message, StringComparison.Ordinal);

    private static NodeSetup Silo(Action<ISiloBuilder> configure)
    {
        using var host = new HostBuilder().UseOrleans(silo =>
        {
            silo.UseLocalhostClustering();
            configure(silo);
        }).Build();
        return SetupReader.Silo(host.Services);
    }

    private static NodeSetup Client(Action<IClientBuilder> configure)
    {
        using var host = new HostBuilder().UseOrleansClient(client =>
        {
            client.UseLocalhostClustering();
            configure(client);
        }).Build();
        return SetupReader.Client(host.Services);
    }
}
