using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Runtime.GrainDirectory;

namespace ActOp.Orleans.Locality;

/// <summary>
/// The silo's cache of the places of grains: that of Orleans, to which locality tells where the grains of its plans have gone. Without it,
/// each silo sends the next message to the old silo of a grain, which forwards it.
/// </summary>
/// <remarks>
/// Any thread. Owns the cache of Orleans; the container ends it with the silo. Used only if the silo has one of Orleans' own caches: a
/// cache of the application, or none, is left as it is.
/// </remarks>
internal sealed class KnownLocations(IGrainDirectoryCache cache) : IGrainDirectoryCache, IAsyncDisposable, IDisposable
{
    public IEnumerable<(GrainAddress ActivationAddress, int Version)> KeyValues => cache.KeyValues;

    /// <summary>Puts it in the place of the cache that Orleans would make.</summary>
    internal static void Add(IServiceCollection services)
    {
        if (services.Any(static service => service.ServiceType == typeof(IGrainDirectoryCache)))
            return;
        services.PostConfigure<GrainDirectoryOptions>(static options =>
        {
            if (options.CachingStrategy == GrainDirectoryOptions.CachingStrategyType.LRU)
                options.CachingStrategy = GrainDirectoryOptions.CachingStrategyType.Custom;
        });
        services.AddSingleton<IGrainDirectoryCache>(static silo =>
        {
            var options = silo.GetRequiredService<IOptions<GrainDirectoryOptions>>().Value;
            var ofOrleans = new GrainDirectoryOptions { CacheSize = options.CacheSize, MaximumCacheTTL = options.MaximumCacheTTL };
            return new KnownLocations(GrainDirectoryCacheFactory.CreateGrainDirectoryCache(silo, ofOrleans));
        });
    }

    /// <summary>
    /// A grain is on that silo. Changes the location that is known, if one is; others are looked up when they are needed.
    /// </summary>
    internal void Correct(GrainId grain, SiloAddress silo)
    {
        if (cache.LookUp(grain, out var known, out _) && !silo.Equals(known.SiloAddress))
            cache.AddOrUpdate(new GrainAddress { GrainId = grain, SiloAddress = silo }, 0);
    }

    /// <summary>A grain has gone from one silo to another. Changes the location that is known, if it is the old one.</summary>
    internal void Correct(GrainId grain, SiloAddress from, SiloAddress to)
    {
        if (cache.LookUp(grain, out var known, out _) && from.Equals(known.SiloAddress))
            cache.AddOrUpdate(new GrainAddress { GrainId = grain, SiloAddress = to }, 0);
    }

    /// <summary>Where the silo would send a message for the grain, if it need not ask.</summary>
    internal bool TryFind(GrainId grain, out SiloAddress silo)
    {
        silo = cache.LookUp(grain, out var known, out _) ? known.SiloAddress! : null!;
        return silo is not null;
    }

    public void AddOrUpdate(GrainAddress value, int version) => cache.AddOrUpdate(value, version);

    public bool Remove(GrainId key) => cache.Remove(key);

    public bool Remove(GrainAddress key) => cache.Remove(key);

    public void Clear() => cache.Clear();

    public bool LookUp(GrainId key, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out GrainAddress? result, out int version) =>
        cache.LookUp(key, out result, out version);

    public ValueTask DisposeAsync() => cache is IAsyncDisposable one ? one.DisposeAsync() : default;

    public void Dispose()
    {
        if (cache is IDisposable one)
            one.Dispose();
        else
            DisposeAsync().AsTask().GetAwaiter().GetResult();
    }
}
