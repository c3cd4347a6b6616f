using Orleans.Metadata;
using Orleans.Runtime;

namespace Orleans.Concurrency;

/// <summary>Calls of the marked grain run beside each other: others go on while one waits.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class ReentrantAttribute : Attribute, IGrainPropertiesProviderAttribute
{
    /// <inheritdoc/>
    public void Populate(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties) =>
        properties[WellKnownGrainTypeProperties.Reentrant] = "true";
}
