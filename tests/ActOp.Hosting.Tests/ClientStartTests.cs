using System.Data.Common;
using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;
using Orleans.Messaging;
using Orleans.Runtime.Messaging;

namespace ActOp.Hosting.Tests;

/// <summary>
/// A client with wrong settings fails with the reason. Its clock stands still: what fails here does not wait for a time limit, unless the
/// test moves the clock.
/// </summary>
public class ClientStartTests
{
    private const string Secret = "the secret of the cluster, random";

    [Fact]
    public Task A_wrong_cluster_id_fails_at_once_and_is_named() => FailsAtOnceAsync(
        "ClusterOptions.ClusterId", client => client.Configure<ClusterOptions>(options => options.ClusterId = "another"));

    [Fact]
    public Task A_wrong_service_id_fails_at_once_and_is_named() => FailsAtOnceAsync(
        "ClusterOptions.ServiceId", client => client.Configure<ClusterOptions>(options => options.ServiceId = "another"));

    [Fact]
    public Task A_wrong_secret_fails_at_once_and_is_named() => FailsAtOnceAsync(
        "UseClusterSecret", client => client.UseClusterSecret("a secret of another cluster"));

    [Fact]
    public Task A_missing_secret_fails_at_once_and_is_named() => FailsAtOnceAsync("UseClusterSecret", _ => { }, secret: null);

    [Fact]
    public Task The_port_for_silos_fails_at_once_and_the_one_for_clients_is_named() => FailsAtOnceAsync(
        "EndpointOptions.GatewayPort", (client, silo) => client.UseStaticClustering(silo.SiloAddress.Endpoint));

