using ActOp.Runtime.Activations;
using Microsoft.Extensions.DependencyInjection;

namespace Orleans.Runtime.Utilities;

/// <summary>Finds the objects of grains, for people who debug.</summary>
public static class OrleansDebuggerHelper
{
    /// <summary>The object of the grain, if the grain is active on the silo that the reference belongs to; else null.</summary>
    /// <param name="grainReference">A reference, a grain, or null.</param>
    public static object? GetGrainInstance(object? grainReference) => grainReference switch
    {
        IGrainBase => grainReference,
        GrainReference reference => reference.Shared.ServiceProvider.GetService<ActivationTable>() is { } activations
            && activations.TryGet(reference.GrainId, out var activation) ? activation.GrainInstance : null,
        _ => null,
    };
}
