using System.Collections.Concurrent;
using ActOp.Partitioning;
using ActOp.Runtime.Activations;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>From the activations' counts to the silo's heavy edges.</summary>
internal sealed partial class LocalityService
{
    /// <summary>Sketches kept for the next activations that begin to count: one per activation that talks, up to this.</summary>
    private const int MaxSketches = 65_536;

    /// <summary>
    /// Up to this many grain messages a second per silo every call is entered in the edges; beyond, a share that keeps the cost of counting
    /// constant.
    /// </summary>
    private const double FullCountRate = 50_000;

    /// <summary>A heavy edge of a silo with 10 million calls a second is still entered some times in a half-life.</summary>
    private const int MaxStride = 64;

    /// <summary>
    /// Sketches that may wait for the fold before hubs hold theirs back: what comes together in a step at the highest rate, many times
    /// over.
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
    internal void Fold(GrainId grain, long epoch, EdgeSketch<GrainId> edges)
    {
        Interlocked.Increment(ref _waiting);
        _counted.Enqueue((grain, epoch, edges));
    }

    /// <summary>
    /// Too much waits for the fold: an activation with more partners than counters keeps its sketch and lets the lightest edge go.
    /// </summary>
    internal bool IsFoldBehind => Volatile.Read(ref _waiting) > MaxWaiting;

    /// <summary>A grain ended for good: its edges pull nobody any more.</summary>
    internal void Forget(GrainId grain)
    {
        if (_runs)
            _gone.Enqueue(grain);
    }

    private void FoldStep()
    {
        var now = Now;
        var elapsed = now - _lastStep;
        if (elapsed <= TimeSpan.Zero)
            return;
        _lastStep = now;
        var start = _local.Time.GetTimestamp();
        var step = ++_edges.Step;
        _table.BeginFold(elapsed, _partitioning.DecayHalfLife);
        while (_counted.TryDequeue(out var counted))
        {
            Interlocked.Decrement(ref _waiting);
            var sink = new Sink(this, counted.Grain, counted.Epoch);
            counted.Edges.Drain(ref sink);
            if (_sketches.Count < MaxSketches)
                _sketches.Enqueue(counted.Edges);
        }

        while (_gone.TryDequeue(out var gone))
            _table.Forget(gone);
        Sweep((_activations.Count / EdgeCounters.StepsPerPeriod) + 1);
        if (step % EdgeCounters.StepsPerPeriod == 0)
            EndFold(now);
        _metrics.Folded(_local.Time.GetElapsedTime(start).TotalMilliseconds);
    }

    /// <summary>Activations hand over what they counted when they count on a period later; those that fell silent are told to.</summary>
    private void Sweep(int count)
    {
        _sweep ??= _activations.GetEnumerator();
        for (; count > 0; count--)
        {
            if (!_sweep.MoveNext())
            {
                _sweep.Dispose();
                _sweep = null;
                _metrics.Unmovable(_unmovable);
                _unmovable = 0;
                return;
            }

            var activation = _sweep.Current;
            if (activation.EdgesAreOverdue)
                activation.TakeEdges();
            if (_traits.WouldLose(activation))
                _unmovable++;
        }
    }

    private void EndFold(TimeSpan now)
    {
        AdaptStride(now - _lastFold);
        _lastFold = now;
        var total = _table.TotalWeight(out var remote);
        _metrics.Weighed(total, remote, _table.Count, _table.Floor);
    }

    private void AdaptStride(TimeSpan elapsed)
    {
        var (local, far) = _edges.Totals();
        var rate = (local + far - _lastMessages) / elapsed.TotalSeconds;
        _lastMessages = local + far;
        _stride = (int)Math.Clamp(rate / FullCountRate, 1, MaxStride);
        _edges.Stride = _stride;
    }

    private void Sample(GrainId grain, long epoch, GrainId other, long messages, long error)
    {
        if (_activations.TryGet(other, out var activation))
            _table.Sample(grain, epoch, other, _table.Self, activation.Epoch, messages, error);
        else if (_locations.TryGet(other, out var location))
            _table.Sample(grain, epoch, other, _silos.NumberOf(location.Silo), location.Epoch, messages, error);
        else
            _table.Sample(grain, epoch, other, Silo.Unknown, 0, messages, error);
    }

    private readonly ref struct Sink(LocalityService service, GrainId grain, long epoch) : IEdgeSink<GrainId>
    {
        public void Receive(GrainId other, long messages, long error, long bytes) => service.Sample(grain, epoch, other, messages, error);
    }
}
