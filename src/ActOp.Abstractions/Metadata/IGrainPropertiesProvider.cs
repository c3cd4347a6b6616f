using Orleans.Runtime;

namespace Orleans.Metadata;

/// <summary>A service that adds to the properties of every grain type.</summary>
public interface IGrainPropertiesProvider
{
    /// <summary>Adds to <paramref name="properties"/>.</summary>
    /// <param name="grainClass">The grain's class.</param>
    /// <param name="grainType">The grain's type.</param>
    /// <param name="properties">The properties so far.</param>
    void Populate(Type grainClass, GrainType grainType, Dictionary<string, string> properties);
}
