using System.Collections.Concurrent;
using ActOp.Partitioning;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime.GrainDirectory;

namespace ActOp.Orleans.Locality;

/// <summary>
/// The activations of this silo that have a place in the graph, as Orleans' working set reports them, and the edges that they counted.
/// </summary>
/// <remarks>
/// Any thread. Orleans calls the observer under the lock of an activation: it does nothing but change a dictionary and complete a task. An
/// activation that Orleans has not reported, such as one that still activates, counts nothing.
/// </remarks>
internal sealed class LocalGrains(GrainKinds kinds, LocalityGate gate, TimeProvider time, IServiceProvider services)
    : IActivationWorkingSetObserver
{
    /// <summary>Free sketches that are kept, at most.</summary>
    private const int MaxFree = 16_384;

    /// <summary>Full sketches that may wait for the fold before activations with many partners drop their lightest edge.</summary>
    private const int MaxFull = 4096;

    private readonly ConcurrentDictionary<GrainId, LocalGrain> _grains = new();
    private readonly ConcurrentQueue<LocalGrain> _counting = new();
    private readonly ConcurrentQueue<(LocalGrain Grain, EdgeSketch<GrainId> Edges)> _full = new();
    private readonly ConcurrentQueue<EdgeSketch<GrainId>> _free = new();
    private readonly ConcurrentQueue<GrainId> _gone = new();
    // Asked for late: Orleans makes the cache of parts that need this one.
    private readonly Lazy<KnownLocations?> _locations = new(() => services.GetService<IGrainDirectoryCache>() as KnownLocations);
    private int _fullCount;

    /// <summary>The number of the fold's step, written by the fold.</summary>
    internal volatile int Step;

    /// <summary>Whether arrivals are told to <see cref="Arrived"/>.</summary>
    internal volatile bool TellsArrivals;

    /// <summary>Whether grains that end are kept for <see cref="TryTakeGone"/>.</summary>
    internal volatile bool TellsGone;

    /// <summary>A grain has become active here. Must be quick.</summary>
    internal Action<GrainId>? Arrived { get; set; }

    internal GrainKinds Kinds => kinds;

    /// <summary>The silo's cache of locations, if locality can tell it something.</summary>
    internal KnownLocations? Locations => _locations.Value;

    internal LocalityGate Gate => gate;

    internal int Count => _grains.Count;

    internal bool TryGet(GrainId id, out LocalGrain grain) => _grains.TryGetValue(id, out grain!);

    /// <summary>The activations of this moment.</summary>
    internal IEnumerable<LocalGrain> All => _grains.Select(static pair => pair.Value);

    internal EdgeSketch<GrainId> RentSketch() => _free.TryDequeue(out var sketch) ? sketch : new EdgeSketch<GrainId>();

    internal void ReturnSketch(EdgeSketch<GrainId> sketch)
    {
        if (_free.Count < MaxFree)
            _free.Enqueue(sketch);
    }

    /// <summary>A grain has begun to count.</summary>
    internal void Enlist(LocalGrain grain) => _counting.Enqueue(grain);

    /// <summary>Takes a full sketch for the fold, unless too many wait already.</summary>
    internal bool TryHandOver(LocalGrain grain, EdgeSketch<GrainId> edges)
    {
        if (Volatile.Read(ref _fullCount) >= MaxFull)
            return false;
        Interlocked.Increment(ref _fullCount);
        _full.Enqueue((grain, edges));
        return true;
    }

    internal bool TryTakeFull(out LocalGrain grain, out EdgeSketch<GrainId> edges)
    {
        var taken = _full.TryDequeue(out var full);
        (grain, edges) = full;
        if (taken)
            Interlocked.Decrement(ref _fullCount);
        return taken;
    }

    /// <summary>A grain that has counted for at least <paramref name="steps"/> steps.</summary>
    internal bool TryTakeCounting(int steps, out LocalGrain grain)
    {
        grain = null!;
        return _counting.TryPeek(out var first) && Step - first.Since >= steps && _counting.TryDequeue(out grain!);
    }

    internal bool TryTakeGone(out GrainId grain) => _gone.TryDequeue(out grain);

    void IActivationWorkingSetObserver.OnAdded(IActivationWorkingSetMember member)
    {
        try
        {
            if (member is not IGrainContext context || kinds.KindOf(context.GrainId.Type) is not { Counts: true } kind)
                return;
            _grains[context.GrainId] = new LocalGrain(context, kind, time.GetUtcNow().ToUnixTimeMilliseconds());
            // Of a grain that was elsewhere, this silo would send the next message there.
            Locations?.Correct(context.GrainId, context.Address.SiloAddress!);
            if (TellsArrivals)
                Arrived?.Invoke(context.GrainId);
        }
        catch (Exception exception)
        {
            // The activation must not fail for it.
            gate.Close("the observer of activations", exception);
        }
    }

    void IActivationWorkingSetObserver.OnDeactivating(IActivationWorkingSetMember member)
    {
        if (member is IGrainContext context && TryGet(context.GrainId, out var grain) && ReferenceEquals(grain.Context, context))
            grain.BeginsToLeave();
    }

    void IActivationWorkingSetObserver.OnDeactivated(IActivationWorkingSetMember member)
    {
        if (member is not IGrainContext context || !TryGet(context.GrainId, out var grain) || !ReferenceEquals(grain.Context, context)
            || !_grains.TryRemove(KeyValuePair.Create(context.GrainId, grain)))
        {
            return;
        }

        grain.BeginsToLeave();
        if (TellsGone && !grain.IsMoving)
            _gone.Enqueue(context.GrainId);
    }

    void IActivationWorkingSetObserver.OnActive(IActivationWorkingSetMember member)
    {
    }

    void IActivationWorkingSetObserver.OnIdle(IActivationWorkingSetMember member)
    {
    }

    void IActivationWorkingSetObserver.OnEvicted(IActivationWorkingSetMember member)
    {
    }
}

