using ActOp.Runtime.Hosting;
using Orleans.Runtime;

namespace ActOp.Runtime.Placement;

/// <summary>The silo of the first caller; any other one when that is not active.</summary>
internal sealed class PreferLocalDirector(SeededRandom random) : OwnDirector
{
    internal override SiloAddress Choose(GrainId grain, SiloAddress[] silos, SiloAddress requester) =>
        silos.Contains(requester) ? requester : silos[random.Next(silos.Length)];
}
