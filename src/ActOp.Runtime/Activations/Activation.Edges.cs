using ActOp.Partitioning;
using ActOp.Runtime.Locality;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>The activation's own edges: with whom it exchanges messages. Touched on its turns only.</summary>
internal sealed partial class Activation
{
    private EdgeSketch<GrainId>? _edges;
    private int _edgesSince;

    /// <summary>Whether edges were counted and not handed over for two periods; a moment's truth from other threads.</summary>
    internal bool EdgesAreOverdue => Volatile.Read(ref _edges) is not null && Parts.Edges.Step - Volatile.Read(ref _edgesSince) >= 2 * EdgeCounters.StepsPerPeriod;

    internal void CountEdge(GrainId other, int messages)
    {
        var step = Parts.Edges.Step;
        if (_edges is null || step - _edgesSince >= EdgeCounters.StepsPerPeriod)
            BeginEdges(step);
        if (_edges!.TryAdd(other, messages, 0))
            return;
        // More partners than counters: what is counted so far goes to the fold, exact as it is. Only when that is behind must the lightest
        // edge give way.
        if (!Parts.Locality.IsFoldBehind)
            BeginEdges(step);
        _edges.Add(other, messages, 0);
    }

    /// <summary>On the next turn, hands over the edges counted so far.</summary>
    internal void TakeEdges() => Enqueue(new ActionItem(static state => ((Activation)state!).HandOverEdges(), this));

    private void BeginEdges(int step)
    {
        HandOverEdges();
        _edgesSince = step;
        _edges = Parts.Locality.RentSketch();
    }

    private void HandOverEdges()
    {
        if (_edges is not { } edges)
            return;
        _edges = null;
        Parts.Locality.Fold(GrainId, Epoch, edges);
    }
}
