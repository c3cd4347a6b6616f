using ActOp.Partitioning;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>The edges of one activation: with which grains it exchanges messages, and how many.</summary>
/// <remarks>
/// <para>Owns a sketch, rented from <see cref="ILocality"/>, from the first edge counted until the sketch is handed over to the fold.
/// Only the turn of the activation changes anything. Other threads may read <see cref="IsOverdue"/>.</para>
/// <para>A field of <see cref="Activation"/>, never copied: a silo has a million of them, most without a sketch.</para>
/// </remarks>
internal struct EdgeCount
{
    private EdgeSketch<GrainId>? _sketch;

    /// <summary>
    /// Whether edges were counted and not handed over for two periods. A racy snapshot: the sketch may belong to another activation by now.
    /// </summary>
    internal bool IsOverdue(int step) => Volatile.Read(ref _sketch) is { } sketch && step - sketch.Since >= 2 * EdgeCounters.StepsPerPeriod;

    internal void Add(Activation activation, GrainId other, int messages)
    {
        var step = activation.Parts.Edges.Step;
        if (_sketch is null || step - _sketch.Since >= EdgeCounters.StepsPerPeriod)
            Begin(activation, step);
        if (_sketch!.TryAdd(other, messages, 0))
            return;
        // More partners than counters: the exact counts so far go to the fold. Only if the fold is behind does the lightest edge lose its
        // counter.
        if (!activation.Parts.Locality.IsFoldBehind)
            Begin(activation, step);
        _sketch.Add(other, messages, 0);
    }

    /// <summary>Hands the counts over to the fold.</summary>
    internal void HandOver(Activation activation)
    {
        if (_sketch is not { } sketch)
            return;
        _sketch = null;
        activation.Parts.Locality.Fold(activation.GrainId, activation.Epoch, sketch);
    }

    /// <summary>Drops the counts of an activation that has ended.</summary>
    internal void Clear() => _sketch = null;

    private void Begin(Activation activation, int step)
    {
        HandOver(activation);
        var sketch = activation.Parts.Locality.RentSketch();
        sketch.Since = step;
        Volatile.Write(ref _sketch, sketch);
    }
}
