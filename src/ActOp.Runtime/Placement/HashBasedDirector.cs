using Orleans.Runtime;

namespace ActOp.Runtime.Placement;

/// <summary>The silo that the grain's hash names among the active ones.</summary>
internal sealed class HashBasedDirector : OwnDirector
{
    internal override SiloAddress Choose(GrainId grain, SiloAddress[] silos, SiloAddress requester) =>
        silos[(int)(grain.GetUniformHashCode() % (uint)silos.Length)];
}
