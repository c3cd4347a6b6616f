using ActOp.TestClusters;
using Orleans.Placement;
using Orleans.Runtime.Placement;

namespace ActOp.Placement.Tests;

/// <summary>Silos 0 and 1 host the classes of this file, silos 2 and 3 do not; all have the interfaces.</summary>
public class DifferentSilosTests(DifferentSilosTests.MixedSilos cluster) : IClassFixture<DifferentSilosTests.MixedSilos>
{
    private const int Hosting = 2;

    [Fact]
    public async Task Every_strategy_places_on_silos_that_host_the_class()
    {
        await Check<IAnywhere>();
        await Check<IRandomly>();
        await Check<ICountedHere>();
        await Check<ILocally>();
        await Check<IByHash>();
        await Check<IByDirector>();

        async Task Check<T>()
            where T : ISeat
        {
            for (var caller = 0; caller < 4; caller++)
            {
                var grains = Enumerable.Range(caller * 1000, 25).Select(key => cluster.ClientOf(caller).GetGrain<T>(key).Where());
                Assert.All(await Task.WhenAll(grains), AssertHosts);
            }

            Assert.All(await Task.WhenAll(Enumerable.Range(9000, 25).Select(key => cluster.Client.GetGrain<T>(key).Where())), AssertHosts);
        }
    }

    [Fact]
    public async Task A_grain_that_prefers_its_caller_is_there_if_the_class_is() =>
        Assert.Equal(cluster.AddressOf(1), await cluster.ClientOf(1).GetGrain<ILocally>(77_001).Where());

    [Fact]
    public async Task A_director_is_told_the_silos_that_host_the_class_and_the_interface()
    {
        await cluster.ClientOf(0).GetGrain<IByDirector>(77_000).Where();
        var (target, silos) = HostingDirector.Last;
        Assert.Equal(cluster.HostingSilos, silos.Order());
        Assert.Equal(typeof(IByDirector).FullName!.Replace('+', '.'), target.InterfaceType.ToString()!.Replace('+', '.'));
    }

    [Fact]
    public async Task A_stateless_worker_that_a_silo_does_not_host_runs_on_one_that_does()
    {
        Assert.Equal(cluster.AddressOf(0), await cluster.ClientOf(0).GetGrain<IAssistant>(0).Where());
        var seats = new HashSet<SiloAddress>();
        for (var call = 0; call < 40; call++)
            seats.Add(await cluster.ClientOf(3).GetGrain<IAssistant>(0).Where());
        Assert.Equal(cluster.HostingSilos, seats.Order());
        for (var call = 0; call < 10; call++)
            AssertHosts(await cluster.Client.GetGrain<IAssistant>(call).Where());
    }

    [Fact]
    public async Task A_hint_that_names_a_silo_without_the_class_is_not_followed() =>
        AssertHosts(await Place.On(cluster.AddressOf(3), cluster.Client.GetGrain<IAnywhere>(77_002).Where));

    [Fact]
    public async Task A_grain_does_not_migrate_to_a_silo_without_its_class()
    {
        var grain = cluster.Client.GetGrain<IAnywhere>(77_003);
        await Place.On(cluster.AddressOf(0), grain.Where);
        await Place.On(cluster.AddressOf(3), async () =>
        {
            await grain.Go();
            return true;
        });
        AssertHosts(await grain.Where());
        var node = cluster.NodeOf(3);
        var refused = await node.Migrations.Accept(new(grain.GetGrainId(), default), []);
        Assert.True(refused.IsNone);
    }

    [Fact]
    public async Task A_request_placed_on_a_silo_without_the_class_is_placed_on_one_with_it()
    {
        // What a silo with an outdated idea of the other would do.
        var grain = cluster.Client.GetGrain<IAnywhere>(77_004);
        cluster.NodeOf(2).Locations.SetLocation(grain.GetGrainId(), new(cluster.AddressOf(3), default, 0));
        AssertHosts(await cluster.ClientOf(2).GetGrain<IAnywhere>(77_004).Where());
    }

    [Fact]
    public void Locality_moves_a_grain_only_to_silos_that_host_its_class()
    {
        var known = cluster.NodeOf(0).Manifests.Known;
        var grain = cluster.Client.GetGrain<IAnywhere>(1).GetGrainId().Type;
        Assert.False(known.AreAlike);
        Assert.True(known.Hosts(cluster.AddressOf(1), grain));
        Assert.False(known.Hosts(cluster.AddressOf(2), grain));
    }

