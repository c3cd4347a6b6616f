using System.Globalization;
using Orleans.Metadata;
using Orleans.Runtime;

namespace Orleans.Placement;

/// <summary>Base of the attributes that give a grain a placement strategy.</summary>
[AttributeUsage(AttributeTargets.Class)]
public abstract class PlacementAttribute : Attribute, IGrainPropertiesProviderAttribute
{
    /// <summary>Sets the strategy.</summary>
    protected PlacementAttribute(PlacementStrategy placement)
    {
        ArgumentNullException.ThrowIfNull(placement);
        PlacementStrategy = placement;
    }

    /// <summary>The strategy.</summary>
    public PlacementStrategy PlacementStrategy { get; }

    /// <inheritdoc/>
    public virtual void Populate(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties) =>
        PlacementStrategy.PopulateGrainProperties(services, grainClass, grainType, properties);
}

/// <summary>Puts activations of the marked grain on any silo.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class RandomPlacementAttribute : PlacementAttribute
{
    /// <summary>Marks a grain.</summary>
    public RandomPlacementAttribute()
        : base(new RandomPlacement())
    {
    }
}

/// <summary>Puts activations of the marked grain on the caller's silo if it can run them.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class PreferLocalPlacementAttribute : PlacementAttribute
{
    /// <summary>Marks a grain.</summary>
    public PreferLocalPlacementAttribute()
        : base(new PreferLocalPlacement())
    {
    }
}

/// <summary>Puts activations of the marked grain on the silo that the hash of its id selects.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class HashBasedPlacementAttribute : PlacementAttribute
{
    /// <summary>Marks a grain.</summary>
    public HashBasedPlacementAttribute()
        : base(new HashBasedPlacement())
    {
    }
}

/// <summary>Puts activations of the marked grain where the fewest are in use.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class ActivationCountBasedPlacementAttribute : PlacementAttribute
{
    /// <summary>Marks a grain.</summary>
    public ActivationCountBasedPlacementAttribute()
        : base(new ActivationCountBasedPlacement())
    {
    }
}

/// <summary>Puts activations of the marked grain where the most resources are left.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class ResourceOptimizedPlacementAttribute : PlacementAttribute
{
    /// <summary>Marks a grain.</summary>
    public ResourceOptimizedPlacementAttribute()
        : base(new ResourceOptimizedPlacement())
    {
    }
}

/// <summary>
/// Puts activations of the marked grain on a silo of the role that the grain's key names: the role of a silo is its name.
/// </summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class SiloRoleBasedPlacementAttribute : PlacementAttribute
{
    /// <summary>Marks a grain.</summary>
    public SiloRoleBasedPlacementAttribute()
        : base(new SiloRoleBasedPlacement())
    {
    }
}

/// <summary>Activations of the marked grain are not moved to other silos unless they ask for it (<c>MigrateOnIdle</c>).</summary>
/// <remarks>One exchange between two silos brings grains together and evens out the load: each kind keeps the grain out of it.</remarks>
[AttributeUsage(AttributeTargets.Class)]
public sealed class ImmovableAttribute : Attribute, IGrainPropertiesProviderAttribute
{
    /// <summary>Sets what may not move it.</summary>
    public ImmovableAttribute(ImmovableKind kind = ImmovableKind.Any) => Kind = kind;

    /// <summary>What may not move it.</summary>
    public ImmovableKind Kind { get; }

    /// <inheritdoc/>
    public void Populate(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties) =>
        properties[WellKnownGrainTypeProperties.Immovable] = ((byte)Kind).ToString(CultureInfo.InvariantCulture);
}

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
