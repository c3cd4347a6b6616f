using Orleans.Runtime;

namespace Orleans.Metadata;

/// <summary>An attribute of grain interfaces that names the interface.</summary>
public interface IGrainInterfaceTypeProviderAttribute
{
    /// <summary>The name of the marked interface.</summary>
    GrainInterfaceType GetGrainInterfaceType(IServiceProvider services, Type type);
}
