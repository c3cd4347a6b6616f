using ActOp.Configuration;
using ActOp.Runtime.Groups;
using ActOp.Runtime.Nodes;
using ActOp.Tenants;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;
using Orleans.Core.Internal;
using Orleans.Storage;
using Orleans.Streams;
using Orleans.TestingHost;

namespace ActOp.Hosting.Tests.Tenants;

/// <summary>Tenants that share silos: who may call whom, and use which streams.</summary>
public class TenantTests
{
    private const string Acme = "acme";
    private const string Globex = "globex";

    [Fact]
    public async Task A_grain_calls_its_own_tenant_and_what_has_none_and_nobody_else()
    {
        await using var cluster = Cluster();
        await cluster.DeployAsync();
        // On two silos: calls within a silo and between silos.
        for (var number = 0; number < 20; number++)
        {
            var key = "grain" + number;
            var caller = cluster.Client.ForTenant(Acme).GetGrain<IMember>("caller");
            Assert.Equal(Acme + "/" + key, await caller.Ask(Acme, key));
            Assert.Equal("/" + key, await caller.Ask(null, key));
            var refusal = await Assert.ThrowsAsync<CrossTenantException>(() => caller.Ask(Globex, key));
            Assert.Equal((Acme, Globex), (refusal.SourceTenant, refusal.TargetTenant));
            Assert.Contains("The tenant \"acme\" may not use what belongs to the tenant \"globex\"", refusal.Message, StringComparison.Ordinal);
            Assert.Equal(Globex + "/" + key, await cluster.Client.GetGrain<IMember>("shared").Ask(Globex, key));
        }

        Assert.Equal(20, cluster.Silos.Sum(static silo => Node(silo).Local.Tenants!.Refused));
    }

    [Fact]
    public async Task A_refused_call_activates_nothing()
    {
        await using var cluster = Cluster(silos: 1);
        await cluster.DeployAsync();
        var caller = cluster.Client.ForTenant(Acme).GetGrain<IMember>("caller");
        await caller.Ask(Acme, "first");
        var before = Node(cluster.Silos[0]).Activations.Count;
        await Assert.ThrowsAsync<CrossTenantException>(() => caller.Ask(Globex, "never"));
        Assert.Equal(before, Node(cluster.Silos[0]).Activations.Count);
    }

    [Fact]
    public async Task Each_kind_of_key_has_its_tenant()
    {
        await using var cluster = Cluster(silos: 1);
        await cluster.DeployAsync();
        var guid = Guid.NewGuid();
        var acme = cluster.Client.ForTenant(Acme);
        Assert.Equal((31L, "acme|"), await acme.GetGrain<INumbered>(31).Key());
        Assert.Equal((31L, "acme|x"), await acme.GetGrain<INumberedMore>(31, "x").Key());
        Assert.Equal(guid, await acme.GetGrain<IGuided>(guid).Key());
        Assert.Equal(guid, await acme.GetGrain<IGuidedMore>(guid, "x").Key());
        Assert.Equal(Acme, ((IAddressable)acme.GetGrain(typeof(IGuided), guid)).GetTenant());
        Assert.Equal(Acme, acme.GetGrain(typeof(INumbered), 31).GetTenant());
        Assert.Equal(Acme, acme.GetGrain(typeof(IMember), "x").GetTenant());
        Assert.Equal(acme.GetGrain<INumbered>(31), acme.GetGrain(typeof(INumbered), IdSpan.Create("1F")));
        Assert.Equal(acme.GetGrain<INumberedMore>(31, "x"), acme.GetGrain(typeof(INumberedMore), IdSpan.Create("1F+x")));
        Assert.Equal(acme.GetGrain<IMember>("x"), acme.GetGrain(typeof(IMember), IdSpan.Create("x")));
        Assert.Equal("x", acme.GetGrain<INumberedMore>(31, "x").GetKeyWithinTenant());
        Assert.Equal("", acme.GetGrain<INumbered>(31).GetKeyWithinTenant());
        // The grains without a tenant are others.
        Assert.NotEqual(acme.GetGrain<INumbered>(31), cluster.Client.GetGrain<INumbered>(31));
        Assert.Throws<ArgumentException>(() => acme.ForTenant(Globex));
    }

