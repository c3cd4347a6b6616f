using ActOp.Runtime.Directory;

namespace ActOp.Cluster.Tests;

/// <summary>A silo without activations.</summary>
internal sealed class NoActivations : ILocalActivations
{
    public void CollectRegistered(SlotSet slots, List<Registration> into)
    {
    }
}
