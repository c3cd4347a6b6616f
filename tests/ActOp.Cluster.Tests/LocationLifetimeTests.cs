using System.Net;
using ActOp.Runtime.Directory;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests;

/// <summary>How long locations are kept, and whether.</summary>
public sealed class LocationLifetimeTests
{
    private static readonly SiloAddress Silo = SiloAddress.New(IPAddress.Loopback, 1, 1);

    [Fact]
    public void A_location_is_forgotten_after_its_lifetime_and_held_references_see_it()
    {
        var cache = new LocationCache(100_000, lifetime: TimeSpan.FromSeconds(240));
        Pass(cache, 0, 1_000);
        Put(cache, "old");
        Pass(cache, 1_000, 200_000);
        var old = cache.FindLocation(Grain("old"));
        Put(cache, "new");
        Assert.NotNull(old);
        Pass(cache, 200_000, 272_000);
        Assert.True(old.IsStale);
        Assert.False(cache.TryGet(Grain("old"), out _));
        Assert.True(cache.TryGet(Grain("new"), out _));
    }

    [Fact]
    public void A_location_that_is_confirmed_stays()
    {
        var cache = new LocationCache(1_000, lifetime: TimeSpan.FromSeconds(10));
        for (var second = 0; second < 60; second += 5)
        {
            Put(cache, "used");
            Pass(cache, second * 1_000, (second + 5) * 1_000);
        }

        Assert.True(cache.TryGet(Grain("used"), out _));
    }

    [Fact]
    public void Without_caching_nothing_is_kept()
    {
        var cache = new LocationCache(1_000, isOff: true);
        Put(cache, "any");
        Assert.False(cache.TryGet(Grain("any"), out _));
    }

    private static void Pass(LocationCache cache, int from, int to)
    {
        for (var now = from; now <= to; now += 250)
            cache.Expire(now, 250);
    }

    private static void Put(LocationCache cache, string grain) =>
        cache.SetLocation(Grain(grain), new Location(Silo, ActivationId.NewId(), 1));

    private static GrainId Grain(string key) => GrainId.Create("cached", key);
}
