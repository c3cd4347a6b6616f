namespace Orleans.Runtime.Placement;

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
