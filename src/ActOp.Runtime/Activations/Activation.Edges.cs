using ActOp.Partitioning;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>The activation's own edges: with whom it exchanges messages. Touched on its turns only.</summary>
internal sealed partial class Activation
{
    private EdgeSketch<GrainId>? _edges;

    /// <summary>Whether edges were counted since they were last taken; a moment's truth from other threads.</summary>
    internal bool HasEdges => Volatile.Read(ref _edges) is not null;

    internal void CountEdge(GrainId other, int messages) => (_edges ??= Node.Locality.RentSketch()).Add(other, messages, 0);

    /// <summary>On the next turn, hands over the edges counted so far.</summary>
    internal void TakeEdges() => Enqueue(new ActionWork(static state =>
    {
        var activation = (Activation)state!;
        if (activation._edges is not { } edges)
            return;
        activation._edges = null;
        activation.Node.Locality.Fold(activation.GrainId, activation.Epoch, edges);
    }, this));
}