/// <summary>One activation of this silo, and the calls that it has sent since the fold took them.</summary>
/// <remarks>
/// Calls are counted on the turns of the activation, or on any thread if a filter of the application has left them: the flag
/// <c>_isTaken</c> belongs to who set it, and who does not get it counts nothing. Nobody waits for it but the fold, which tries again.
/// </remarks>
internal sealed class LocalGrain(IGrainContext context, GrainKind kind, long epoch)
{
    private const int NotWanted = 0;
    private const int Wanted = 1;
    private const int Begun = 2;

    private EdgeSketch<GrainId>? _edges;
    private TaskCompletionSource? _leaves;
    private Action? _requestEnds;
    private int _isTaken;
    private int _want;
    private int _running;

    internal IGrainContext Context => context;

    internal GrainKind Kind => kind;

    /// <summary>
    /// Greater than those of earlier activations of the grain: the wall clock in milliseconds, or more if another silo's clock was ahead.
    /// Written by the fold.
    /// </summary>
    internal long Epoch { get; set; } = epoch;

    /// <summary>The step of the fold in which it began to count.</summary>
    internal int Since { get; private set; }

    /// <summary>A plan moves it, so it is not gone when it ends.</summary>
    internal bool IsMoving => Volatile.Read(ref _want) != NotWanted;

    /// <summary>Requests that run now; counted only if the kind interleaves.</summary>
    internal int Running => Volatile.Read(ref _running);

    internal void BeginRequest() => Interlocked.Increment(ref _running);

    internal void EndRequest() => Interlocked.Decrement(ref _running);

    /// <summary><see cref="EndRequest"/> as one delegate for all requests. Two threads that make it at once make the same.</summary>
    internal Action WhenRequestEnds => _requestEnds ??= EndRequest;

    internal void Count(LocalGrains owner, GrainId other, int messages)
    {
        if (Interlocked.Exchange(ref _isTaken, 1) != 0)
            return;
        if (_edges is null)
            Begin(owner);
        if (!_edges!.TryAdd(other, messages, 0))
        {
            if (owner.TryHandOver(this, _edges))
                _edges = owner.RentSketch();
            _edges.Add(other, messages, 0);
        }

        Volatile.Write(ref _isTaken, 0);
    }

    /// <summary>The counted edges, for the fold. False if a call is being counted at this moment.</summary>
    internal bool TryTakeEdges(out EdgeSketch<GrainId>? edges)
    {
        edges = null;
        if (Interlocked.Exchange(ref _isTaken, 1) != 0)
            return false;
        (edges, _edges) = (_edges, null);
        Volatile.Write(ref _isTaken, 0);
        return true;
    }

    /// <summary>A plan wants to move it. False if one does already.</summary>
    internal bool TryWant() => Interlocked.CompareExchange(ref _want, Wanted, NotWanted) == NotWanted;

    /// <summary>The move begins, on a turn of the activation. False if the plan no longer waits for it.</summary>
    internal bool BeginWant() => Interlocked.CompareExchange(ref _want, Begun, Wanted) == Wanted;

    /// <summary>The plan waits no longer. False if the move has begun.</summary>
    internal bool GiveUpWant() => Interlocked.CompareExchange(ref _want, NotWanted, Wanted) == Wanted;

    internal void EndWant() => Volatile.Write(ref _want, NotWanted);

    /// <summary>A task that ends when the activation takes no more requests.</summary>
    internal Task ExpectToLeave()
    {
        var leaves = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        return (Interlocked.CompareExchange(ref _leaves, leaves, null) ?? leaves).Task;
    }

    internal void BeginsToLeave() => Volatile.Read(ref _leaves)?.TrySetResult();

    private void Begin(LocalGrains owner)
    {
        _edges = owner.RentSketch();
        Since = owner.Step;
        owner.Enlist(this);
    }
}
