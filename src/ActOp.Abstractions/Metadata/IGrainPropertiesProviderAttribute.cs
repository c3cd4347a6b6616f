using Orleans.Runtime;

namespace Orleans.Metadata;

/// <summary>An attribute of grain classes that adds to the properties of the grain's type.</summary>
public interface IGrainPropertiesProviderAttribute
{
    /// <summary>Adds to <paramref name="properties"/>.</summary>
    /// <param name="services">The silo's services.</param>
    /// <param name="grainClass">The marked class.</param>
    /// <param name="grainType">The grain's type.</param>
    /// <param name="properties">The properties so far.</param>
    void Populate(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties);
}
