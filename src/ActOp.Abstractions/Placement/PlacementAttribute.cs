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
