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
