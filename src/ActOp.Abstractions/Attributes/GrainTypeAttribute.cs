using Orleans.Metadata;
using Orleans.Runtime;

namespace Orleans;

/// <summary>Names the grain type of the marked class, which otherwise follows from the class's name.</summary>
[AttributeUsage(AttributeTargets.Class, Inherited = false)]
public sealed class GrainTypeAttribute : Attribute, IGrainTypeProviderAttribute
{
    private readonly GrainType _type;

    /// <summary>Sets the name.</summary>
    public GrainTypeAttribute(string grainType) => _type = GrainType.Create(grainType);

    /// <inheritdoc/>
    public GrainType GetGrainType(IServiceProvider services, Type type) => _type;
}
