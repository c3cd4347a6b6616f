using ActOp.Runtime.Hosting;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Runtime.Placement;

/// <summary>The silo of the first caller; any other one when that is not active.</summary>
internal sealed class PreferLocalDirector(SeededRandom random) : IPlacementDirector
{
    public Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context)
    {
        var silos = context.GetCompatibleSilos(target);
        return Task.FromResult(silos.Contains(context.LocalSilo) ? context.LocalSilo : silos[random.Next(silos.Length)]);
    }
}
