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
