using System.Net;
using ActOp.Orleans.Locality;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Runtime.GrainDirectory;

namespace ActOp.Orleans.Tests;

/// <summary>Silos learn where grains went, so that they send no message to a silo that must forward it.</summary>
public class KnownLocationsTests
{
    private static readonly SiloAddress Old = Silo(1);
    private static readonly SiloAddress New = Silo(2);
    private static readonly SiloAddress Other = Silo(3);
    private static readonly GrainId Moved = GrainId.Create("talker", "1");

    [Fact]
    public void A_grain_that_moved_is_found_at_its_new_location_by_who_knew_the_old_one()
    {
        Assert.Equal(New, KnownAfterMove(Old));
    }

    [Fact]
    public void A_location_that_is_newer_than_the_news_of_a_move_is_kept()
    {
        Assert.Equal(Other, KnownAfterMove(Other));
    }

    /// <summary>Where a grain is known to be that was known at a silo when the news of its move came.</summary>
    private static SiloAddress KnownAfterMove(SiloAddress known)
    {
        using var services = new ServiceCollection().BuildServiceProvider();
        using var locations = Locations(services);
        locations.AddOrUpdate(new GrainAddress { GrainId = Moved, SiloAddress = known }, 1);
        locations.Correct(Moved, Old, New);
        Assert.True(locations.TryFind(Moved, out var silo));
        return silo;
    }

    [Fact]
    public void The_location_of_a_grain_that_nobody_here_calls_is_not_kept()
    {
        using var services = new ServiceCollection().BuildServiceProvider();
        using var locations = Locations(services);
        locations.Correct(Moved, Old, New);
        locations.Correct(Moved, New);
        Assert.False(locations.TryFind(Moved, out _));
    }

    [Fact]
    public void A_cache_of_the_application_is_left_as_it_is()
    {
        var services = new ServiceCollection();
        using var none = new ServiceCollection().BuildServiceProvider();
        using var own = Locations(none);
        services.AddSingleton<IGrainDirectoryCache>(own);
        KnownLocations.Add(services);
        using var provider = services.BuildServiceProvider();
        Assert.Same(own, provider.GetRequiredService<IGrainDirectoryCache>());
        Assert.Empty(provider.GetServices<IPostConfigureOptions<GrainDirectoryOptions>>());
    }

    [Fact]
    public void What_has_left_is_told_once()
    {
        var departed = new DepartedGrains();
        Assert.Null(departed.TakeUntold(Old));
        departed.Add(Moved, New, 5);
        var told = departed.TakeUntold(Old)!;
        Assert.Equal([Moved], told.Grains);
        Assert.Equal(New, told.Silos[told.Locations[0]]);
        Assert.Equal(5, told.Epochs[0]);
        Assert.Null(departed.TakeUntold(Old));
        Assert.True(departed.TryGet(Moved, out _));
    }

    [Fact]
    public async Task A_silo_uses_it_as_the_cache_of_its_directory_and_has_no_outgoing_filter()
    {
        await using var cluster = await Clusters.StartAsync(2);
        Assert.NotNull(cluster.PartOf<LocalGrains>(0).Locations);
        Assert.Empty(cluster.GetSiloServiceProvider(cluster.Silos[0].SiloAddress).GetServices<IOutgoingGrainCallFilter>());
        var talkers = Enumerable.Range(0, 20).Select(key => cluster.Client.GetGrain<ITalker>(key)).ToArray();
        await Task.WhenAll(talkers.Select(static talker => talker.Talk(talker.GetPrimaryKeyLong() + 100, 1)));
        Assert.True(cluster.PartOf<LocalGrains>(0).Locations!.KeyValues.Any() || cluster.PartOf<LocalGrains>(1).Locations!.KeyValues.Any());
    }

    private static KnownLocations Locations(IServiceProvider services) =>
        new(GrainDirectoryCacheFactory.CreateGrainDirectoryCache(services, new GrainDirectoryOptions()));

    private static SiloAddress Silo(int port) => SiloAddress.New(new IPEndPoint(IPAddress.Loopback, port), 1);
}
