using System.Net;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Microsoft.Extensions.Hosting;
using Orleans.Runtime.MembershipService;

namespace ActOp.Faults.Tests.Membership;

/// <summary>What may be wrong with a silo that joins.</summary>
public enum Mistake
{
    Secret,
    Cluster,
    Address,
    Table,
}

/// <summary>
/// A silo with wrong settings does not become active, says why, and costs the others nothing. The rule itself is tested with many more
/// clusters and mistakes in <c>ActOp.Cluster.Tests</c>; here it is the whole silo.
/// </summary>
public class WrongNewcomerTests
{
    [Theory]
    [InlineData(1, 1, Mistake.Secret, "UseClusterSecret")]
    [InlineData(1, 2, Mistake.Cluster, "ClusterId")]
    [InlineData(1, 1, Mistake.Address, "AdvertisedIPAddress")]
    [InlineData(2, 2, Mistake.Secret, "UseClusterSecret")]
    [InlineData(4, 4, Mistake.Address, "AdvertisedIPAddress")]
    [InlineData(1, 1, Mistake.Table, null)]
    public async Task A_silo_with_wrong_settings_costs_no_old_silo_a_call(short old, int newcomers, Mistake mistake, string? hint)
    {
        var isWrong = false;
        var builder = new InProcessTestClusterBuilder(old);
        builder.Options.InitializeClientOnDeploy = false;
        builder.ConfigureSilo((options, silo) =>
        {
            silo.Configure<ClusterMembershipOptions>(static membership =>
                membership.IAmAliveTablePublishTimeout = TimeSpan.FromSeconds(1));
            silo.UseClusterSecret(isWrong && mistake == Mistake.Secret ? "a secret of another cluster" : "the secret of the cluster");
            if (isWrong)
                Spoil(silo, options, mistake);
        });
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        var nodes = cluster.Silos.Select(static silo => silo.ServiceProvider.GetRequiredService<Node>()).ToArray();
        var ill = 0;
        foreach (var node in nodes)
        {
            node.Cluster!.ViewChanged += (_, view, _) =>
            {
                if (view.ActiveSilos.Length != old)
                    Interlocked.Increment(ref ill);
            };
        }

        using var end = new CancellationTokenSource();
        var calls = cluster.Silos.Select(silo => CallAsync(silo.ServiceProvider.GetRequiredService<IClusterClient>(), end.Token)).ToArray();
        isWrong = true;
        var starts = Enumerable.Range(0, newcomers).Select(_ => cluster.StartAdditionalSiloAsync()).ToArray();

        foreach (var start in starts)
            await ExpectAsync(start, hint);
        await end.CancelAsync();
        Assert.All(await Task.WhenAll(calls).WaitAsync(Gate.Patience), static count => Assert.NotEqual(0, count));
        Assert.Equal(0, ill);
        Assert.All(nodes, node => Assert.Equal(old, node.ClusterView.Active.Length));
    }

    [Fact]
    public async Task A_silo_that_the_primary_refuses_names_the_reason_when_its_time_is_over()
    {
        using var ports = new TestClusterPortAllocator();
        var (siloPort, gatewayPort) = ports.AllocateConsecutivePortPairs(2);
        var primary = new IPEndPoint(IPAddress.Loopback, siloPort);
        using var first = Host(0, "the secret of the cluster");
        using var other = Host(1, "a secret of another cluster");
        await first.StartAsync(TestContext.Current.CancellationToken);

        var failure = await Assert.ThrowsAsync<OrleansClusterConnectivityCheckFailedException>(() =>
            other.StartAsync(TestContext.Current.CancellationToken).WaitAsync(Gate.Patience));

        Assert.Contains("MaxJoinAttemptTime", failure.Message, StringComparison.Ordinal);
        Assert.Contains(primary.ToString(), failure.Message, StringComparison.Ordinal);
        Assert.Contains("UseClusterSecret", failure.Message, StringComparison.Ordinal);
        await first.StopAsync(TestContext.Current.CancellationToken);

        IHost Host(int number, string secret) => new HostBuilder().UseOrleans(silo => silo
            .UseLocalhostClustering(siloPort + number, gatewayPort + number, primary)
            .UseClusterSecret(secret)
            // Longer than a request to the table may take.
            .Configure<ClusterMembershipOptions>(static options => options.MaxJoinAttemptTime = TimeSpan.FromSeconds(8))).Build();
    }

    private static async Task ExpectAsync(Task<InProcessSiloHandle> start, string? hint)
    {
        if (hint is null)
        {
            // It found no cluster, and is one of its own.
            await start.WaitAsync(Gate.Patience);
            return;
        }

        var failure = await Assert.ThrowsAsync<OrleansClusterConnectivityCheckFailedException>(() => start.WaitAsync(Gate.Patience));
        Assert.Contains(hint, failure.Message, StringComparison.Ordinal);
    }

    private static void Spoil(ISiloBuilder silo, InProcessTestSiloSpecificOptions options, Mistake mistake)
    {
        if (mistake == Mistake.Cluster)
            silo.Configure<ClusterOptions>(static cluster => cluster.ClusterId = "another");
        if (mistake == Mistake.Address)
        {
            silo.Configure<EndpointOptions>(endpoints =>
                endpoints.SiloListeningEndpoint = new IPEndPoint(IPAddress.Loopback, options.SiloPort + 20_000));
        }

        if (mistake == Mistake.Table)
            silo.Services.AddSingleton<ClusterTableFactory>(static _ => new InMemoryMembershipTable());
    }

    /// <summary>Calls old and new grains until the end. A call that fails fails the test.</summary>
    private static async Task<int> CallAsync(IClusterClient silo, CancellationToken end)
    {
        var count = 0;
        for (; !end.IsCancellationRequested; count++)
        {
            Assert.Equal("x", await silo.GetGrain<IEchoGrain>("g" + (count % 200)).Echo("x"));
            await Task.Yield();
        }

        return count;
    }
}
