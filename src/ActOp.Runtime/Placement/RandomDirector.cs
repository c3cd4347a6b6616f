using ActOp.Runtime.Hosting;
using Orleans.Runtime;

namespace ActOp.Runtime.Placement;

/// <summary>Any silo, each with the same chance.</summary>
internal sealed class RandomDirector(SeededRandom random) : OwnDirector
{
    internal override SiloAddress Choose(GrainId grain, SiloAddress[] silos, SiloAddress requester) => silos[random.Next(silos.Length)];
}
