using Orleans.Runtime;

namespace Orleans.Metadata;

/// <summary>An attribute of grain interfaces that adds to the properties of the interface.</summary>
public interface IGrainInterfacePropertiesProviderAttribute
{
    /// <summary>Adds to <paramref name="properties"/>.</summary>
    /// <param name="services">The silo's services.</param>
    /// <param name="interfaceType">The marked interface.</param>
    /// <param name="grainInterfaceType">The interface's name.</param>
    /// <param name="properties">The properties so far.</param>
    void Populate(IServiceProvider services, Type interfaceType, GrainInterfaceType grainInterfaceType, Dictionary<string, string> properties);
}
