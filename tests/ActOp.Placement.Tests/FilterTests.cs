using ActOp.TestClusters;
using Microsoft.Extensions.Configuration;
using Orleans.Metadata;
using Orleans.Placement;
using Orleans.Runtime.MembershipService.SiloMetadata;
using Orleans.Runtime.Placement;
using Orleans.Runtime.Placement.Filtering;

namespace ActOp.Placement.Tests;

/// <summary>Silos 0 to 3 are in the zones a, a, a, b and in the racks 1, 1, 2, 1.</summary>
public class FilterTests(FilterTests.ZonedSilos cluster) : IClassFixture<FilterTests.ZonedSilos>
{
    [Fact]
    public void Every_silo_knows_the_metadata_of_all()
    {
        for (var silo = 0; silo < 4; silo++)
        {
            var cache = cluster.Cluster.Silos[silo].ServiceProvider.GetRequiredService<ISiloMetadataCache>();
            for (var other = 0; other < 4; other++)
            {
                var metadata = cache.GetSiloMetadata(cluster.AddressOf(other)).Metadata;
                Assert.Equal((ZonedSilos.Zones[other], ZonedSilos.Racks[other]), (metadata["zone"], metadata["rack"]));
            }

            Assert.Same(SiloMetadata.Empty, cache.GetSiloMetadata(SiloAddress.New(System.Net.IPAddress.Loopback, 1, 1)));
        }
    }

    [Fact]
    public async Task A_required_match_keeps_a_grain_on_silos_with_the_metadata_of_the_placing_one()
    {
        Assert.Equal(Silos(0, 1, 2), await Seats<IInZone>(0));
        Assert.Equal(Silos(3), await Seats<IInZone>(3));
    }

    [Fact]
    public async Task A_preferred_match_compares_fewer_keys_until_enough_silos_match()
    {
        // Zone a and rack 1 have silos 0 and 1.
        Assert.Equal(Silos(0, 1), await Seats<INearby>(0));
        // Zone a and rack 2 have silo 2 only: the zone is dropped first, and rack 2 has not enough silos either.
        Assert.Equal(Silos(0, 1, 2, 3), await Seats<INearby>(2));
        // Zone b and rack 1 have silo 3 only; rack 1 has three.
        Assert.Equal(Silos(0, 1, 3), await Seats<INearby>(3));
    }

    [Fact]
    public async Task Filters_of_the_application_run_in_their_order_with_their_settings()
    {
        // The first leaves silos 0, 1 and 2, the second the last of them.
        Assert.Equal(Silos(2), await Seats<IFiltered>(0));
    }

