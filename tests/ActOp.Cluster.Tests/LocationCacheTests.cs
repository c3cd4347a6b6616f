using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Runtime.GrainDirectory;

namespace ActOp.Cluster.Tests;

public sealed class LocationCacheTests
{
    private readonly LocationCache _cache = new(1024);

    [Fact]
    public void It_returns_what_was_put()
    {
        _cache.SetLocation(Grain(1), At(1, 1));

        Assert.True(_cache.TryGet(Grain(1), out var found));
        Assert.Equal(At(1, 1), found);
        Assert.False(_cache.TryGet(Grain(2), out _));
    }

    [Fact]
    public void An_older_epoch_does_not_replace_a_newer_one()
    {
        _cache.SetLocation(Grain(1), At(1, 5));
        _cache.SetLocation(Grain(1), At(2, 4));

        Assert.True(_cache.TryGet(Grain(1), out var found));
        Assert.Equal(At(1, 5), found);
    }

    [Fact]
    public void Only_the_stale_location_is_removed()
    {
        _cache.SetLocation(Grain(1), At(1, 5));
        _cache.Remove(Grain(1), At(3, 2));
        Assert.True(_cache.TryGet(Grain(1), out _));

        _cache.Remove(Grain(1), At(1, 5));
        Assert.False(_cache.TryGet(Grain(1), out _));
    }

    [Fact]
    public void Locations_on_a_dead_silo_are_void_and_stay_so()
    {
        _cache.SetLocation(Grain(1), At(1, 1));
        _cache.SetLocation(Grain(2), At(2, 1));
        _cache.OnView(new View(2, [Views.Dead(1, DeathCause.Silent), Views.Active(2)]));
        _cache.SetLocation(Grain(3), At(1, 9));

        Assert.False(_cache.TryGet(Grain(1), out _));
        Assert.True(_cache.TryGet(Grain(2), out _));
        Assert.False(_cache.TryGet(Grain(3), out _));
        Assert.Equal(1, _cache.Count);
    }

    [Fact]
    public void It_never_holds_more_than_its_capacity_and_keeps_what_is_used()
    {
        var hot = Grain(0);
        _cache.SetLocation(hot, At(1, 1));
        for (var i = 1; i <= 20_000; i++)
        {
            _cache.SetLocation(Grain(i), At(1, 1));
            Assert.True(_cache.TryGet(hot, out _));
        }

        Assert.InRange(_cache.Count, _cache.Capacity * 0.9, _cache.Capacity);
        Assert.Equal(20_001 - _cache.Count, _cache.Evictions);
    }

    [Fact]
    public void Readers_and_writers_at_once_never_see_another_grains_location()
    {
        var wrong = 0;
        Parallel.For(0, 4, worker =>
        {
            for (var i = 0; i < 30_000; i++)
            {
                var n = (i * 7) % 3_000;
                if (worker % 2 == 0)
                {
                    _cache.SetLocation(Grain(n), At(1 + (n % 3), 1 + n));
                }
                else if (_cache.TryGet(Grain(n), out var found) && found.Epoch != 1 + n)
                {
                    Interlocked.Increment(ref wrong);
                }
            }
        });

        Assert.Equal(0, wrong);
    }

    [Fact]
    public void A_cache_of_the_application_keeps_the_locations_and_dead_silos_and_its_failures_count_as_misses()
    {
        using var services = new ServiceCollection().BuildServiceProvider();
        var own = GrainDirectoryCacheFactory.CreateGrainDirectoryCache(services, new GrainDirectoryOptions());
        var failures = 0;
        var cache = new LocationCache(1024, custom: new CustomCache(own, _ => failures++));
        var epoch = (3L << 40) | 7;
        cache.SetLocation(Grain(1), At(1, epoch));
        cache.SetLocation(Grain(1), At(2, epoch - 1));
        cache.SetLocation(Grain(2), At(2, 5));
        Assert.Equal((At(1, epoch), true), (cache.FindLocation(Grain(1))!.Location, cache.FindLocation(Grain(1))!.IsStale));
        Assert.True(own.LookUp(Grain(1), out var address, out var version));
        Assert.Equal((3, 7), (address.MembershipVersion.Value, version));
        Assert.Equal((2, 0), (own.KeyValues.Count(), cache.Count));
        cache.OnView(new View(2, [Views.Dead(1, DeathCause.Silent), Views.Active(2)]));
        cache.SetLocation(Grain(3), At(1, 9));
        Assert.False(cache.TryGet(Grain(1), out _));
        Assert.True(cache.TryGet(Grain(2), out _));
        Assert.False(cache.TryGet(Grain(3), out _));
        Assert.False(cache.Remove(Grain(2), At(3, 5)));
        Assert.True(cache.Remove(Grain(2), At(2, 1)));
        Assert.False(cache.TryGet(Grain(2), out _));
        Assert.Equal(0, failures);
        var broken = new LocationCache(1024, custom: new CustomCache(null!, _ => failures++));
        broken.SetLocation(Grain(1), At(2, 1));
        Assert.False(broken.TryGet(Grain(1), out _));
        Assert.True(failures > 0);
    }

    private static GrainId Grain(int n) => GrainId.Create("g", n.ToString());

    private static Location At(int silo, long epoch) => new(Views.Silo(silo), new ActivationId(new Guid(silo, 0, 0, new byte[8])), epoch);
}
