using ActOp.Partitioning;
using ActOp.Runtime.Activations;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>Which grains of this silo may move. All count alike: sizes are not measured.</summary>
internal sealed class GrainTraits(ActivationTable activations) : IVertexTraits<GrainId>
{
    public bool CanMove(GrainId vertex) =>
        activations.TryGet(vertex, out var activation) && activation is { State: ActivationState.Active, Class: { IsOrdinary: true, Immovable: false, UsesDirectory: true } };

    public double SizeOf(GrainId vertex) => 1;
}