    [Fact]
    public async Task Filters_that_leave_no_silo_are_an_error()
    {
        var exception = await Assert.ThrowsAnyAsync<OrleansException>(() => cluster.ClientOf(0).GetGrain<INowhere>(1).Where());
        Assert.Contains("filters", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Filters_with_one_order_fail_the_calls_to_their_class_only()
    {
        await Assert.ThrowsAsync<InvalidOperationException>(() => cluster.Client.GetGrain<IUndecided>(1).Where());
        await Assert.ThrowsAsync<InvalidOperationException>(() => cluster.ClientOf(3).GetGrain<IUndecided>(2).Where());
    }

    [Fact]
    public async Task A_role_is_the_name_of_a_silo()
    {
        for (var silo = 0; silo < 4; silo++)
            Assert.Equal(cluster.AddressOf(silo), await cluster.Client.GetGrain<IInRole>("Silo_" + silo).Where());
        var exception = await Assert.ThrowsAnyAsync<OrleansException>(() => cluster.Client.GetGrain<IInRole>("nobody").Where());
        Assert.Contains("nobody", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_strategy_of_the_application_gets_the_properties_that_it_wrote()
    {
        Assert.Equal(Silos(1), await Seats<IBySetting>(0));
        Assert.Equal(Silos(1), await Seats<IBySetting>(2));
    }

    private SiloAddress[] Silos(params int[] silos) => [.. silos.Select(cluster.AddressOf).Order()];

    private async Task<SiloAddress[]> Seats<T>(int caller)
        where T : ISeat
    {
        var seats = await Task.WhenAll(Enumerable.Range(caller * 1000, 60).Select(key => Key<T>(caller, key).Where()));
        return [.. seats.Distinct().Order()];
    }

    /// <summary>A grain whose directory slot may be anywhere: the silo that places it is the caller's.</summary>
    private T Key<T>(int caller, int key)
        where T : ISeat => cluster.ClientOf(caller).GetGrain<T>(key);

    public sealed class ZonedSilos() : ClusterFixture(4)
    {
        public static readonly string[] Zones = ["a", "a", "a", "b"];
        public static readonly string[] Racks = ["1", "1", "2", "1"];

        protected override void ConfigureSilo(string name, ISiloBuilder silo)
        {
            var number = name[^1] - '0';
            if (number == 3)
            {
                var configuration = new ConfigurationBuilder().AddInMemoryCollection(
                    new Dictionary<string, string?> { ["Orleans:Metadata:zone"] = "b", ["Orleans:Metadata:rack"] = "1" }).Build();
                silo.UseSiloMetadata(configuration);
            }
            else
            {
                silo.UseSiloMetadata(new Dictionary<string, string> { ["zone"] = Zones[number], ["rack"] = Racks[number] });
            }

            silo.Services.AddPlacementFilter<KeepFilter, KeepDirector>(ServiceLifetime.Transient);
            silo.Services.AddPlacementFilter<LastFilter, LastDirector>(ServiceLifetime.Transient);
            silo.AddPlacementDirector<SettingPlacement, SettingDirector>();
        }
    }

    public interface ISeat : IGrainWithIntegerKey
    {
        Task<SiloAddress> Where();
    }

    public interface IInZone : ISeat;

    public interface INearby : ISeat;

    public interface IFiltered : ISeat;

    public interface INowhere : ISeat;

    public interface IBySetting : ISeat;

    public interface IUndecided : ISeat;

    public interface IInRole : IGrainWithStringKey
    {
        Task<SiloAddress> Where();
    }

    public abstract class Seat(ILocalSiloDetails silo) : Grain, ISeat
    {
        public Task<SiloAddress> Where() => Task.FromResult(silo.SiloAddress);
    }

    // At random: by their use of resources, the busiest of the silos that are left may get no grain.
    [RandomPlacement]
    [RequiredMatchSiloMetadataPlacementFilter(["zone"])]
    public sealed class InZoneGrain(ILocalSiloDetails silo) : Seat(silo), IInZone;

    [RandomPlacement]
    [PreferredMatchSiloMetadataPlacementFilter(["zone", "rack"])]
    public sealed class NearbyGrain(ILocalSiloDetails silo) : Seat(silo), INearby;

    [LastFilter(2)]
    [KeepFilter(3, 1)]
    public sealed class SievedGrain(ILocalSiloDetails silo) : Seat(silo), IFiltered;

    [KeepFilter(0, 1)]
    public sealed class NowhereGrain(ILocalSiloDetails silo) : Seat(silo), INowhere;

    [LastFilter(1)]
    [KeepFilter(3, 1)]
    public sealed class UndecidedGrain(ILocalSiloDetails silo) : Seat(silo), IUndecided;

    [SettingPlacement(1)]
    public sealed class BySettingGrain(ILocalSiloDetails silo) : Seat(silo), IBySetting;

    [SiloRoleBasedPlacement]
    public sealed class InRoleGrain(ILocalSiloDetails silo) : Grain, IInRole
    {
        public Task<SiloAddress> Where() => Task.FromResult(silo.SiloAddress);
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class KeepFilterAttribute(int count, int order) : PlacementFilterAttribute(new KeepFilter(count, order));

    /// <summary>The first silos by name.</summary>
    public sealed class KeepFilter(int count, int order) : PlacementFilterStrategy(order)
    {
        public KeepFilter()
            : this(0, 0)
        {
        }

        public int Count { get; private set; } = count;

        public override void AdditionalInitialize(GrainProperties properties) =>
            Count = int.Parse(GetPlacementFilterGrainProperty("count", properties)!, System.Globalization.CultureInfo.InvariantCulture);

        protected override IEnumerable<KeyValuePair<string, string>> GetAdditionalGrainProperties(
            IServiceProvider services, Type grainClass, GrainType grainType, IReadOnlyDictionary<string, string> existingProperties) =>
            [new("count", Count.ToString(System.Globalization.CultureInfo.InvariantCulture))];
    }

    public sealed class KeepDirector(IServiceProvider services) : IPlacementFilterDirector
    {
        public IEnumerable<SiloAddress> Filter(
            PlacementFilterStrategy filterStrategy, PlacementTarget target, IEnumerable<SiloAddress> silos) =>
            silos.OrderBy(silo => services.GetRequiredService<ActOp.Runtime.Nodes.Node>().ClusterView.View.FindMember(silo)!.Name)
                .Take(((KeepFilter)filterStrategy).Count);
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class LastFilterAttribute(int order) : PlacementFilterAttribute(new LastFilter(order));

    public sealed class LastFilter(int order) : PlacementFilterStrategy(order)
    {
        public LastFilter()
            : this(0)
        {
        }
    }

    public sealed class LastDirector : IPlacementFilterDirector
    {
        public IEnumerable<SiloAddress> Filter(
            PlacementFilterStrategy filterStrategy, PlacementTarget target, IEnumerable<SiloAddress> silos) => silos.TakeLast(1);
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class SettingPlacementAttribute(int silo) : PlacementAttribute(new SettingPlacement { Silo = silo });

    public sealed class SettingPlacement : PlacementStrategy
    {
        public int Silo { get; set; }

        public int FromProperties { get; private set; } = -1;

        public override void Initialize(GrainProperties properties) =>
            FromProperties = int.Parse(properties.Properties["setting"], System.Globalization.CultureInfo.InvariantCulture);

        public override void PopulateGrainProperties(
            IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties)
        {
            base.PopulateGrainProperties(services, grainClass, grainType, properties);
            properties["setting"] = Silo.ToString(System.Globalization.CultureInfo.InvariantCulture);
        }
    }

    public sealed class SettingDirector(IServiceProvider services) : IPlacementDirector
    {
        public Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context)
        {
            var view = services.GetRequiredService<ActOp.Runtime.Nodes.Node>().ClusterView.View;
            var name = "Silo_" + ((SettingPlacement)strategy).FromProperties;
            return Task.FromResult(context.GetCompatibleSilos(target).Single(silo => view.FindMember(silo)!.Name == name));
        }
    }
}
