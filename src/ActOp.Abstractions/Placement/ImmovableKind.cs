namespace Orleans.Placement;

/// <summary>What may not move a grain.</summary>
[Flags]
public enum ImmovableKind : byte
{
    /// <summary>What brings grains together that call each other.</summary>
    Repartitioner = 1,

    /// <summary>What evens out the load.</summary>
    Rebalancer = 2,

    /// <summary>Neither.</summary>
    Any = Repartitioner | Rebalancer,
}
