using System.Diagnostics.CodeAnalysis;
using ActOp.Wire;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Configuration;
using Orleans.GrainDirectory;
using Orleans.Metadata;

namespace Orleans.Runtime.GrainDirectory;

/// <summary>A service that chooses the grain directory of grain types. Asked before the attributes.</summary>
public interface IGrainDirectoryResolver
{
    /// <summary>The directory of the grain type; null with true for the one of the runtime; false if another must be asked.</summary>
    bool TryResolveGrainDirectory(GrainType grainType, GrainProperties? properties, out IGrainDirectory? grainDirectory);
}

/// <summary>
/// The last known locations of grains. With <see cref="GrainDirectoryOptions.CachingStrategyType.Custom"/> a silo uses the one that the
/// application has registered: any thread, for each call to a grain on another silo.
/// </summary>
public interface IGrainDirectoryCache
{
    /// <summary>All entries.</summary>
    IEnumerable<(GrainAddress ActivationAddress, int Version)> KeyValues { get; }

    /// <summary>Adds an entry, or replaces that of the grain.</summary>
    void AddOrUpdate(GrainAddress value, int version);

    /// <summary>Removes all entries.</summary>
    void Clear();

    /// <summary>The entry of the grain; false if there is none.</summary>
    bool LookUp(GrainId key, [NotNullWhen(true)] out GrainAddress? result, out int version);

    /// <summary>Removes the entry, if it is this one. Whether it was.</summary>
    bool Remove(GrainAddress key);

    /// <summary>Removes the entry of the grain. Whether there was one.</summary>
    bool Remove(GrainId key);
}

/// <summary>Makes caches of locations.</summary>
public static class GrainDirectoryCacheFactory
{
    /// <summary>A cache as the options say.</summary>
    /// <param name="services">
    /// Has the cache of the application (<see cref="GrainDirectoryOptions.CachingStrategyType.Custom"/>), and the clock that entries
    /// expire by (<see cref="TimeProviderNames.GrainDirectory"/>).
    /// </param>
    /// <param name="options">The strategy, the size and the lifetime of entries.</param>
    public static IGrainDirectoryCache CreateGrainDirectoryCache(IServiceProvider services, GrainDirectoryOptions options)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(options);
        if (options.CachingStrategy == GrainDirectoryOptions.CachingStrategyType.Custom
            && services.GetService<IGrainDirectoryCache>() is { } custom)
        {
            return custom;
        }

        var time = services.GetKeyedService<TimeProvider>(TimeProviderNames.GrainDirectory)
            ?? services.GetService<TimeProvider>() ?? TimeProvider.System;
        return new LeastUsedCache(
            options.CachingStrategy == GrainDirectoryOptions.CachingStrategyType.None ? 0 : options.CacheSize, options.MaximumCacheTTL,
            time);
    }
}

/// <summary>
/// Locations in the order of their use. When it is full, the one that was not used for longest makes room. Any thread; one lock.
/// </summary>
/// <remarks>Holds at most its capacity. An entry that is past its lifetime is removed when it is found.</remarks>
internal sealed class LeastUsedCache(int capacity, TimeSpan lifetime, TimeProvider time) : IGrainDirectoryCache
{
    private readonly Lock _gate = new();
    private readonly LinkedList<(GrainAddress Address, int Version, long StoredAt)> _byUse = new();
    private readonly Dictionary<GrainId, LinkedListNode<(GrainAddress Address, int Version, long StoredAt)>> _byGrain =
        new(GrainsByRandomHash.Instance);

    public IEnumerable<(GrainAddress ActivationAddress, int Version)> KeyValues
    {
        get
        {
            lock (_gate)
                return [.. _byUse.Where(entry => !IsPast(entry.StoredAt)).Select(static entry => (entry.Address, entry.Version))];
        }
    }

    public void AddOrUpdate(GrainAddress value, int version)
    {
        ArgumentNullException.ThrowIfNull(value);
        if (capacity <= 0)
            return;
        lock (_gate)
        {
            RemoveEntry(value.GrainId);
            if (_byGrain.Count >= capacity)
                RemoveEntry(_byUse.First!.Value.Address.GrainId);
            _byGrain[value.GrainId] = _byUse.AddLast((value, version, time.GetTimestamp()));
        }
    }

    public void Clear()
    {
        lock (_gate)
        {
            _byUse.Clear();
            _byGrain.Clear();
        }
    }

    public bool LookUp(GrainId key, [NotNullWhen(true)] out GrainAddress? result, out int version)
    {
        (result, version) = (null, 0);
        lock (_gate)
        {
            if (!_byGrain.TryGetValue(key, out var node))
                return false;
            if (IsPast(node.Value.StoredAt))
            {
                RemoveEntry(key);
                return false;
            }

            _byUse.Remove(node);
            _byUse.AddLast(node);
            (result, version, _) = node.Value;
            return true;
        }
    }

    public bool Remove(GrainAddress key)
    {
        ArgumentNullException.ThrowIfNull(key);
        lock (_gate)
            return _byGrain.TryGetValue(key.GrainId, out var node) && node.Value.Address.Matches(key) && RemoveEntry(key.GrainId);
    }

    public bool Remove(GrainId key)
    {
        lock (_gate)
            return RemoveEntry(key);
    }

    private bool IsPast(long storedAt) => lifetime > TimeSpan.Zero && time.GetElapsedTime(storedAt) >= lifetime;

    private bool RemoveEntry(GrainId key)
    {
        if (!_byGrain.Remove(key, out var node))
            return false;
        _byUse.Remove(node);
        return true;
    }
}
