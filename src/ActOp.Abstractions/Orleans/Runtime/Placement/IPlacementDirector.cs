using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Metadata;

namespace Orleans.Runtime.Placement;

/// <summary>Chooses the silos of one placement strategy.</summary>
public interface IPlacementDirector
{
    /// <summary>Key of the request context under which a call, or a migration, can name the silo that it wants.</summary>
    const string PlacementHintKey = nameof(PlacementHintKey);

    /// <summary>The silo that the request context names, if it is one of <paramref name="compatibleSilos"/>; else null.</summary>
    static SiloAddress? GetPlacementHint(Dictionary<string, object>? requestContextData, SiloAddress[] compatibleSilos)
    {
        ArgumentNullException.ThrowIfNull(compatibleSilos);
        return requestContextData is not null
            && requestContextData.TryGetValue(PlacementHintKey, out var value)
            && value is SiloAddress hint
            && Array.IndexOf(compatibleSilos, hint) >= 0
                ? hint
                : null;
    }

    /// <summary>Chooses the silo for a new activation.</summary>
    /// <param name="strategy">The grain's strategy.</param>
    /// <param name="target">The grain and the call.</param>
    /// <param name="context">The cluster.</param>
    Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context);
}

/// <summary>What a director knows of the cluster.</summary>
public interface IPlacementContext
{
    /// <summary>The silo that chooses.</summary>
    SiloAddress LocalSilo { get; }

    /// <summary>Its status.</summary>
    SiloStatus LocalSiloStatus { get; }

    /// <summary>The silos that can run the grain.</summary>
    /// <exception cref="OrleansException">There is none.</exception>
    SiloAddress[] GetCompatibleSilos(PlacementTarget target);

    /// <summary>The silos that can run the grain, by version of the interface.</summary>
    /// <exception cref="OrleansException">There is none.</exception>
    IReadOnlyDictionary<ushort, SiloAddress[]> GetCompatibleSilosWithVersions(PlacementTarget target);
}

/// <summary>The grain that needs a silo, and the call that it is needed for.</summary>
public readonly struct PlacementTarget
{
    /// <summary>Creates a target.</summary>
    public PlacementTarget(
        GrainId grainIdentity, Dictionary<string, object> requestContextData, GrainInterfaceType interfaceType, ushort interfaceVersion)
    {
        GrainIdentity = grainIdentity;
        RequestContextData = requestContextData;
        InterfaceType = interfaceType;
        InterfaceVersion = interfaceVersion;
    }

    /// <summary>The grain.</summary>
    public GrainId GrainIdentity { get; }

    /// <summary>The interface that it is called through.</summary>
    public GrainInterfaceType InterfaceType { get; }

    /// <summary>The interface's version.</summary>
    public ushort InterfaceVersion { get; }

    /// <summary>The request context of the call; empty when there is none.</summary>
    public Dictionary<string, object> RequestContextData { get; }
}

/// <summary>A service that chooses the placement strategies of grain types. Asked before the attributes.</summary>
public interface IPlacementStrategyResolver
{
    /// <summary>The strategy of the grain type; false if another must be asked.</summary>
    bool TryResolvePlacementStrategy(GrainType grainType, GrainProperties? properties, [NotNullWhen(true)] out PlacementStrategy? result);
}

/// <summary>
/// Finds the placement strategies of grain types: by the resolvers of the application, else by the properties of the type.
/// </summary>
/// <remarks>Any thread. Keeps the strategies of the types that the cluster knows.</remarks>
public sealed class PlacementStrategyResolver
{
    private readonly ConcurrentDictionary<GrainType, PlacementStrategy> _found = new();
    private readonly IServiceProvider _services;
    private readonly IPlacementStrategyResolver[] _resolvers;
    private readonly GrainPropertiesResolver _properties;

    /// <summary>Creates the resolver.</summary>
    public PlacementStrategyResolver(
        IServiceProvider services, IEnumerable<IPlacementStrategyResolver> resolvers, GrainPropertiesResolver grainPropertiesResolver)
    {
        _services = services;
        _resolvers = [.. resolvers];
        _properties = grainPropertiesResolver;
    }

    /// <summary>The strategy of the grain type; the default one for a type that no silo hosts.</summary>
    /// <exception cref="KeyNotFoundException">This process does not have the strategy that the type names.</exception>
    public PlacementStrategy GetPlacementStrategy(GrainType grainType)
    {
        if (_found.TryGetValue(grainType, out var known))
            return known;
        if (grainType.IsSystemTarget())
            return SystemTargetPlacementStrategy.Instance;
        var isKnown = _properties.TryGetGrainProperties(grainType, out var properties);
        var strategy = FindStrategy(_resolvers, grainType, properties) ?? ByName(grainType, properties) ?? Default;
        return isKnown ? _found.GetOrAdd(grainType, strategy) : strategy;
    }

    /// <summary>What the resolvers of the application choose; null for nothing.</summary>
    internal static PlacementStrategy? FindStrategy(
        IEnumerable<IPlacementStrategyResolver> resolvers, GrainType grainType, GrainProperties? properties)
    {
        foreach (var resolver in resolvers)
        {
            if (resolver.TryResolvePlacementStrategy(grainType, properties, out var result))
                return result;
        }

        return null;
    }

    /// <summary>The strategy of that name, without its settings: of the application, or built in; null if there is none.</summary>
    internal static PlacementStrategy? Named(IServiceProvider services, string name) =>
        services.GetKeyedService<PlacementStrategy>(name) ?? name switch
        {
            nameof(RandomPlacement) => new RandomPlacement(),
            nameof(PreferLocalPlacement) => new PreferLocalPlacement(),
            nameof(HashBasedPlacement) => new HashBasedPlacement(),
            nameof(ActivationCountBasedPlacement) => new ActivationCountBasedPlacement(),
            nameof(ResourceOptimizedPlacement) => new ResourceOptimizedPlacement(),
            nameof(SiloRoleBasedPlacement) => new SiloRoleBasedPlacement(),
            nameof(StatelessWorkerPlacement) => new StatelessWorkerPlacement(),
            _ => null,
        };

    private PlacementStrategy Default => _services.GetService<PlacementStrategy>() ?? new ResourceOptimizedPlacement();

    private PlacementStrategy? ByName(GrainType grainType, GrainProperties? properties)
    {
        if (properties?.Properties.GetValueOrDefault(WellKnownGrainTypeProperties.PlacementStrategy) is not { } name)
            return null;
        var strategy = Named(_services, name) ?? (Default is { } usual && usual.GetType().Name == name ? usual : null)
            ?? throw new KeyNotFoundException("The grain type " + grainType + " has the placement strategy " + name
                + ", which this process does not have.");
        strategy.Initialize(properties);
        return strategy;
    }
}
