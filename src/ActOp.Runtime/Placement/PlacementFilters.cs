using System.Collections.Immutable;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Metadata;
using Orleans.Placement;
using Orleans.Runtime;
using Orleans.Runtime.MembershipService.SiloMetadata;
using Orleans.Runtime.Placement;
using Orleans.Runtime.Placement.Filtering;

namespace ActOp.Runtime.Placement;

/// <summary>The placement filters of one grain type, in their order. Immutable; any thread.</summary>
internal sealed class PlacementFilters
{
    private readonly (PlacementFilterStrategy Strategy, IPlacementFilterDirector Director)[] _filters;

    private PlacementFilters((PlacementFilterStrategy Strategy, IPlacementFilterDirector Director)[] filters)
    {
        _filters = filters;
        AreBuiltIn = Array.TrueForAll(filters, static one => one.Director is RequiredMatchDirector or PreferredMatchDirector);
    }

    /// <summary>
    /// Reads the filters from the properties of a grain type. Null if it has none, or if this process does not have one of them or cannot
    /// read it (<paramref name="isKnown"/> is false): then a silo that hosts the grain type chooses.
    /// </summary>
    internal static PlacementFilters? Read(IServiceProvider services, GrainTypeEntry entry, out bool isKnown)
    {
        isKnown = true;
        if (!entry.Properties.TryGetValue(WellKnownGrainTypeProperties.PlacementFilter, out var names))
            return null;
        var properties = new GrainProperties(entry.Properties.ToImmutableDictionary());
        List<(PlacementFilterStrategy Strategy, IPlacementFilterDirector Director)> filters = [];
        foreach (var name in names.Split(','))
        {
            if (services.GetKeyedService<PlacementFilterStrategy>(name) is not { } strategy
                || services.GetKeyedService<IPlacementFilterDirector>(strategy.GetType()) is not { } director)
            {
                isKnown = false;
                return null;
            }

            try
            {
                strategy.Initialize(properties);
            }
            catch (Exception)
            {
                // Of another build than the silos that host the class.
                isKnown = false;
                return null;
            }

            filters.Add((strategy, director));
        }

        filters.Sort(static (a, b) => a.Strategy.Order.CompareTo(b.Strategy.Order));
        return new PlacementFilters([.. filters]);
    }

    /// <summary>Only calls to the class fail, not the start of a silo that has it: another silo may be the one that places it.</summary>
    /// <exception cref="InvalidOperationException">Two filters have the same order.</exception>
    internal void CheckOrder(GrainType grainType)
    {
        for (var i = 1; i < _filters.Length; i++)
        {
            var (one, other) = (_filters[i - 1].Strategy, _filters[i].Strategy);
            if (one.Order == other.Order)
            {
                throw new InvalidOperationException("Two placement filters of the grain type " + grainType + " have the order "
                    + one.Order + ": " + one.GetType().Name + " and " + other.GetType().Name + ".");
            }
        }
    }

    /// <summary>None is code of the application.</summary>
    internal bool AreBuiltIn { get; }

    /// <summary>The silos that all filters leave.</summary>
    /// <exception cref="OrleansException">A filter returns null, or silos that it was not given.</exception>
    internal SiloAddress[] Apply(PlacementTarget target, SiloAddress[] silos)
    {
        foreach (var (strategy, director) in _filters)
        {
            using var span = new GrainSpan(GrainSpans.Filtering(strategy));
            // One more than there are shows a filter that returns too many, or does not end.
            SiloAddress[]? left = director.Filter(strategy, target, silos) is { } filtered ? [.. filtered.Take(silos.Length + 1)] : null;
            if (left is null || left.Length > silos.Length || !Array.TrueForAll(left, one => Array.IndexOf(silos, one) >= 0))
            {
                throw new OrleansException("The placement filter " + director.GetType() + " returned "
                    + (left is null ? "null" : "other silos than it was given") + " for " + target.GrainIdentity + ".");
            }

            silos = left;
        }

        return silos;
    }
}

/// <summary>The metadata of silos, from their manifests. Any thread.</summary>
internal sealed class SiloMetadataCache(Func<ClusterManifests> manifests) : ISiloMetadataCache
{
    public SiloMetadata GetSiloMetadata(SiloAddress siloAddress) =>
        manifests().Known.Manifests.TryGetValue(siloAddress, out var types) ? types.Metadata : SiloMetadata.Empty;
}

/// <summary>The silos with the values of this silo.</summary>
internal sealed class RequiredMatchDirector(ISiloMetadataCache metadata, ILocalSiloDetails local) : IPlacementFilterDirector
{
    public IEnumerable<SiloAddress> Filter(
        PlacementFilterStrategy filterStrategy, PlacementTarget target, IEnumerable<SiloAddress> silos)
    {
        var keys = ((RequiredMatchSiloMetadataPlacementFilterStrategy)filterStrategy).MetadataKeys;
        var own = metadata.GetSiloMetadata(local.SiloAddress);
        return silos.Where(silo => Matches(own, metadata.GetSiloMetadata(silo), keys));
    }

    /// <summary>A key that one of them does not have matches only if the other does not have it either.</summary>
    internal static bool Matches(SiloMetadata own, SiloMetadata other, ReadOnlySpan<string> keys)
    {
        foreach (var key in keys)
        {
            if (own.Metadata.GetValueOrDefault(key) != other.Metadata.GetValueOrDefault(key))
                return false;
        }

        return true;
    }
}

/// <summary>The silos with the values of this silo, by fewer keys until there are enough.</summary>
internal sealed class PreferredMatchDirector(ISiloMetadataCache metadata, ILocalSiloDetails local) : IPlacementFilterDirector
{
    public IEnumerable<SiloAddress> Filter(
        PlacementFilterStrategy filterStrategy, PlacementTarget target, IEnumerable<SiloAddress> silos)
    {
        var strategy = (PreferredMatchSiloMetadataPlacementFilterStrategy)filterStrategy;
        var own = metadata.GetSiloMetadata(local.SiloAddress);
        SiloAddress[] all = [.. silos];
        var keys = strategy.OrderedMetadataKeys;
        for (var dropped = 0; dropped < keys.Length; dropped++)
        {
            var matching = Array.FindAll(
                all, silo => RequiredMatchDirector.Matches(own, metadata.GetSiloMetadata(silo), keys.AsSpan(dropped)));
            if (matching.Length > 0 && matching.Length >= strategy.MinCandidates)
                return matching;
        }

        return all;
    }
}
