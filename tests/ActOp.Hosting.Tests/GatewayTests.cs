using System.Net;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Hosting.Tests;

/// <summary>How a client finds its gateways.</summary>
public class GatewayTests
{
    [Fact]
    public async Task A_client_finds_its_gateway_by_name_and_resolves_the_name_again_when_it_is_lost()
    {
        var names = new Names(IPAddress.Loopback);
        InProcessTestCluster cluster = null!;
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureClient(client => Configure(client, names, () => cluster).Configure<GatewayOptions>(options =>
            options.GatewayListRefreshPeriod = TimeSpan.FromHours(1)));
        await using (cluster = builder.Build())
        {
            await cluster.DeployAsync();
            Assert.Equal("a", await cluster.Client.GetGrain<IEchoGrain>("named").Echo("a"));
            var asked = names.Asked;
            Assert.NotEqual(0, asked);
            var silo = cluster.Silos[0];
            await cluster.KillSiloAsync(silo);
            await TestingUtils.WaitUntilAsync(_ => Task.FromResult(names.Asked > asked), Gate.Patience);
            await cluster.RestartStoppedSecondarySiloAsync(silo.Name);
            await TestingUtils.WaitUntilAsync(
                async last =>
                {
                    try
                    {
                        return await cluster.Client.GetGrain<IEchoGrain>("named").Echo("b") == "b";
                    }
                    catch (SiloUnavailableException) when (!last)
                    {
                        return false;
                    }
                },
                Gate.Patience);
        }
    }

    [Fact]
    public async Task Names_are_resolved_once_per_period_while_the_client_is_connected()
    {
        var (names, clock) = (new Names(IPAddress.Loopback), new FakeClock());
        InProcessTestCluster cluster = null!;
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureClient(client =>
        {
            client.Services.AddSingleton<TimeProvider>(clock);
            Configure(client, names, () => cluster)
                .Configure<GatewayOptions>(options => options.GatewayListRefreshPeriod = TimeSpan.FromSeconds(30));
        });
        await using (cluster = builder.Build())
        {
            await cluster.DeployAsync();
            var asked = names.Asked;
            clock.Advance(TimeSpan.FromSeconds(20));
            Assert.Equal(asked, names.Asked);
            await TestingUtils.WaitUntilAsync(
                _ =>
                {
                    if (names.Asked == asked)
                        clock.Advance(TimeSpan.FromSeconds(1));
                    return Task.FromResult(names.Asked > asked);
                },
                Gate.Patience, TimeSpan.FromMilliseconds(1));
        }
    }

    [Fact]
    public async Task A_preferred_gateway_gets_the_calls_to_grains_that_the_client_does_not_know()
    {
        InProcessTestCluster cluster = null!;
        var builder = new InProcessTestClusterBuilder(3);
        builder.ConfigureClient(client => client
            .UseStaticClustering((StaticGatewayListProviderOptions options) => options.Gateways =
                [.. cluster.Silos.Select(static silo => new Uri("gwy.tcp://" + silo.GatewayAddress!.Endpoint + "/0"))])
            .Configure<GatewayOptions>(options => options.PreferredGatewayIndex = 1));
        await using (cluster = builder.Build())
        {
            await cluster.DeployAsync();
            var node = cluster.Client.ServiceProvider.GetRequiredService<Node>();
            await TestingUtils.WaitUntilAsync(
                _ => Task.FromResult(cluster.Silos[1].SiloAddress.Equals(node.Router.Destinations.PreferredGateway!())), Gate.Patience);
            for (var key = 0; key < 20; key++)
                Assert.Equal("x", await cluster.Client.GetGrain<IEchoGrain>("preferred-" + key).Echo("x"));
        }
    }

    [Fact]
    public async Task A_name_that_was_resolved_before_keeps_its_addresses_while_it_cannot_be_resolved()
    {
        var names = new Names(IPAddress.Loopback);
        var gateways = new Gateways([new DnsEndPoint("any", 5)], -1, names.Seam);
        Assert.Equal([new IPEndPoint(IPAddress.Loopback, 5)], await gateways.ResolveAsync(default));
        names.Fails = true;
        Assert.Equal([new IPEndPoint(IPAddress.Loopback, 5)], await gateways.ResolveAsync(default));
        var unknown = new Gateways([new DnsEndPoint("any", 5)], -1, names.Seam);
        Assert.Contains("any:5", (await Assert.ThrowsAsync<Orleans.Runtime.Messaging.ConnectionFailedException>(
            () => unknown.ResolveAsync(default))).Message, StringComparison.Ordinal);
    }

    private static IClientBuilder Configure(IClientBuilder client, Names names, Func<InProcessTestCluster> cluster)
    {
        client.Services.AddSingleton(names.Seam);
        return client.UseStaticClustering((StaticGatewayListProviderOptions options) => options.Gateways =
            [new Uri("gwy.tcp://silos.example:" + cluster().Silos[0].GatewayAddress!.Endpoint.Port + "/0")]);
    }

    private sealed class Names(params IPAddress[] addresses)
    {
        private int _asked;

        internal int Asked => Volatile.Read(ref _asked);

        internal volatile bool Fails;

        internal NameSeam Seam => new((_, _) =>
        {
            Interlocked.Increment(ref _asked);
            return Fails ? Task.FromException<IPAddress[]>(new System.Net.Sockets.SocketException(11001)) : Task.FromResult(addresses);
        });
    }
}
