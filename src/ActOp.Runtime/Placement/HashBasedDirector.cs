using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Runtime.Placement;

/// <summary>The silo that the grain's hash names among the active ones.</summary>
internal sealed class HashBasedDirector : IPlacementDirector
{
    public Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context)
    {
        var silos = context.GetCompatibleSilos(target);
        return Task.FromResult(silos[(int)(target.GrainIdentity.GetUniformHashCode() % (uint)silos.Length)]);
    }
}