    [Fact]
    public async Task A_policy_of_the_application_decides_about_all_that_crosses()
    {
        var policy = new Policy(static (source, target) => (source, target) switch
        {
            (Acme, Globex) or (null, Acme) => true,
            (Globex, Acme) => throw new FormatException("no"),
            _ => false,
        });
        var log = new LogCapture();
        await using var cluster = Cluster(silos: 1, policy, log);
        await cluster.DeployAsync();
        var acme = cluster.Client.ForTenant(Acme).GetGrain<IMember>("caller");
        Assert.Equal("globex/one", await acme.Ask(Globex, "one"));
        await Assert.ThrowsAsync<CrossTenantException>(() => acme.Ask(null, "one"));
        // The client has no tenant.
        var refusal = await Assert.ThrowsAsync<CrossTenantException>(() => cluster.Client.ForTenant(Globex).GetGrain<IMember>("x").Ask(Acme, "y"));
        Assert.Null(refusal.SourceTenant);
        policy.Allows = static (source, target) => source is null ? true : throw new FormatException("no");
        refusal = await Assert.ThrowsAsync<CrossTenantException>(() => cluster.Client.ForTenant(Globex).GetGrain<IMember>("x").Ask(Acme, "y"));
        Assert.Contains("The policy of the application has failed", refusal.Message, StringComparison.Ordinal);
        Assert.Contains(log.Lines(LogLevel.Warning), static line => line.Contains("across tenants", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_grain_uses_the_streams_of_its_own_tenant_only()
    {
        await using var cluster = Cluster(silos: 2);
        await cluster.DeployAsync();
        var acme = cluster.Client.ForTenant(Acme).GetGrain<IMember>("reader");
        var stream = StreamId.Create("chat", "room").ForTenant(Acme);
        await acme.Subscribe(stream);
        await cluster.Client.ForTenant(Acme).GetGrain<IMember>("writer").Publish(stream, "hello");
        await TestingUtils.WaitUntilAsync(
            async _ => await acme.Received() == 1, Gate.Patience, TimeSpan.FromMilliseconds(5));
        var globex = cluster.Client.ForTenant(Globex).GetGrain<IMember>("other");
        await Assert.ThrowsAsync<CrossTenantException>(() => globex.Subscribe(stream));
        await Assert.ThrowsAsync<CrossTenantException>(() => globex.Publish(stream, "intruder"));
        await Assert.ThrowsAsync<CrossTenantException>(() => globex.CountSubscriptions(stream));
        Assert.Equal(1, await acme.CountSubscriptions(stream));
        // A stream without a tenant is for all.
        await globex.Subscribe(StreamId.Create("chat", "lobby"));
    }

    [Fact]
    public async Task An_implicit_subscriber_is_the_grain_of_the_streams_tenant()
    {
        await using var cluster = Cluster(silos: 1);
        await cluster.DeployAsync();
        var stream = StreamId.Create("orders", "7").ForTenant(Acme);
        await cluster.Client.ForTenant(Acme).GetGrain<IMember>("writer").Publish(stream, "order");
        await TestingUtils.WaitUntilAsync(async _ => await cluster.Client.ForTenant(Acme).GetGrain<IImplicitMember>("7").Received() == 1,
            Gate.Patience, TimeSpan.FromMilliseconds(5));
        Assert.Equal(0, await cluster.Client.ForTenant(Globex).GetGrain<IImplicitMember>("7").Received());
    }

    [Fact]
    public async Task A_tenant_is_in_the_group_of_its_name()
    {
        await using var cluster = Cluster(silos: 1, configure: static silo => silo.AddGroups(static groups => groups.Add(Acme).Add("batch").SelectTenants()));
        await cluster.DeployAsync();
        await cluster.Client.ForTenant(Acme).GetGrain<IMember>("a").Received();
        await cluster.Client.ForTenant(Globex).GetGrain<IMember>("a").Received();
        await cluster.Client.GetGrain<IMember>("a").Received();
        var groups = Node(cluster.Silos[0]).Stages.Groups!;
        Assert.Equal((1, 0), (groups.All.Single(static group => group.Name == Acme).Activations, groups.SelectorFailures));
    }

    [Fact]
    public async Task Without_separation_tenants_are_only_keys()
    {
        await using var cluster = new InProcessTestClusterBuilder(1).Build();
        await cluster.DeployAsync();
        Assert.Equal("globex/one", await cluster.Client.ForTenant(Acme).GetGrain<IMember>("caller").Ask(Globex, "one"));
    }

    [Fact]
    public async Task States_of_a_tenant_are_in_the_storage_that_the_delegate_names()
    {
        await using var cluster = Cluster(silos: 2, configure: static silo => silo
            .AddMemoryGrainStorage("shared").AddMemoryGrainStorage("of acme")
            .AddTenantGrainStorage("carts", static tenant => tenant == Acme ? "of acme" : "shared")
            .AddTenantGrainStorage("Default", static _ => "shared"));
        await cluster.DeployAsync();
        foreach (var grains in (IGrainFactory[])[cluster.Client.ForTenant(Acme), cluster.Client.ForTenant(Globex), cluster.Client])
        {
            Assert.Equal((null, null), await grains.GetGrain<IKeeper>("one").Replace("kept"));
            await grains.GetGrain<IKeeper>("one").Cast<IGrainManagementExtension>().DeactivateOnIdle();
            Assert.Equal(("kept", "kept"), await grains.GetGrain<IKeeper>("one").Replace("other"));
        }

        var services = cluster.Silos[0].ServiceProvider;
        async Task<bool> IsThere(string storage, string state, IAddressable grain)
        {
            var read = new GrainState<KeptText>();
            await services.GetRequiredKeyedService<IGrainStorage>(storage).ReadStateAsync(state, grain.GetGrainId(), read);
            return read.RecordExists;
        }

        var (acme, globex) = (cluster.Client.ForTenant(Acme).GetGrain<IKeeper>("one"), cluster.Client.ForTenant(Globex).GetGrain<IKeeper>("one"));
        Assert.Equal((true, false, true), (await IsThere("of acme", "text", acme), await IsThere("shared", "text", acme), await IsThere("carts", "text", acme)));
        Assert.Equal((false, true), (await IsThere("of acme", "text", globex), await IsThere("shared", "text", globex)));
        Assert.Equal((false, true), (await IsThere("of acme", "state", acme), await IsThere("shared", "state", acme)));
    }

    [Theory]
    [InlineData("throws", "has failed for the tenant \"throws\"")]
    [InlineData("empty", "has named no storage for the tenant \"empty\"")]
    [InlineData("missing", "has named \"missing\" for the tenant \"missing\", but there is no such storage")]
    [InlineData("carts", "which chooses a storage for each tenant itself")]
    public async Task A_delegate_that_names_no_storage_fails_the_activation_and_says_so(string tenant, string says)
    {
        await using var cluster = Cluster(silos: 1, configure: static silo => silo.AddMemoryGrainStorageAsDefault()
            .AddTenantGrainStorage("carts", static tenant => tenant switch
            {
                "throws" => throw new FormatException("no"),
                "empty" => "",
                _ => tenant!,
            }));
        await cluster.DeployAsync();
        var failure = await Assert.ThrowsAsync<InvalidOperationException>(() => cluster.Client.ForTenant(tenant).GetGrain<IKeeper>("one").Replace("x"));
        Assert.Contains(says, Assert.IsType<BadProviderConfigException>(failure.InnerException).Message, StringComparison.Ordinal);
    }

    private static InProcessTestCluster Cluster(
        short silos = 2, ICrossTenantAuthorizer? policy = null, LogCapture? log = null, Action<ISiloBuilder>? configure = null)
    {
        var builder = new InProcessTestClusterBuilder(silos);
        builder.ConfigureSilo((_, silo) =>
        {
            silo.AddTenants(policy is null ? null : _ => policy).AddMemoryStreams("streams").AddMemoryGrainStorage("PubSubStore");
            configure?.Invoke(silo);
            if (log is not null)
                silo.Services.AddLogging(logging => logging.AddProvider(log));
        });
        return builder.Build();
    }

    private static Node Node(InProcessSiloHandle silo) => silo.ServiceProvider.GetRequiredService<Node>();

    private sealed class Policy(Func<string?, string?, bool> allows) : ICrossTenantAuthorizer
    {
        internal Func<string?, string?, bool> Allows { get; set; } = allows;

        public bool IsAccessAuthorized(string? sourceTenant, string? targetTenant) => Allows(sourceTenant, targetTenant);
    }

    public interface IMember : IGrainWithStringKey
    {
        Task<string> Ask(string? tenant, string key);

        Task<string> Name();

        Task Subscribe(StreamId stream);

        Task Publish(StreamId stream, string item);

        Task<int> CountSubscriptions(StreamId stream);

        Task<int> Received();
    }

    internal sealed class MemberGrain : Grain, IMember
    {
        private int _received;

        public Task<string> Ask(string? tenant, string key) =>
            (tenant is null ? GrainFactory : GrainFactory.ForTenant(tenant)).GetGrain<IMember>(key).Name();

        public Task<string> Name() => Task.FromResult(this.GetTenant() + "/" + this.GetKeyWithinTenant());

        public Task Subscribe(StreamId stream) => Stream(stream).SubscribeAsync((_, _) =>
        {
            _received++;
            return Task.CompletedTask;
        });

        public Task Publish(StreamId stream, string item) => Stream(stream).OnNextAsync(item);

        public async Task<int> CountSubscriptions(StreamId stream) => (await Stream(stream).GetAllSubscriptionHandles()).Count;

        public Task<int> Received() => Task.FromResult(_received);

        private IAsyncStream<string> Stream(StreamId stream) => this.GetStreamProvider("streams").GetStream<string>(stream);
    }

    public interface IKeeper : IGrainWithStringKey
    {
        Task<(string? Injected, string? Own)> Replace(string text);
    }

    [GenerateSerializer]
    public sealed class KeptText
    {
        [Id(0)]
        public string? Text { get; set; }
    }

    internal sealed class KeeperGrain([PersistentState("text", "carts")] IPersistentState<KeptText> injected) : Grain<KeptText>, IKeeper
    {
        public async Task<(string? Injected, string? Own)> Replace(string text)
        {
            var before = (injected.State.Text, State.Text);
            (injected.State.Text, State.Text) = (text, text);
            await injected.WriteStateAsync();
            await WriteStateAsync();
            return before;
        }
    }

    public interface IImplicitMember : IGrainWithStringKey
    {
        Task<int> Received();
    }

    [ImplicitStreamSubscription("orders")]
    internal sealed class ImplicitMemberGrain : Grain, IImplicitMember
    {
        private int _received;

        public override Task OnActivateAsync(CancellationToken cancellationToken) => this.GetStreamProvider("streams")
            .GetStream<string>(StreamId.Create("orders", this.GetPrimaryKeyString())).SubscribeAsync((_, _) =>
            {
                _received++;
                return Task.CompletedTask;
            });

        public Task<int> Received() => Task.FromResult(_received);
    }

    public interface INumbered : IGrainWithIntegerKey
    {
        Task<(long, string?)> Key();
    }

    public interface INumberedMore : IGrainWithIntegerCompoundKey
    {
        Task<(long, string?)> Key();
    }

    public interface IGuided : IGrainWithGuidKey
    {
        Task<Guid> Key();
    }

    public interface IGuidedMore : IGrainWithGuidCompoundKey
    {
        Task<Guid> Key();
    }

    internal sealed class NumberedGrain : Grain, INumbered
    {
        public Task<(long, string?)> Key() => Task.FromResult((this.GetPrimaryKeyLong(out var extension), extension));
    }

    internal sealed class NumberedMoreGrain : Grain, INumberedMore
    {
        public Task<(long, string?)> Key() => Task.FromResult((this.GetPrimaryKeyLong(out var extension), extension));
    }

    internal sealed class GuidedGrain : Grain, IGuided
    {
        public Task<Guid> Key() => Task.FromResult(this.GetPrimaryKey());
    }

    internal sealed class GuidedMoreGrain : Grain, IGuidedMore
    {
        public Task<Guid> Key() => Task.FromResult(this.GetPrimaryKey(out _));
    }
}
