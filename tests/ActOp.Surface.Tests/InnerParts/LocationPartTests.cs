using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using ActOp.TestClusters;
using Orleans.Configuration.Internal;
using Orleans.GrainDirectory;
using Orleans.Runtime.GrainDirectory;

namespace ActOp.Surface.Tests.InnerParts;

/// <summary>Caches of locations of the application, and the places of grains as a service.</summary>
public class LocationPartTests
{
    [Fact]
    public async Task A_cache_of_the_application_holds_the_locations_that_a_silo_learns()
    {
        await using var cluster = await TestSilos.StartAsync(2, static silo =>
        {
            silo.Configure<GrainDirectoryOptions>(static options =>
                options.CachingStrategy = GrainDirectoryOptions.CachingStrategyType.Custom);
            silo.Services.AddSingleton<RecordingCache>();
            silo.Services.AddFromExisting<IGrainDirectoryCache, RecordingCache>();
        });
        var (caller, target) = (cluster.Silos[0], cluster.Silos[1].SiloAddress);
        var cache = caller.ServiceProvider.GetRequiredService<RecordingCache>();
        var grain = caller.ServiceProvider.GetRequiredService<IGrainFactory>().GetGrain<IPlainPart>("cached");
        Assert.Equal(target, await Place.On(target, grain.Seat));
        var id = grain.GetGrainId();
        Assert.Contains(cache.Added, added => added.GrainId.Equals(id) && target.Equals(added.SiloAddress));
        await grain.Touch();
        Assert.Contains(id, cache.Found);
        cache.Throws = true;
        await grain.Touch();
        cache.Throws = false;
        await cluster.DeactivateAsync(grain);
        Assert.Equal(caller.SiloAddress, await Place.On(caller.SiloAddress, grain.Seat));
        Assert.DoesNotContain(cache.KeyValues,
            pair => pair.ActivationAddress.GrainId.Equals(id) && target.Equals(pair.ActivationAddress.SiloAddress));
    }

    [Fact]
    public void A_cache_that_is_made_by_the_options_is_bounded_and_forgets_by_its_clock()
    {
        var time = new FakeClock();
        using var services = new ServiceCollection()
            .AddKeyedSingleton<TimeProvider>(TimeProviderNames.GrainDirectory, time).BuildServiceProvider();
        var options = new GrainDirectoryOptions { CacheSize = 2, MaximumCacheTTL = TimeSpan.FromMinutes(1) };
        var cache = GrainDirectoryCacheFactory.CreateGrainDirectoryCache(services, options);
        cache.AddOrUpdate(Address("a"), 1);
        cache.AddOrUpdate(Address("b"), 2);
        Assert.True(cache.LookUp(Address("a").GrainId, out var found, out var version));
        Assert.Equal((Address("a"), 1), (found, version));
        cache.AddOrUpdate(Address("c"), 3);
        Assert.False(cache.LookUp(Address("b").GrainId, out _, out _));
        Assert.False(cache.Remove(Address("a", port: 2)));
        Assert.True(cache.Remove(Address("a")));
        Assert.False(cache.Remove(Address("a").GrainId));
        Assert.Equal([3], cache.KeyValues.Select(static pair => pair.Version));
        time.Advance(TimeSpan.FromMinutes(2));
        Assert.Empty(cache.KeyValues);
        Assert.False(cache.LookUp(Address("c").GrainId, out _, out _));
        cache.AddOrUpdate(Address("d"), 4);
        cache.Clear();
        Assert.Empty(cache.KeyValues);
        options.CachingStrategy = GrainDirectoryOptions.CachingStrategyType.None;
        var none = GrainDirectoryCacheFactory.CreateGrainDirectoryCache(services, options);
        none.AddOrUpdate(Address("a"), 1);
        Assert.Empty(none.KeyValues);
    }

    [Fact]
    public void A_cache_of_the_application_is_used_as_it_is()
    {
        var own = new LeastUsed();
        using var services = new ServiceCollection().AddSingleton<IGrainDirectoryCache>(own).BuildServiceProvider();
        var options = new GrainDirectoryOptions { CachingStrategy = GrainDirectoryOptions.CachingStrategyType.Custom };
        Assert.Same(own, GrainDirectoryCacheFactory.CreateGrainDirectoryCache(services, options));
    }

