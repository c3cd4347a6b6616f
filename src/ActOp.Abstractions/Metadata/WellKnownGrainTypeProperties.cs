namespace Orleans.Metadata;

/// <summary>Keys of the properties of grain types, and values with a meaning of their own.</summary>
public static class WellKnownGrainTypeProperties
{
    /// <summary>The class's full name.</summary>
    public const string FullTypeName = "full-type-name";

    /// <summary>
    /// How long an activation may be idle before it ends: a time, or <see cref="IndefiniteIdleDeactivationPeriodValue"/>.
    /// </summary>
    public const string IdleDeactivationPeriod = "idle-duration";

    /// <summary>What may not move the grain: a number of <see cref="Orleans.Placement.ImmovableKind"/>.</summary>
    public const string Immovable = "immovable";

    /// <summary>Start of the keys of implemented interfaces; a number follows.</summary>
    public const string ImplementedInterfacePrefix = "interface.";

    /// <summary>Activations never end for being idle.</summary>
    public const string IndefiniteIdleDeactivationPeriodValue = "indefinite";

    /// <summary>The method that says which calls may run beside others.</summary>
    public const string MayInterleavePredicate = "may-interleave-predicate";

    /// <summary>The placement strategy's name.</summary>
    public const string PlacementStrategy = "placement-strategy";

    /// <summary>Whether calls run beside each other: <c>true</c>.</summary>
    public const string Reentrant = "reentrant";

    /// <summary>The class's name.</summary>
    public const string TypeName = "type-name";
}
