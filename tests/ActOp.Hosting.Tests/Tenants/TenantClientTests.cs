using ActOp.Configuration;
using ActOp.Runtime.Nodes;
using ActOp.Tenants;
using ActOp.TestClusters;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Orleans.Core.Internal;
using Orleans.Streams;
using Orleans.TestingHost;
using static ActOp.Hosting.Tests.Tenants.TenantTests;

namespace ActOp.Hosting.Tests.Tenants;

/// <summary>Clients that have proved the secret of a tenant: what they may call, on whichever silo it is.</summary>
public class TenantClientTests
{
    private const string Acme = "acme";
    private const string Globex = "globex";
    private const string OfSilos = "the secret of the silos, random";
    private const string OfAcme = "the secret of acme, 32 random bytes";
    private const string OfGlobex = "the secret of globex, random bytes";

    [Fact]
    public async Task A_client_of_a_tenant_calls_its_tenant_and_what_has_none_and_nobody_else()
    {
        await using var cluster = Cluster(Acme, OfAcme);
        await cluster.DeployAsync();
        // On two silos: the gateway has the grain, or passes the call on.
        for (var number = 0; number < 20; number++)
        {
            var key = "grain" + number;
            Assert.Equal(Acme + "/" + key, await cluster.Client.ForTenant(Acme).GetGrain<IMember>(key).Name());
            Assert.Equal("/" + key, await cluster.Client.GetGrain<IMember>(key).Name());
            var refusal = await Assert.ThrowsAsync<CrossTenantException>(() => cluster.Client.ForTenant(Globex).GetGrain<IMember>(key).Name());
            Assert.Equal((Acme, Globex), (refusal.SourceTenant, refusal.TargetTenant));
        }
    }

    [Fact]
    public async Task Neither_context_nor_arguments_change_the_tenant_of_a_client()
    {
        await using var cluster = Cluster(Acme, OfAcme, silos: 1);
        await cluster.DeployAsync();
        RequestContext.Set("tenant", Globex);
        await Assert.ThrowsAsync<CrossTenantException>(() => cluster.Client.ForTenant(Globex).GetGrain<IMember>("one").Name());
        var grains = NodeOf(cluster).Activations.Count;
        await Assert.ThrowsAsync<CrossTenantException>(() => cluster.Client.ForTenant(Globex).GetGrain<IMember>("never").Name());
        Assert.Equal(grains, NodeOf(cluster).Activations.Count);
    }

    [Fact]
    public async Task Observers_enumerations_and_cancellations_of_a_client_of_a_tenant_work()
    {
        await using var cluster = Cluster(Acme, OfAcme);
        await cluster.DeployAsync();
        var told = new TaskCompletionSource<string>();
        var listener = new Listener(told);
        var observer = cluster.Client.CreateObjectReference<IListener>(listener);
        foreach (var grains in (IGrainFactory[])[cluster.Client.ForTenant(Acme), cluster.Client])
        {
            var grain = grains.GetGrain<ICounted>("one");
            await grain.Tell(observer, "hello");
            Assert.Equal("hello", await told.Task.WaitAsync(Gate.Patience));
            Assert.Equal(3, await grain.Count(3).CountAsync());
            using var source = new GrainCancellationTokenSource();
            var waiting = grain.Wait(source.Token);
            await source.Cancel();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting);
        }

