using ActOp.TestClusters;
using Orleans.Core.Internal;
using Orleans.Metadata;
using Orleans.Providers;
using Orleans.Providers.Streams.Common;
using Orleans.Serialization.TypeSystem;
using Orleans.Storage;
using Orleans.Versions.Compatibility;
using Orleans.Versions.Selector;

namespace ActOp.Surface.Tests;

/// <summary>What applications ask of the cluster: the management grain, the membership, the manifest.</summary>
public class ManagementTests(ManagementTests.Managed cluster) : IClassFixture<ManagementTests.Managed>
{
    private IManagementGrain Management => cluster.Client.GetGrain<IManagementGrain>(0);

    /// <summary>Of a class in statistics: with its assembly, as Orleans writes it.</summary>
    private static string Name => RuntimeTypeNameFormatter.Format(typeof(ManagedGrain));

    private SiloAddress[] Silos => [.. cluster.Cluster.Silos.Select(static silo => silo.SiloAddress)];

    [Fact]
    public async Task The_management_grain_tells_which_silos_there_are()
    {
        var hosts = await Management.GetHosts(onlyActive: true);
        Assert.Equal(Silos.Order(), hosts.Keys.Order());
        Assert.All(hosts.Values, status => Assert.Equal(SiloStatus.Active, status));
        var detailed = await Management.GetDetailedHosts();
        Assert.Equal(["Silo_0", "Silo_1"], detailed.Select(static host => host.SiloName).Order());
        Assert.All(detailed, host => Assert.Contains(host.SiloAddress, Silos));
    }

    [Fact]
    public async Task The_management_grain_counts_and_lists_activations()
    {
        for (var key = 0; key < 10; key++)
            await cluster.Client.GetGrain<IManaged>(key).Touch();
        var simple = await Management.GetSimpleGrainStatistics();
        Assert.True(
            simple.Where(static one => one.GrainType == Name).Sum(static one => one.ActivationCount) >= 10);
        var detailed = await Management.GetDetailedGrainStatistics([Name]);
        Assert.All(detailed, static one => Assert.Equal(Name, one.GrainType));
        Assert.Subset(detailed.Select(static one => one.GrainId.Key).ToHashSet(),
            Enumerable.Range(0, 10).Select(static key => GrainIdKeyExtensions.CreateIntegerKey(key)).ToHashSet());
        var type = cluster.Client.GetGrain<IManaged>(0).GetGrainId().Type;
        Assert.True((await Management.GetActiveGrains(type)).Count >= 10);
        Assert.True(await Management.GetTotalActivationCount() >= 10);
        Assert.Equal(1, await Management.GetGrainActivationCount((GrainReference)cluster.Client.GetGrain<IManaged>(3)));
        Assert.Equal(0, await Management.GetGrainActivationCount((GrainReference)cluster.Client.GetGrain<IManaged>(77)));
    }

    [Fact]
    public async Task The_management_grain_tells_where_a_grain_is_without_activating_it()
    {
        var grain = cluster.Client.GetGrain<IManaged>(200);
        Assert.Null(await Management.GetActivationAddress(grain));
        var seat = await grain.Seat();
        Assert.Equal(seat, await Management.GetActivationAddress(grain));
    }