    [Fact]
    public async Task A_certificate_that_is_not_trusted_fails_at_once_and_is_named()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var now = TimeProvider.System.GetUtcNow();
        var certificate = new CertificateRequest("CN=unknown", key, HashAlgorithmName.SHA256)
            .CreateSelfSigned(now.AddDays(-1), now.AddDays(1));
        await FailsAtOnceAsync(
            "TLS failed: ", (client, _) => client.UseTls(static _ => { }),
            silo => silo.UseTls(certificate, static options => options.AllowAnyRemoteCertificate()));
    }

    [Fact]
    public async Task An_endpoint_where_nobody_listens_is_named_with_that_cause()
    {
        var clock = new FakeClock();
        await using var cluster = Cluster((client, _) =>
        {
            client.Services.AddSingleton<TimeProvider>(clock);
            client.UseStaticClustering(new IPEndPoint(IPAddress.Loopback, 9));
        });
        await cluster.DeployAsync();
        var exception = await PassAsync(clock, cluster.InitializeClientAsync());
        Assert.Contains("No silo answered at 127.0.0.1:9", exception.Message, StringComparison.Ordinal);
        Assert.Contains("no process listens there", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_gateway_that_does_not_fit_is_no_reason_to_give_up_the_others()
    {
        await using var cluster = Cluster(static (client, silo) =>
            client.UseStaticClustering(silo.SiloAddress.Endpoint, silo.GatewayAddress!.Endpoint));
        await cluster.DeployAsync();
        await cluster.InitializeClientAsync().WaitAsync(Gate.Patience);
        Assert.Equal("a", await cluster.Client.GetGrain<IEchoGrain>("two gateways").Echo("a"));
    }

    [Theory]
    [InlineData("28P01")]
    [InlineData("3D000")]
    public async Task A_database_that_refuses_the_client_fails_its_start_at_once(string state)
    {
        var list = new GatewayList(() => throw new IOException("no list", new Refusal(state)));
        await using var cluster = Cluster((client, _) => Use(client, list).AddSingleton<TimeProvider>(new FakeClock()));
        await cluster.DeployAsync();
        var exception = await FailureAsync(cluster.InitializeClientAsync());
        Assert.Contains("no list", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_list_without_gateways_is_read_again_with_growing_pauses_and_the_cluster_is_named()
    {
        var clock = new FakeClock();
        var list = new GatewayList(static () => []);
        await using var cluster = Cluster((client, _) =>
        {
            Use(client, list).AddSingleton<TimeProvider>(clock);
            client.Configure<ClusterOptions>(static options => options.ClusterId = "mistyped");
        });
        await cluster.DeployAsync();
        var exception = await PassAsync(clock, cluster.InitializeClientAsync());
        Assert.Contains("'mistyped'", exception.Message, StringComparison.Ordinal);
        Assert.Contains("ClusterOptions.ClusterId", exception.Message, StringComparison.Ordinal);
        Assert.InRange(list.Asked, 2, 20);
    }

    private static Task FailsAtOnceAsync(string named, Action<IClientBuilder> configure, string? secret = Secret) => FailsAtOnceAsync(
        named,
        (client, _) =>
        {
            if (secret is not null)
                client.UseClusterSecret(secret);
            configure(client);
        },
        static silo => silo.UseClusterSecret(Secret));

    private static async Task FailsAtOnceAsync(
        string named, Action<IClientBuilder, InProcessSiloHandle> configure, Action<ISiloBuilder>? silos = null)
    {
        var log = new LogCapture();
        await using var cluster = Cluster(
            (client, silo) =>
            {
                client.Services.AddSingleton<TimeProvider>(new FakeClock()).AddSingleton<ILoggerProvider>(log);
                configure(client, silo);
            },
            silos);
        await cluster.DeployAsync();
        var exception = await FailureAsync(cluster.InitializeClientAsync());
        Assert.Contains(named, exception.Message, StringComparison.Ordinal);
        Assert.Single(log.Lines(LogLevel.Warning), static line => line.StartsWith("Dial ", StringComparison.Ordinal));
    }

    private static async Task<ConnectionFailedException> FailureAsync(Task start) =>
        await Assert.ThrowsAsync<ConnectionFailedException>(() => start.WaitAsync(Gate.Patience));

    /// <summary>Moves the clock on until the start has failed.</summary>
    private static async Task<ConnectionFailedException> PassAsync(FakeClock clock, Task start)
    {
        await TestingUtils.WaitUntilAsync(
            _ =>
            {
                clock.Advance(TimeSpan.FromMilliseconds(100));
                return Task.FromResult(start.IsCompleted);
            },
            Gate.Patience, TimeSpan.FromMilliseconds(1));
        return await FailureAsync(start);
    }

    private static IServiceCollection Use(IClientBuilder client, IGatewayListProvider list)
    {
        client.Configure<StaticGatewayListProviderOptions>(static options => options.Gateways = []);
        return client.Services.AddSingleton(list);
    }

    /// <summary>One silo; the client is not started with it.</summary>
    private static InProcessTestCluster Cluster(Action<IClientBuilder, InProcessSiloHandle> client, Action<ISiloBuilder>? silos = null)
    {
        InProcessTestCluster cluster = null!;
        var builder = new InProcessTestClusterBuilder(1);
        builder.Options.InitializeClientOnDeploy = false;
        builder.ConfigureSilo((_, silo) => silos?.Invoke(silo));
        builder.ConfigureClient(one => client(one, cluster.Silos[0]));
        return cluster = builder.Build();
    }

    private sealed class GatewayList(Func<IList<Uri>> list) : IGatewayListProvider
    {
        private int _asked;

        internal int Asked => Volatile.Read(ref _asked);

        public TimeSpan MaxStaleness => TimeSpan.FromMinutes(1);

        public Task InitializeGatewayListProvider() => Task.CompletedTask;

        public Task<IList<Uri>> GetGateways()
        {
            Interlocked.Increment(ref _asked);
            return Task.FromResult(list());
        }
    }

    private sealed class Refusal(string state) : DbException("refused")
    {
        public override string? SqlState => state;
    }
}
