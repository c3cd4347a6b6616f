using Orleans.Metadata;

namespace Orleans.Runtime;

/// <summary>Names the marked grain interface, which otherwise is called by its full name.</summary>
[AttributeUsage(AttributeTargets.Interface, Inherited = false)]
public sealed class GrainInterfaceTypeAttribute : Attribute, IGrainInterfaceTypeProviderAttribute
{
    private readonly GrainInterfaceType _type;

    /// <summary>Sets the name.</summary>
    public GrainInterfaceTypeAttribute(string value) => _type = GrainInterfaceType.Create(value);

    /// <inheritdoc/>
    public GrainInterfaceType GetGrainInterfaceType(IServiceProvider services, Type type) => _type;
}
