using System.Diagnostics.CodeAnalysis;
using ActOp.Runtime.Activations;
using Orleans.Runtime;

namespace Orleans.Metadata;

/// <summary>The grain classes of this silo, as a service of it. Any thread.</summary>
public class GrainClassMap
{
    private readonly GrainClasses _classes;

    internal GrainClassMap(GrainClasses classes) => _classes = classes;

    /// <summary>The class of a grain type; false if this silo does not host it.</summary>
    public bool TryGetGrainClass(GrainType grainType, [NotNullWhen(true)] out Type? grainClass)
    {
        var isHosted = _classes.TryGet(grainType, out var found);
        grainClass = found?.Type;
        return isHosted;
    }
}
