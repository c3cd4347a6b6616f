using ActOp.Partitioning;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>The activation's own edges: with whom it exchanges messages. Touched on its turns only.</summary>
internal sealed partial class Activation
{
    private EdgeSketch<GrainId>? _edges;

    internal void CountEdge(GrainId other, int messages) => (_edges ??= new EdgeSketch<GrainId>()).Add(other, messages, 0);

    /// <summary>Takes the edges counted since the last time; called inside a turn.</summary>
    internal EdgeSketch<GrainId>? Edges => _edges;
}