        GC.KeepAlive(listener);
    }

    [Fact]
    public async Task A_client_of_a_tenant_has_no_streams_of_its_own_and_its_grains_have()
    {
        await using var cluster = Cluster(Acme, OfAcme);
        await cluster.DeployAsync();
        var own = StreamId.Create("chat", "room").ForTenant(Acme);
        var stream = cluster.Client.GetStreamProvider("streams").GetStream<string>(own);
        foreach (var use in (Func<Task>[])[() => stream.OnNextAsync("item"), () => stream.SubscribeAsync((_, _) => Task.CompletedTask),
            () => stream.GetAllSubscriptionHandles()])
        {
            var refusal = await Assert.ThrowsAsync<CrossTenantException>(use);
            Assert.Contains("uses streams, channels and management through grains of its tenant", refusal.Message, StringComparison.Ordinal);
        }

        var reader = cluster.Client.ForTenant(Acme).GetGrain<IMember>("reader");
        await reader.Subscribe(own);
        await cluster.Client.ForTenant(Acme).GetGrain<IMember>("writer").Publish(own, "item");
        await TestingUtils.WaitUntilAsync(async _ => await reader.Received() == 1, Gate.Patience, TimeSpan.FromMilliseconds(5));
    }

    /// <summary>The silos of test clusters grant management to all clients.</summary>
    [Fact]
    public async Task A_client_of_a_tenant_does_not_manage_the_cluster()
    {
        await using var cluster = Cluster(Acme, OfAcme);
        await cluster.DeployAsync();
        await Assert.ThrowsAsync<CrossTenantException>(() => cluster.Client.GetGrain<IManagementGrain>(0).GetHosts(true));
        var grain = cluster.Client.ForTenant(Acme).GetGrain<IMember>("one");
        await Assert.ThrowsAsync<CrossTenantException>(() => grain.AsReference<IGrainManagementExtension>().DeactivateOnIdle().AsTask());
        Assert.Equal("acme/one", await grain.Name());
    }

    [Fact]
    public async Task A_client_without_a_tenant_calls_all_as_before()
    {
        await using var cluster = Cluster(null, OfSilos);
        await cluster.DeployAsync();
        Assert.Equal("acme/one", await cluster.Client.ForTenant(Acme).GetGrain<IMember>("one").Name());
        Assert.Equal("globex/one", await cluster.Client.ForTenant(Globex).GetGrain<IMember>("one").Name());
        Assert.Equal(2, (await cluster.Client.GetGrain<IManagementGrain>(0).GetHosts(true)).Count);
    }

    [Fact]
    public async Task A_policy_decides_for_the_clients_of_a_tenant_too()
    {
        await using var cluster = Cluster(Globex, OfGlobex, 1, new Partners());
        await cluster.DeployAsync();
        Assert.Equal("acme/one", await cluster.Client.ForTenant(Acme).GetGrain<IMember>("one").Name());
        await Assert.ThrowsAsync<CrossTenantException>(() => cluster.Client.GetGrain<IMember>("one").Name());
    }

    [Fact]
    public void Secrets_of_tenants_come_from_the_configuration()
    {
        var host = new HostBuilder().UseOrleans(_ => { }).ConfigureAppConfiguration(configuration => configuration.AddInMemoryCollection(
            new Dictionary<string, string?>
            {
                ["ActOp:Security:TenantSecrets:acme:0"] = OfAcme,
                ["ActOp:Security:TenantSecrets:acme:1"] = OfSilos,
                ["ActOp:Security:Tenant"] = Globex,
            })).Build();
        var options = host.Services.GetRequiredService<IOptions<ClusterSecurityOptions>>().Value;
        Assert.Equal([OfAcme, OfSilos], options.TenantSecrets[Acme]);
        Assert.Equal(Globex, options.Tenant);
    }

    [Theory]
    [InlineData("no AddTenants", "TenantSecrets needs AddTenants")]
    [InlineData("no secret", "TenantSecrets needs Secret or ClientSecret")]
    [InlineData("a bar", "has a name that no tenant can have")]
    [InlineData("empty", "has no secret for the tenant \"acme\"")]
    [InlineData("short", "must have at least 16 bytes")]
    [InlineData("twice", "that another tenant, or silos, other clients or operators have, too")]
    [InlineData("of silos", "that another tenant, or silos, other clients or operators have, too")]
    [InlineData("of a client", "Tenant is an option of clients")]
    public async Task Wrong_secrets_of_tenants_fail_the_start_of_a_silo(string what, string says)
    {
        using var host = new HostBuilder().UseOrleans(silo =>
        {
            silo.UseLocalhostClustering().Configure<ClusterSecurityOptions>(options =>
            {
                options.Secret = what == "no secret" ? null : OfSilos;
                options.TenantSecrets[what == "a bar" ? "ac|me" : Acme] = what switch
                {
                    "empty" => [],
                    "short" => ["short"],
                    "of silos" => [OfAcme, OfSilos],
                    _ => [OfAcme],
                };
                if (what == "twice")
                    options.TenantSecrets[Globex] = [OfAcme];
                options.Tenant = what == "of a client" ? Acme : null;
            });
            if (what != "no AddTenants")
                silo.AddTenants();
        }).Build();
        var exception = await Assert.ThrowsAsync<OrleansConfigurationException>(() => host.StartAsync());
        Assert.Contains(says, exception.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("no secret", "Tenant needs ClientSecret")]
    [InlineData("operator", "Tenant and OperatorSecret exclude each other")]
    [InlineData("of silos", "TenantSecrets is an option of silos")]
    public async Task Wrong_options_of_a_client_of_a_tenant_fail_its_start(string what, string says)
    {
        using var host = new HostBuilder().UseOrleansClient(client => client.UseLocalhostClustering().Configure<ClusterSecurityOptions>(options =>
        {
            options.Tenant = Acme;
            options.ClientSecret = what == "no secret" ? null : OfAcme;
            options.OperatorSecret = what == "operator" ? OfGlobex : null;
            if (what == "of silos")
                options.TenantSecrets[Acme] = [OfAcme];
        })).Build();
        var exception = await Assert.ThrowsAsync<OrleansConfigurationException>(() => host.StartAsync());
        Assert.Contains(says, exception.Message, StringComparison.Ordinal);
    }

    private static InProcessTestCluster Cluster(string? tenant, string secret, short silos = 2, ICrossTenantAuthorizer? policy = null)
    {
        var builder = new InProcessTestClusterBuilder(silos);
        builder.ConfigureSilo((_, silo) => silo.AddTenants(policy is null ? null : _ => policy).UseClusterSecret(OfSilos)
            .AddMemoryStreams("streams").AddMemoryGrainStorage("PubSubStore")
            .Configure<ClusterSecurityOptions>(static options =>
            {
                options.TenantSecrets[Acme] = [OfGlobex + " before", OfAcme];
                options.TenantSecrets[Globex] = [OfGlobex];
            }));
        builder.ConfigureClient(client => client.UseClusterSecret(secret).AddMemoryStreams("streams")
            .Configure<ClusterSecurityOptions>(options => options.Tenant = tenant));
        return builder.Build();
    }

    private static Node NodeOf(InProcessTestCluster cluster) => cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    private sealed class Partners : ICrossTenantAuthorizer
    {
        public bool IsAccessAuthorized(string? sourceTenant, string? targetTenant) => (sourceTenant, targetTenant) == (Globex, Acme);
    }

    public interface IListener : IGrainObserver
    {
        Task Hear(string text);
    }

    private sealed class Listener(TaskCompletionSource<string> told) : IListener
    {
        public Task Hear(string text)
        {
            told.TrySetResult(text);
            return Task.CompletedTask;
        }
    }

    public interface ICounted : IGrainWithStringKey
    {
        Task Tell(IListener listener, string text);

        IAsyncEnumerable<int> Count(int until);

        Task Wait(GrainCancellationToken cancellation);
    }

    internal sealed class CountedGrain : Grain, ICounted
    {
        public Task Tell(IListener listener, string text) => listener.Hear(text);

        public async IAsyncEnumerable<int> Count(int until)
        {
            for (var number = 0; number < until; number++)
            {
                await Task.Yield();
                yield return number;
            }
        }

        public Task Wait(GrainCancellationToken cancellation) =>
            Task.Delay(Timeout.InfiniteTimeSpan, TimeProvider.System, cancellation.CancellationToken);
    }
}