    [Fact]
    public async Task A_grain_is_deactivated_by_its_id_and_one_that_is_not_active_stays_so()
    {
        var (active, idle) = (cluster.Client.GetGrain<IManaged>(201), cluster.Client.GetGrain<IManaged>(202));
        await active.Seat();
        await Management.DeactivateGrain(active.GetGrainId(), TestContext.Current.CancellationToken);
        await Management.DeactivateGrain(idle.GetGrainId(), TestContext.Current.CancellationToken);
        await TestingUtils.WaitUntilAsync(
            async _ => await Management.GetActivationAddress(active) is null, Gate.Patience, TimeSpan.FromMilliseconds(1));
        Assert.Null(await Management.GetActivationAddress(active));
        Assert.Null(await Management.GetActivationAddress(idle));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => Management.DeactivateGrain(active.GetGrainId(), new CancellationToken(canceled: true)));
    }

    [Fact]
    public async Task Load_and_use_of_silos_come_in_the_order_in_which_they_were_asked_for()
    {
        SiloAddress[] asked = [.. Silos.Reverse()];
        var statistics = await Management.GetRuntimeStatistics(asked);
        Assert.Equal(2, statistics.Length);
        Assert.All(statistics, one => Assert.False(one.IsOverloaded));
        Assert.Contains(statistics, static one => one.ClientCount > 0);
        Assert.All(statistics, one => Assert.True(one.EnvironmentStatistics.MaximumAvailableMemoryBytes > 0));
        Assert.All(statistics, static one => Assert.True(one.SentMessages > 0 && one.ReceivedMessages > 0));
        await Management.ForceRuntimeStatisticsCollection(asked);
        await Management.ForceGarbageCollection(asked);
    }

    [Fact]
    public async Task Activations_that_are_idle_end_when_the_management_grain_says_so()
    {
        var grain = cluster.Client.GetGrain<IManaged>(300);
        await grain.Touch();
        Assert.True(cluster.Cluster.TryGetGrainContext(grain.GetGrainId(), out var context));
        await cluster.Cluster.RestAsync(grain);
        await Management.ForceActivationCollection(TimeSpan.Zero);
        await context!.Deactivated.WaitAsync(Gate.Patience);
        Assert.Equal(0, await Management.GetGrainActivationCount((GrainReference)grain));
    }

    [Fact]
    public async Task Idle_activations_have_ended_when_the_management_grain_answers()
    {
        await using var own = await TestSilos.StartAsync();
        var grains = Enumerable.Range(0, 1_000).Select(key => own.Client.GetGrain<IManaged>(key)).ToArray();
        await Task.WhenAll(grains.Select(static grain => grain.Touch()));
        await own.RestAsync(grains);
        var management = own.Client.GetGrain<IManagementGrain>(0);
        Assert.Equal(1_000, await CountAsync());
        await management.ForceActivationCollection(TimeSpan.Zero);
        Assert.Equal(0, await CountAsync());

        async Task<int> CountAsync() => (await management.GetSimpleGrainStatistics())
            .Where(static one => one.GrainType == Name).Sum(static one => one.ActivationCount);
    }

    [Fact]
    public async Task A_provider_of_every_silo_runs_a_command()
    {
        var results = await Management.SendControlCommandToProvider<Lamp>("lamp", 7, "on");
        Assert.Equal([.. Silos.Select(static silo => silo + " 7 on").Order(StringComparer.Ordinal)],
            results.Select(static one => (string)one!).Order(StringComparer.Ordinal));
        await Assert.ThrowsAsync<ArgumentException>(() => Management.SendControlCommandToProvider<IControllable>("nobody", 7));
    }

    [Fact]
    public async Task A_command_finds_its_provider_under_whatever_the_application_has_registered_it()
    {
        // As Orleans' own tests register storages: as what they are, and as what takes commands.
        Assert.Equal([1, 1], await Management.SendControlCommandToProvider<Shelf>("shelf", 1));
        Assert.Equal([2, 2], await Management.SendControlCommandToProvider<Drawer>("shelf", 2));
        // Only as what it is.
        Assert.Equal([3, 3], await Management.SendControlCommandToProvider<Drawer>("hidden", 3));
        // By what it implements.
        Assert.Equal([4, 4], await Management.SendControlCommandToProvider<IControllable>("drawer", 4));
        // A provider of the runtime.
        Assert.Equal([0, 0], (await Management.SendControlCommandToProvider<PersistentStreamProvider>(
            "stream", (int)PersistentStreamProviderCommand.GetNumberRunningAgents)).Select(static one => (int)one! * 0));
        Assert.All(
            await Management.SendControlCommandToProvider<PersistentStreamProvider>(
                "stream", (int)PersistentStreamProviderCommand.GetAgentsState),
            static state => Assert.Equal(StreamLifecycleOptions.RunState.AgentsStarted, state));
        var failure = await Assert.ThrowsAsync<ArgumentException>(() => Management.SendControlCommandToProvider<Shelf>("drawer", 7));
        Assert.Contains(nameof(Shelf), failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Strategies_of_versions_are_set_on_all_silos()
    {
        await Management.SetCompatibilityStrategy(StrictVersionCompatible.Singleton);
        await Management.SetSelectorStrategy(MinimumVersion.Singleton);
        await Management.SetCompatibilityStrategy(GrainInterfaceType.Create("one of them"), AllVersionsCompatible.Singleton);
        await Management.SetCompatibilityStrategy(BackwardCompatible.Singleton);
        await Management.SetSelectorStrategy(AllCompatibleVersions.Singleton);
        await Management.SetSelectorStrategy(GrainInterfaceType.Create("one of them"), LatestVersion.Singleton);
    }

    [Fact]
    public async Task A_silo_that_starts_later_has_the_strategies_of_versions_that_were_set_before()
    {
        await using var own = await TestSilos.StartAsync();
        var management = own.Client.GetGrain<IManagementGrain>(0);
        await management.SetCompatibilityStrategy(StrictVersionCompatible.Singleton);
        await management.SetSelectorStrategy(GrainInterfaceType.Create("one of them"), MinimumVersion.Singleton);
        await management.SetCompatibilityStrategy(AllVersionsCompatible.Singleton);
        await management.SetCompatibilityStrategy(StrictVersionCompatible.Singleton);
        var late = await own.StartAdditionalSiloAsync();
        var versions = late.ServiceProvider.GetRequiredService<ActOp.Runtime.Nodes.Node>().Manifests.Versions;
        Assert.False(versions.IsCompatible("any", 1, 2));
        Assert.False(versions.IsCompatible("one of them", 1, 2));
        Assert.Equal([(ushort)2], versions.Select("one of them", 2, [1, 2, 3]));
        versions.Set(new ActOp.Runtime.Placement.VersionSetting(null, nameof(AllVersionsCompatible), null, Stamp: 1));
        Assert.False(versions.IsCompatible("any", 1, 2));
    }

    [Fact]
    public async Task The_store_of_versions_sets_strategies_on_all_silos_and_says_which_also_on_one_that_starts_later()
    {
        await using var own = await TestSilos.StartAsync();
        var store = own.GetSiloServiceProvider().GetRequiredService<Orleans.Versions.IVersionStore>();
        Assert.True(store.IsEnabled);
        Assert.Null(await store.GetCompatibilityStrategy());
        Assert.Null(await store.GetSelectorStrategy());
        await store.SetCompatibilityStrategy(StrictVersionCompatible.Singleton);
        await store.SetSelectorStrategy(LatestVersion.Singleton);
        var one = GrainInterfaceType.Create("one of them");
        await store.SetCompatibilityStrategy(one, AllVersionsCompatible.Singleton);
        await store.SetSelectorStrategy(one, MinimumVersion.Singleton);
        var late = await own.StartAdditionalSiloAsync();
        foreach (var silo in new[] { store, late.ServiceProvider.GetRequiredService<Orleans.Versions.IVersionStore>() })
        {
            Assert.Same(StrictVersionCompatible.Singleton, await silo.GetCompatibilityStrategy());
            Assert.Same(LatestVersion.Singleton, await silo.GetSelectorStrategy());
            Assert.Equal([new(one, AllVersionsCompatible.Singleton)], await silo.GetCompatibilityStrategies());
            Assert.Equal([new(one, MinimumVersion.Singleton)], await silo.GetSelectorStrategies());
        }
    }

    [Fact]
    public async Task Every_grain_can_be_ended_and_moved_by_the_management_extension()
    {
        var grain = cluster.Client.GetGrain<IManaged>(400);
        var seat = await grain.Seat();
        Assert.True(cluster.Cluster.TryGetGrainContext(grain.GetGrainId(), out var context));
        var target = Silos.Single(silo => !silo.Equals(seat));
        await Place.On(target, () => grain.AsReference<IGrainManagementExtension>().MigrateOnIdle().AsTask());
        await context!.Deactivated;
        Assert.Equal(target, await grain.Seat());
        Assert.True(cluster.Cluster.TryGetGrainContext(grain.GetGrainId(), out context));
        await grain.AsReference<IGrainManagementExtension>().DeactivateOnIdle();
        await context!.Deactivated;
    }

    [Fact]
    public async Task A_silo_knows_which_grains_are_active_on_it()
    {
        var grain = cluster.Client.GetGrain<IManaged>(500);
        var seat = await grain.Seat();
        foreach (var silo in cluster.Cluster.Silos)
        {
            var checker = silo.ServiceProvider.GetRequiredService<ILocalActivationStatusChecker>();
            Assert.Equal(silo.SiloAddress.Equals(seat), checker.IsLocallyActivated(grain.GetGrainId()));
        }
    }

    [Fact]
    public async Task The_membership_service_tells_of_silos_that_come_and_go()
    {
        await using var own = await TestSilos.StartAsync(2);
        var service = own.GetSiloServiceProvider().GetRequiredService<IClusterMembershipService>();
        var oracle = own.GetSiloServiceProvider().GetRequiredService<ISiloStatusOracle>();
        Assert.Equal(own.Silos.Select(static silo => silo.SiloAddress).Order(), service.CurrentSnapshot.Members.Keys.Order());
        Assert.Equal(service.CurrentSnapshot.Members.Keys.Order(), oracle.GetActiveSilos().Order());
        Assert.Equal(SiloStatus.Active, oracle.CurrentStatus);
        var victim = own.Silos.Single(silo => !silo.SiloAddress.Equals(oracle.SiloAddress));
        var listener = new Listener(victim.SiloAddress);
        Assert.True(oracle.SubscribeToSiloStatusEvents(listener));
        Assert.False(oracle.SubscribeToSiloStatusEvents(listener));
        Assert.True(await service.TryKill(victim.SiloAddress));
        await listener.Dead.Task;
        await foreach (var snapshot in service.MembershipUpdates)
        {
            if (snapshot.GetSiloStatus(victim.SiloAddress) == SiloStatus.Dead)
                break;
        }

        Assert.True(oracle.IsDeadSilo(victim.SiloAddress));
        Assert.True(oracle.UnSubscribeFromSiloStatusEvents(listener));
        await service.Refresh(service.CurrentSnapshot.Version);
    }

    [Fact]
    public void Snapshots_tell_what_has_changed()
    {
        var (one, two) = (SiloAddress.New(System.Net.IPAddress.Loopback, 1, 1), SiloAddress.New(System.Net.IPAddress.Loopback, 2, 1));
        var before = Of(1, new ClusterMember(one, SiloStatus.Active, "one"), new ClusterMember(two, SiloStatus.Joining, "two"));
        var after = Of(2, new ClusterMember(two, SiloStatus.Active, "two"));
        Assert.Equal([new ClusterMember(two, SiloStatus.Active, "two"), new ClusterMember(one, SiloStatus.Dead, "one")],
            after.CreateUpdate(before).Changes);
        Assert.False(after.CreateUpdate(after).HasChanges);
        Assert.Equal(SiloStatus.None, after.GetSiloStatus(one));
        Assert.Equal(SiloStatus.Dead, after.GetSiloStatus(one, before.Version));
        Assert.Equal(SiloStatus.Dead, after.GetSiloStatus(SiloAddress.New(System.Net.IPAddress.Loopback, 2, 0)));
        Assert.Throws<ArgumentException>(() => before.CreateUpdate(after));

        static ClusterMembershipSnapshot Of(long version, params ClusterMember[] members) =>
            new(System.Collections.Immutable.ImmutableDictionary.CreateRange(
                members.Select(static member => KeyValuePair.Create(member.SiloAddress, member))), new MembershipVersion(version));
    }

    [Fact]
    public async Task The_cluster_manifest_has_the_classes_and_interfaces_of_all_silos()
    {
        var provider = cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<IClusterManifestProvider>();
        Assert.Equal(Silos.Order(), provider.Current.Silos.Keys.Order());
        var type = cluster.Client.GetGrain<IManaged>(0).GetGrainId().Type;
        Assert.All(provider.Current.AllGrainManifests, manifest => Assert.Equal(
            typeof(ManagedGrain).FullName, manifest.Grains[type].Properties[WellKnownGrainTypeProperties.FullTypeName]));
        Assert.Contains(provider.LocalGrainManifest.Interfaces, one =>
            one.Value.Properties.GetValueOrDefault(WellKnownGrainInterfaceProperties.TypeName) == nameof(IManaged));
        await foreach (var manifest in provider.Updates)
        {
            Assert.Same(provider.Current, manifest);
            break;
        }

        var client = cluster.Client.ServiceProvider.GetRequiredService<IClusterManifestProvider>();
        Assert.Contains(client.Current.AllGrainManifests, manifest => manifest.Grains.ContainsKey(type));
        var resolver = cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<GrainPropertiesResolver>();
        Assert.Equal(nameof(ManagedGrain), resolver.GetGrainProperties(type).Properties[WellKnownGrainTypeProperties.TypeName]);
        Assert.False(resolver.TryGetGrainProperties(GrainType.Create("nobody hosts it"), out _));
        Assert.Equal(new MajorMinorVersion(3, 4), MajorMinorVersion.Parse("3.4"));
    }

    public interface IManaged : IGrainWithIntegerKey
    {
        Task Touch();

        Task<SiloAddress> Seat();
    }

    public sealed class ManagedGrain : Grain, IManaged
    {
        public Task Touch() => Task.CompletedTask;

        public Task<SiloAddress> Seat() => Task.FromResult(ServiceProvider.GetRequiredService<ILocalSiloDetails>().SiloAddress);
    }

    public sealed class Lamp(ILocalSiloDetails silo) : IControllable
    {
        public Task<object?> ExecuteCommand(int command, object? arg) =>
            Task.FromResult<object?>(silo.SiloAddress + " " + command + " " + arg);
    }

    public sealed class Shelf : Drawer;

    /// <summary>A storage that says the number of the command.</summary>
    public class Drawer : IGrainStorage, IControllable
    {
        public Task<object?> ExecuteCommand(int command, object? arg) => Task.FromResult<object?>(command);

        public Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) => Task.CompletedTask;

        public Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) => Task.CompletedTask;

        public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) => Task.CompletedTask;
    }

    private sealed class Listener(SiloAddress watched) : ISiloStatusListener
    {
        public TaskCompletionSource Dead { get; } = new();

        public void SiloStatusChangeNotification(SiloAddress updatedSilo, SiloStatus status)
        {
            if (updatedSilo.Equals(watched) && status == SiloStatus.Dead)
                Dead.TrySetResult();
        }
    }

    public sealed class Managed() : ClusterFixture(2)
    {
        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            silo.Services.AddKeyedSingleton<Lamp>("lamp");
            silo.Services.AddKeyedSingleton<IGrainStorage, Shelf>("shelf");
            silo.Services.AddKeyedSingleton("shelf", static (services, name) =>
                (IControllable)services.GetRequiredKeyedService<IGrainStorage>(name));
            silo.Services.AddKeyedSingleton<IControllable, Drawer>("shelf");
            silo.Services.AddKeyedSingleton<IGrainStorage, Drawer>("hidden");
            silo.Services.AddKeyedSingleton<IControllable, Drawer>("drawer");
            silo.AddMemoryStreams("stream").AddMemoryGrainStorage("PubSubStore");
        }
    }
}
