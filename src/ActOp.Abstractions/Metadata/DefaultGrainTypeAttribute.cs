using Orleans.Runtime;

namespace Orleans.Metadata;

/// <summary>Names the grain type that the marked interface means when several classes implement it.</summary>
[AttributeUsage(AttributeTargets.Interface)]
public sealed class DefaultGrainTypeAttribute : Attribute, IGrainInterfacePropertiesProviderAttribute
{
    /// <summary>Names the grain type.</summary>
    public DefaultGrainTypeAttribute(string grainType) => GrainType = GrainType.Create(grainType);

    internal GrainType GrainType { get; }

    /// <inheritdoc/>
    public void Populate(IServiceProvider services, Type interfaceType, GrainInterfaceType grainInterfaceType, Dictionary<string, string> properties) =>
        properties[WellKnownGrainInterfaceProperties.DefaultGrainType] = GrainType.ToString();
}
