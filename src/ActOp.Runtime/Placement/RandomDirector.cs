using ActOp.Runtime.Hosting;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Runtime.Placement;

/// <summary>Any silo, each with the same chance.</summary>
internal sealed class RandomDirector(SeededRandom random) : IPlacementDirector
{
    public Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context)
    {
        var silos = context.GetCompatibleSilos(target);
        return Task.FromResult(silos[random.Next(silos.Length)]);
    }
}
