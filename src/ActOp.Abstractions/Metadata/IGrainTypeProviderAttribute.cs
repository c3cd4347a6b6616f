using Orleans.Runtime;

namespace Orleans.Metadata;

/// <summary>An attribute of grain classes that names the grain's type.</summary>
public interface IGrainTypeProviderAttribute
{
    /// <summary>The grain type of the marked class.</summary>
    GrainType GetGrainType(IServiceProvider services, Type type);
}
