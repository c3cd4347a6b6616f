using Orleans.Metadata;

namespace Orleans.Runtime;

/// <summary>Says how a silo is chosen for new activations of a grain; a director of the same strategy chooses.</summary>
public abstract class PlacementStrategy
{
    /// <summary>True when activations are registered in the directory, so that there is one per grain.</summary>
    public virtual bool IsUsingGrainDirectory => true;

    /// <summary>Reads the strategy's settings from the properties of the grain type.</summary>
    public virtual void Initialize(GrainProperties properties)
    {
    }

    /// <summary>Writes the strategy's name and settings into the properties of the grain type.</summary>
    public virtual void PopulateGrainProperties(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties)
    {
        ArgumentNullException.ThrowIfNull(properties);
        properties[WellKnownGrainTypeProperties.PlacementStrategy] = GetType().Name;
    }
}
