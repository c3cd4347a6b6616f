using Orleans.Placement;
using Orleans.Runtime.Placement;

namespace DropIn;

public interface IPlaced : IGrainWithStringKey
{
    Task<SiloAddress> Where();

    Task<SiloAddress> WhereIs(IPlaced other);
}

public interface IAnywhere : IPlaced;

public interface INearby : IPlaced;

public interface IByHash : IPlaced;

public interface IByCount : IPlaced;

public interface IByResources : IPlaced;

public interface IByRule : IPlaced;

public interface IByFilter : IPlaced;

public abstract class Placed(ILocalSiloDetails silo) : Grain, IPlaced
{
    public Task<SiloAddress> Where() => Task.FromResult(silo.SiloAddress);

    public Task<SiloAddress> WhereIs(IPlaced other) => other.Where();
}

[RandomPlacement]
public sealed class AnywhereGrain(ILocalSiloDetails silo) : Placed(silo), IAnywhere;

[PreferLocalPlacement]
public sealed class NearbyGrain(ILocalSiloDetails silo) : Placed(silo), INearby;

[HashBasedPlacement]
public sealed class ByHashGrain(ILocalSiloDetails silo) : Placed(silo), IByHash;

[ActivationCountBasedPlacement]
public sealed class ByCountGrain(ILocalSiloDetails silo) : Placed(silo), IByCount;

[ResourceOptimizedPlacement]
public sealed class ByResourcesGrain(ILocalSiloDetails silo) : Placed(silo), IByResources;

[LastSiloPlacement]
public sealed class ByRuleGrain(ILocalSiloDetails silo) : Placed(silo), IByRule;

[FirstSiloFilter]
[RandomPlacement]
public sealed class ByFilterGrain(ILocalSiloDetails silo) : Placed(silo), IByFilter;

/// <summary>A rule of the application: the silo with the highest address, or an error if the key says so.</summary>
[GenerateSerializer]
public sealed class LastSiloPlacement : PlacementStrategy;

[AttributeUsage(AttributeTargets.Class)]
public sealed class LastSiloPlacementAttribute() : PlacementAttribute(new LastSiloPlacement());

public sealed class LastSiloDirector : IPlacementDirector
{
    public Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context) =>
        target.GrainIdentity.Key.ToString() == "error"
            ? throw new OrderException("No place.", 6)
            : Task.FromResult(context.GetCompatibleSilos(target).Max()!);
}

public sealed class FirstSiloFilterStrategy() : PlacementFilterStrategy(0);

[AttributeUsage(AttributeTargets.Class)]
public sealed class FirstSiloFilterAttribute() : PlacementFilterAttribute(new FirstSiloFilterStrategy());

public sealed class FirstSiloFilterDirector : IPlacementFilterDirector
{
    public IEnumerable<SiloAddress> Filter(
        PlacementFilterStrategy filterStrategy, PlacementTarget target, IEnumerable<SiloAddress> silos) => [silos.Min()!];
}

/// <summary>Where grains begin.</summary>
public class PlacementTests(CommonCluster cluster)
{
    private static string NameOfClass => "DropIn.NearbyGrain," + typeof(NearbyGrain).Assembly.GetName().Name;

    private SiloAddress[] Silos => [.. new[] { cluster.AddressOf(0), cluster.AddressOf(1) }.Order()];

    [Fact]
    public async Task Random_grains_are_on_all_silos()
    {
        var found = await Task.WhenAll(Enumerable.Range(0, 60).Select(index => cluster.Client.GetGrain<IAnywhere>("r" + index).Where()));
        Assert.Equal(Silos, found.Distinct().Order());
    }

    [Fact]
    public async Task Local_grains_are_where_they_were_called()
    {
        for (var silo = 0; silo < 2; silo++)
        {
            for (var index = 0; index < 10; index++)
                Assert.Equal(cluster.AddressOf(silo), await cluster.FactoryOf(silo).GetGrain<INearby>($"{silo} {index}").Where());
        }
    }

    [Fact]
    public async Task Other_strategies_find_a_silo_and_keep_it()
    {
        IPlaced[] grains = [cluster.Client.GetGrain<IByHash>("x"), cluster.Client.GetGrain<IByCount>("x"),
            cluster.Client.GetGrain<IByResources>("x")];
        foreach (var grain in grains)
        {
            var place = await grain.Where();
            Assert.Contains(place, Silos);
            Assert.Equal(place, await grain.Where());
            Assert.Equal(place, await cluster.FactoryOf(0).GetGrain<IAnywhere>("asks").WhereIs(grain));
        }
    }

    [Fact]
    public async Task A_director_of_the_application_decides()
    {
        for (var index = 0; index < 5; index++)
            Assert.Equal(Silos[^1], await cluster.Client.GetGrain<IByRule>("x" + index).Where());
        Assert.Equal(6, (await Assert.ThrowsAsync<OrderException>(() => cluster.Client.GetGrain<IByRule>("error").Where())).Order);
    }

    [Fact]
    public async Task A_filter_of_the_application_leaves_out_silos()
    {
        for (var index = 0; index < 10; index++)
            Assert.Equal(Silos[0], await cluster.Client.GetGrain<IByFilter>("x" + index).Where());
    }

    [Fact]
    public async Task A_hint_in_the_context_decides_for_the_strategies_of_the_runtime()
    {
        for (var silo = 0; silo < 2; silo++)
        {
            RequestContext.Set(IPlacementDirector.PlacementHintKey, cluster.AddressOf(silo));
            for (var index = 0; index < 5; index++)
                Assert.Equal(cluster.AddressOf(silo), await cluster.Client.GetGrain<IAnywhere>($"hint {silo} {index}").Where());
        }

        RequestContext.Clear();
    }

    [Fact]
    public async Task A_management_grain_knows_the_silos_and_the_grains()
    {
        var management = cluster.Client.GetGrain<IManagementGrain>(0);
        var hosts = await management.GetHosts(onlyActive: true);
        Assert.Equal(Silos, hosts.Keys.Order());
        Assert.All(hosts.Values, static status => Assert.Equal(SiloStatus.Active, status));
        Assert.Equal(["Silo_0", "Silo_1"],
            (await management.GetDetailedHosts(onlyActive: true)).Select(static one => one.SiloName).Order());
        var grain = cluster.Client.GetGrain<INearby>("managed");
        var place = await grain.Where();
        Assert.Equal(place, await management.GetActivationAddress(grain));
        Assert.Null(await management.GetActivationAddress(cluster.Client.GetGrain<INearby>("nowhere")));
        Assert.Contains(grain.GetGrainId(), await management.GetActiveGrains(GrainType.Create("nearby")));
        var statistics = await management.GetDetailedGrainStatistics();
        Assert.Contains(statistics, one => one.GrainId == grain.GetGrainId() && one.SiloAddress == place);
        Assert.Equal(NameOfClass, statistics.First(one => one.GrainId == grain.GetGrainId()).GrainType);
        Assert.Contains(await management.GetSimpleGrainStatistics(), static one => one.GrainType == NameOfClass);
        Assert.True(await management.GetTotalActivationCount() > 0);
        Assert.Equal(2, (await management.GetRuntimeStatistics(Silos)).Length);
    }
}
