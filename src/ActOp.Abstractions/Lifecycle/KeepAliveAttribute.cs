using Orleans.Metadata;
using Orleans.Runtime;

namespace Orleans;

/// <summary>Activations of the marked grain never end for being idle.</summary>
[AttributeUsage(AttributeTargets.Class)]
public class KeepAliveAttribute : Attribute, IGrainPropertiesProviderAttribute
{
    /// <inheritdoc/>
    public void Populate(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties) =>
        properties[WellKnownGrainTypeProperties.IdleDeactivationPeriod] = WellKnownGrainTypeProperties.IndefiniteIdleDeactivationPeriodValue;
}
