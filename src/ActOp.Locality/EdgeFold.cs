using System.Collections.Concurrent;
using ActOp.Foundation;
using ActOp.Partitioning;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using Orleans.Runtime;

namespace ActOp.Locality;

/// <summary>
/// The fold: from the counts of the activations to the heavy edges of the silo, part of <see cref="LocalityService"/>. Owns the sketches
/// that wait for it, the free sketches, and the share of calls that are counted.
/// </summary>
/// <remarks>
/// Activations hand over sketches with <see cref="Add"/>, take free ones with <see cref="RentSketch"/> and report their end with
/// <see cref="Forget"/> from any thread. All else, and the table, belongs to the turns of the locality target.
/// </remarks>
internal sealed class EdgeFold(
    HeavyEdgeTable<GrainId> table, EdgeCounters edges, ActivationTable activations, LocationCache locations, SiloNumbers silos,
    GrainTraits traits, LocalityMetrics metrics, NodeTime time)
{
    /// <summary>Free sketches that are kept for activations that begin to count, at most.</summary>
    private const int MaxSketches = 65_536;

    /// <summary>
    /// Up to this rate of grain messages per silo, every call is counted in the edges. Above it, a share is counted, so that the cost stays
    /// constant.
    /// </summary>
    private const double FullCountRate = 50_000;

    /// <summary>With this limit, a heavy edge of a silo with 10 million calls/s is still counted several times per half-life.</summary>
    private const int MaxStride = 64;

    /// <summary>
    /// Sketches that may wait for the fold before activations with many partners keep theirs: many times what a step handles at the highest
    /// rate.
    /// </summary>
    private const int MaxWaiting = 4096;

    private readonly ConcurrentQueue<(GrainId Grain, long Epoch, EdgeSketch<GrainId> Edges)> _counted = new();
    private readonly ConcurrentQueue<EdgeSketch<GrainId>> _sketches = new();
    private readonly ConcurrentQueue<GrainId> _gone = new();
    private IEnumerator<Activation>? _sweep;
    private TimeSpan _lastStep;
    private TimeSpan _lastFold;
    private long _lastMessages;
    private int _stride = 1;
    private int _waiting;
    private int _unmovable;

    internal EdgeSketch<GrainId> RentSketch() => _sketches.TryDequeue(out var sketch) ? sketch : new EdgeSketch<GrainId>();

    /// <summary>An activation hands over what it counted.</summary>
    internal void Add(GrainId grain, long epoch, EdgeSketch<GrainId> edges)
    {
        Interlocked.Increment(ref _waiting);
        _counted.Enqueue((grain, epoch, edges));
    }

    /// <summary>
    /// Too many sketches wait for the fold: an activation with more partners than counters keeps its sketch and drops the lightest edge.
    /// </summary>
    internal bool IsFoldBehind => Volatile.Read(ref _waiting) > MaxWaiting;

    /// <summary>A grain ended for good, so its edges are removed.</summary>
    internal void Forget(GrainId grain) => _gone.Enqueue(grain);

    /// <summary>Counting begins.</summary>
    internal void Start(TimeSpan now)
    {
        edges.CountsEdges = true;
        _lastFold = _lastStep = now;
    }

    /// <summary>Merges the sketches that were handed over, and requests the counts of a share of the activations.</summary>
    internal void Step(TimeSpan now, TimeSpan halfLife)
    {
        var elapsed = now - _lastStep;
        if (elapsed <= TimeSpan.Zero)
            return;
        _lastStep = now;
        var start = time.GetTimestamp();
        var step = ++edges.Step;
        table.BeginFold(elapsed, halfLife);
        while (_counted.TryDequeue(out var counted))
        {
            Interlocked.Decrement(ref _waiting);
            var sink = new Sink(this, counted.Grain, counted.Epoch);
            counted.Edges.Drain(ref sink);
            if (_sketches.Count < MaxSketches)
                _sketches.Enqueue(counted.Edges);
        }

        while (_gone.TryDequeue(out var gone))
            table.Forget(gone);
        Sweep((activations.Count / EdgeCounters.StepsPerPeriod) + 1);
        if (step % EdgeCounters.StepsPerPeriod == 0)
            EndFold(now);
        metrics.Folded(time.GetElapsedTime(start).TotalMilliseconds);
    }

    /// <summary>
    /// An activation hands over its counts with its first message after a period. Activations without messages are requested to do so here.
    /// </summary>
    private void Sweep(int count)
    {
        _sweep ??= activations.GetEnumerator();
        for (; count > 0; count--)
        {
            if (!_sweep.MoveNext())
            {
                _sweep.Dispose();
                _sweep = null;
                metrics.Unmovable(_unmovable);
                _unmovable = 0;
                return;
            }

            var activation = _sweep.Current;
            if (activation.EdgesAreOverdue)
                activation.TakeEdges();
            if (traits.WouldLose(activation))
                _unmovable++;
        }
    }

    private void EndFold(TimeSpan now)
    {
        AdaptStride(now - _lastFold);
        _lastFold = now;
        var total = table.TotalWeight(out var remote);
        metrics.Weighed(total, remote, table.Count, table.Floor);
    }

    private void AdaptStride(TimeSpan elapsed)
    {
        var (local, far) = edges.Totals();
        var rate = (local + far - _lastMessages) / elapsed.TotalSeconds;
        _lastMessages = local + far;
        _stride = (int)Math.Clamp(rate / FullCountRate, 1, MaxStride);
        edges.Stride = _stride;
    }

    private void Sample(GrainId grain, long epoch, GrainId other, long messages, long error)
    {
        if (activations.TryGet(other, out var activation))
            table.Sample(grain, epoch, other, table.Self, activation.Epoch, messages, error);
        else if (locations.TryGet(other, out var location))
            table.Sample(grain, epoch, other, silos.NumberOf(location.Silo), location.Epoch, messages, error);
        else
            table.Sample(grain, epoch, other, SiloNumber.Unknown, 0, messages, error);
    }

    private readonly ref struct Sink(EdgeFold fold, GrainId grain, long epoch) : IEdgeSink<GrainId>
    {
        public void Receive(GrainId other, long messages, long error, long bytes) => fold.Sample(grain, epoch, other, messages, error);
    }
}
