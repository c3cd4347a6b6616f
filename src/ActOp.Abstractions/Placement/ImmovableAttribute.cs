using System.Globalization;
using Orleans.Metadata;
using Orleans.Runtime;

namespace Orleans.Placement;

/// <summary>Activations of the marked grain are not moved to other silos unless they ask for it (<c>MigrateOnIdle</c>).</summary>
/// <remarks>One exchange between two silos brings grains together and evens out the load: each kind keeps the grain out of it.</remarks>
[AttributeUsage(AttributeTargets.Class)]
public sealed class ImmovableAttribute : Attribute, IGrainPropertiesProviderAttribute
{
    /// <summary>Sets what may not move it.</summary>
    public ImmovableAttribute(ImmovableKind kind = ImmovableKind.Any) => Kind = kind;

    /// <summary>What may not move it.</summary>
    public ImmovableKind Kind { get; }

    /// <inheritdoc/>
    public void Populate(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties) =>
        properties[WellKnownGrainTypeProperties.Immovable] = ((byte)Kind).ToString(CultureInfo.InvariantCulture);
}