    [Fact]
    public async Task A_class_that_nobody_hosts_is_an_error_at_once_that_names_it_and_the_silos()
    {
        var nobody = GrainId.Create("nobodys", "1");
        foreach (var client in new[] { cluster.ClientOf(0), cluster.ClientOf(3), cluster.Client })
        {
            // Not that of a call that takes too long.
            var exception = await Assert.ThrowsAnyAsync<OrleansException>(
                () => client.GetGrain<IAnywhere>(nobody).Where().WaitAsync(Gate.Patience));
            Assert.Contains("nobodys", exception.Message, StringComparison.Ordinal);
            // A request of a client names the method only, and so the interface that declares it.
            Assert.Contains(client == cluster.Client ? nameof(ISeat) : nameof(IAnywhere), exception.Message, StringComparison.Ordinal);
            for (var silo = 0; silo < 4; silo++)
                Assert.Contains(cluster.AddressOf(silo).ToString(), exception.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void An_interface_without_a_class_in_the_cluster_is_an_error_that_names_it()
    {
        var exception = Assert.Throws<ArgumentException>(() => cluster.ClientOf(0).GetGrain<IAbsent>(1));
        Assert.Contains(nameof(IAbsent), exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_silo_that_starts_knows_the_classes_of_the_others_before_it_is_active()
    {
        var joined = await cluster.Cluster.StartAdditionalSiloAsync();
        try
        {
            var node = cluster.Cluster.Nodes.Single(node => node.Address.Equals(joined.SiloAddress));
            Assert.Empty(node.Manifests.Known.Unknown);
            AssertHosts(await joined.ServiceProvider.GetRequiredService<IClusterClient>().GetGrain<ILocally>(88_000).Where());
        }
        finally
        {
            await cluster.Cluster.StopSiloAsync(joined);
        }
    }

    private void AssertHosts(SiloAddress seat) => Assert.Contains(seat, cluster.HostingSilos);

    public sealed class MixedSilos() : ClusterFixture(4)
    {
        public SiloAddress[] HostingSilos => [.. Enumerable.Range(0, Hosting).Select(AddressOf).Order()];

        internal ActOp.Runtime.Nodes.Node NodeOf(int silo) => Cluster.Nodes.Single(node => node.Address.Equals(AddressOf(silo)));

        protected override void ConfigureSilo(string name, ISiloBuilder silo)
        {
            if (name is "Silo_0" or "Silo_1")
            {
                silo.AddPlacementDirector<HostingPlacement, HostingDirector>();
                silo.Configure<GrainTypeOptions>(static options => options.Classes.Remove(typeof(AbsentGrain)));
            }
            else
            {
                silo.Configure<GrainTypeOptions>(
                    static options => options.Classes.RemoveWhere(type => type.DeclaringType == typeof(DifferentSilosTests)));
            }
        }
    }

    public interface ISeat : IGrainWithIntegerKey
    {
        Task<SiloAddress> Where();

        Task Go();
    }

    public interface IAnywhere : ISeat;

    public interface IRandomly : ISeat;

    public interface ICountedHere : ISeat;

    public interface ILocally : ISeat;

    public interface IByHash : ISeat;

    public interface IByDirector : ISeat;

    public interface IAssistant : ISeat;

    public interface IAbsent : ISeat;

    public abstract class Seat(ILocalSiloDetails silo) : Grain, ISeat
    {
        public Task<SiloAddress> Where() => Task.FromResult(silo.SiloAddress);

        public Task Go()
        {
            MigrateOnIdle();
            return Task.CompletedTask;
        }
    }

    public sealed class AnywhereGrain(ILocalSiloDetails silo) : Seat(silo), IAnywhere;

    [RandomPlacement]
    public sealed class RandomlyGrain(ILocalSiloDetails silo) : Seat(silo), IRandomly;

    [ActivationCountBasedPlacement]
    public sealed class CountedHereGrain(ILocalSiloDetails silo) : Seat(silo), ICountedHere;

    [PreferLocalPlacement]
    public sealed class LocallyGrain(ILocalSiloDetails silo) : Seat(silo), ILocally;

    [HashBasedPlacement]
    public sealed class ByHashGrain(ILocalSiloDetails silo) : Seat(silo), IByHash;

    [HostingPlacement]
    public sealed class ByDirectorGrain(ILocalSiloDetails silo) : Seat(silo), IByDirector;

    [StatelessWorker]
    public sealed class AssistantGrain(ILocalSiloDetails silo) : Seat(silo), IAssistant;

    public sealed class AbsentGrain(ILocalSiloDetails silo) : Seat(silo), IAbsent;

    /// <summary>Only the silos that host the class have it.</summary>
    public sealed class HostingPlacement : PlacementStrategy;

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class HostingPlacementAttribute() : PlacementAttribute(new HostingPlacement());

    public sealed class HostingDirector : IPlacementDirector
    {
        private static (PlacementTarget Target, SiloAddress[] Silos) s_last;

        public static (PlacementTarget Target, SiloAddress[] Silos) Last => s_last;

        public Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context)
        {
            var silos = context.GetCompatibleSilos(target);
            s_last = (target, silos);
            return Task.FromResult(silos[^1]);
        }
    }
}