    [Fact]
    public async Task The_places_of_grains_are_a_service_of_the_silo()
    {
        await using var cluster = await TestSilos.StartAsync(2);
        var (here, there) = (cluster.Silos[0], cluster.Silos[1].SiloAddress);
        var places = here.ServiceProvider.GetRequiredService<IGrainLocator>();
        var grain = here.ServiceProvider.GetRequiredService<IGrainFactory>().GetGrain<IPlainPart>("placed");
        var id = grain.GetGrainId();
        Assert.Null(await places.Lookup(id));
        Assert.False(places.TryLookupInCache(id, out _));
        Assert.Equal(there, await Place.On(there, grain.Seat));
        var address = await places.Lookup(id);
        Assert.Equal(there, address!.SiloAddress);
        Assert.True(places.TryLookupInCache(id, out var cached));
        Assert.True(cached!.Matches(address));
        places.InvalidateCache(id);
        Assert.False(places.TryLookupInCache(id, out _));
        places.UpdateCache(id, there);
        Assert.True(places.TryLookupInCache(id, out cached));
        places.InvalidateCache(address);
        Assert.False(places.TryLookupInCache(id, out _));
        var foreign = new GrainAddress { GrainId = id, SiloAddress = here.SiloAddress, ActivationId = ActivationId.NewId() };
        Assert.True((await places.Register(foreign, null))!.Matches(address));
        await places.Unregister(address, UnregistrationCause.NonexistentActivation);
        Assert.True((await places.Lookup(id))!.Matches(address));
    }

    [Fact]
    public async Task An_activation_whose_registration_is_removed_by_force_ends()
    {
        await using var cluster = await TestSilos.StartAsync(2);
        foreach (var silo in cluster.Silos)
        {
            var here = cluster.Silos[0].ServiceProvider;
            var places = here.GetRequiredService<IGrainLocator>();
            var grain = here.GetRequiredService<IGrainFactory>().GetGrain<IPlainPart>("forced " + silo.SiloAddress);
            Assert.Equal(silo.SiloAddress, await Place.On(silo.SiloAddress, grain.Seat));
            places.InvalidateCache(grain.GetGrainId());
            var address = (await places.Lookup(grain.GetGrainId()))!;
            Assert.False(address.ActivationId.IsDefault);
            if (silo == cluster.Silos[0])
                Assert.True((await places.Register(address, null))!.Matches(address));
            await places.Unregister(address, UnregistrationCause.Force);
            Assert.Null(await places.Lookup(grain.GetGrainId()));
            await grain.Touch();
            places.InvalidateCache(grain.GetGrainId());
            Assert.False((await places.Lookup(grain.GetGrainId()))!.Matches(address));
        }
    }

    private static GrainAddress Address(string key, int port = 1) => new()
    {
        GrainId = GrainId.Create("part", key),
        ActivationId = new ActivationId(new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)),
        SiloAddress = SiloAddress.FromParsableString("127.0.0.1:" + port + "@1"),
        MembershipVersion = new MembershipVersion(1),
    };

    private class LeastUsed : IGrainDirectoryCache
    {
        protected ConcurrentDictionary<GrainId, (GrainAddress Address, int Version)> Entries { get; } = new();

        public IEnumerable<(GrainAddress ActivationAddress, int Version)> KeyValues => Entries.Values;

        public virtual void AddOrUpdate(GrainAddress value, int version) => Entries[value.GrainId] = (value, version);

        public void Clear() => Entries.Clear();

        public virtual bool LookUp(GrainId key, [NotNullWhen(true)] out GrainAddress? result, out int version)
        {
            var isKnown = Entries.TryGetValue(key, out var entry);
            (result, version) = entry;
            return isKnown;
        }

        public bool Remove(GrainAddress key) => Entries.TryGetValue(key.GrainId, out var entry) && entry.Address.Matches(key)
            && Entries.TryRemove(key.GrainId, out _);

        public bool Remove(GrainId key) => Entries.TryRemove(key, out _);
    }

    private sealed class RecordingCache : LeastUsed
    {
        public ConcurrentQueue<GrainAddress> Added { get; } = new();

        public ConcurrentBag<GrainId> Found { get; } = [];

        public bool Throws { get; set; }

        public override void AddOrUpdate(GrainAddress value, int version)
        {
            Added.Enqueue(value);
            base.AddOrUpdate(value, version);
        }

        public override bool LookUp(GrainId key, [NotNullWhen(true)] out GrainAddress? result, out int version)
        {
            if (Throws)
                throw new InvalidOperationException("on purpose");
            var isFound = base.LookUp(key, out result, out version);
            if (isFound)
                Found.Add(key);
            return isFound;
        }
    }
}
