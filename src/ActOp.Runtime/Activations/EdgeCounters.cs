using System.Runtime.CompilerServices;
using ActOp.Calls;
using ActOp.Foundation;

namespace ActOp.Runtime.Activations;

/// <summary>
/// Counts messages between grains (paper section 4.3): totals per thread, and edges in the activations at both ends, which only the
/// activation's own turn accesses. Of a call within the silo the caller's end counts for both.
/// </summary>
/// <remarks>
/// Of frequent calls only every n-th on average is entered in the edges, with weight n: partitioning needs only rates, and this keeps the
/// cost per call low. <see cref="Stride"/> is set by the fold from the measured rate.
/// </remarks>
internal sealed class EdgeCounters
{
    /// <summary>The stripe that this thread used last; <see cref="t_first"/> is the head of its list.</summary>
    [ThreadStatic]
    private static EdgeStripe? t_stripe;

    [ThreadStatic]
    private static EdgeStripe? t_first;

    /// <summary>Referenced only by the thread's thread-static field.</summary>
    [ThreadStatic]
    private static object? t_thread;

    private readonly List<EdgeStripe> _stripes = [];
    private long _endedLocal;
    private long _endedRemote;
    private int _seed;
    private volatile bool _ended;

    /// <summary>
    /// Steps of one fold period. A fold in a single step would occupy a core for milliseconds and delay requests. An activation hands its
    /// counts over when they are this many steps old.
    /// </summary>
    internal const int StepsPerPeriod = 20;

    /// <summary>Whether edges are counted; the totals always are.</summary>
    internal volatile bool CountsEdges;

    /// <summary>One call in this many is entered in the edges.</summary>
    internal volatile int Stride = 1;

    /// <summary>The number of the fold's step; written by the fold.</summary>
    internal volatile int Step;

    /// <summary>
    /// Grain messages (requests and answers between grains) within the silo, and between silos, as far as this silo's grains sent the
    /// request.
    /// </summary>
    internal (long Local, long Remote) Totals()
    {
        lock (_stripes)
        {
            RemoveEnded();
            long local = _endedLocal, remote = _endedRemote;
            foreach (var stripe in _stripes)
            {
                local += Volatile.Read(ref stripe.Local);
                remote += Volatile.Read(ref stripe.Remote);
            }

            return (local, remote);
        }
    }

    /// <summary>Threads with a stripe, including ended ones that the garbage collector has not processed yet.</summary>
    internal int Stripes
    {
        get
        {
            lock (_stripes)
            {
                RemoveEnded();
                return _stripes.Count;
            }
        }
    }

    /// <summary>Called when the silo ends. Threads drop its stripes when they next search for the stripe of another silo.</summary>
    internal void End()
    {
        CountsEdges = false;
        _ended = true;
    }

    /// <summary>Counts messages of this thread's turns.</summary>
    internal void Add(long local, long remote)
    {
        var stripe = Current();
        stripe.Local += local;
        stripe.Remote += remote;
    }

    /// <summary>A call leaves for another grain: <paramref name="callee"/>, or one of another silo when null.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void CountOutgoing(Call call, Activation? callee)
    {
        if (call.Caller is Activation { Class.IsOrdinary: true } caller)
            CountOutgoing(call, caller, callee);
    }

    /// <summary>A request begins to run in <paramref name="callee"/>. A caller of this silo has counted it already.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void CountIncoming(Activation callee, Call call)
    {
        if (call.Caller is null && CountsEdges && call.HasRemoteSource)
            CountFromAfar(callee, call);
    }

    private void CountFromAfar(Activation callee, Call call)
    {
        // Only sampled calls are checked for being between grains; the share applies to all.
        if (!callee.Class.IsOrdinary || !IsSampled(Current(), out var weight))
            return;
        var source = call.RemoteSource;
        if (!SystemGrainIds.IsSystemGrain(source))
            callee.CountEdge(source, weight * MessagesOf(call));
    }

    private void CountOutgoing(Call call, Activation caller, Activation? callee)
    {
        if (callee is { Class.IsOrdinary: false })
            return;
        var target = call.TargetId;
        if (callee is null && SystemGrainIds.IsSystemGrain(target))
            return;
        var stripe = Current();
        if (callee is null)
            stripe.Remote += MessagesOf(call);
        else
            stripe.Local += MessagesOf(call);
        // Each end of an edge reports it, and if both ends are local each report counts half. This report is for both ends.
        if (CountsEdges && IsSampled(stripe, out var weight) && ReferenceEquals(CallHost.Current, caller))
            caller.CountEdge(target, weight * MessagesOf(call) * (callee is null ? 1 : 2));
    }

    private static int MessagesOf(Call call) => call.Origin == CallOrigin.Nobody ? 1 : 2;

    private bool IsSampled(EdgeStripe stripe, out int weight)
    {
        var stride = Stride;
        weight = stride;
        if (stride == 1)
            return true;
        if (--stripe.Skip > 0)
            return false;
        stripe.Skip = stripe.NextSkip(stride);
        return true;
    }

    private EdgeStripe Current() => t_stripe is { } stripe && ReferenceEquals(stripe.Owner, this) ? stripe : FindStripe();

    /// <summary>This thread's stripe for this silo. A thread may run turns of several silos of the process.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private EdgeStripe FindStripe()
    {
        EdgeStripe? found = null, kept = null, next;
        for (var stripe = t_first; stripe is not null; stripe = next)
        {
            next = stripe.Next;
            if (ReferenceEquals(stripe.Owner, this))
            {
                found = stripe;
            }
            else if (stripe.Owner._ended)
            {
                stripe.Owner.Remove(stripe);
                continue;
            }

            stripe.Next = kept;
            kept = stripe;
        }

        t_first = kept;
        return t_stripe = found ?? Add();
    }

    private EdgeStripe Add()
    {
        EdgeStripe stripe;
        lock (_stripes)
        {
            RemoveEnded();
            stripe = new EdgeStripe(this, t_thread ??= new object(), _seed++ * 7919);
            _stripes.Add(stripe);
        }

        stripe.Next = t_first;
        return t_first = stripe;
    }

    /// <summary>Adds the counts of ended threads to the totals and removes their stripes.</summary>
    private void RemoveEnded()
    {
        Invariant.Entered(_stripes);
        for (var i = _stripes.Count - 1; i >= 0; i--)
        {
            if (!_stripes[i].Thread.IsAlive)
                RemoveAt(i);
        }
    }

    private void Remove(EdgeStripe stripe)
    {
        lock (_stripes)
            RemoveAt(_stripes.IndexOf(stripe));
    }

    private void RemoveAt(int index)
    {
        Invariant.Entered(_stripes);
        var stripe = _stripes[index];
        _endedLocal += stripe.Local;
        _endedRemote += stripe.Remote;
        _stripes.RemoveAt(index);
    }
}

/// <summary>One thread's counts of grain messages for one silo; no other thread writes them, or follows <see cref="Next"/>.</summary>
internal sealed class EdgeStripe(EdgeCounters owner, object thread, int seed)
{
    private uint _random = (uint)seed | 1;

    /// <summary>The counters that the stripe belongs to.</summary>
    internal EdgeCounters Owner => owner;

    /// <summary>Empty some time after the thread has ended, because only thread-static fields reference the target.</summary>
    internal WeakReference Thread { get; } = new(thread);

    /// <summary>The thread's next stripe: it has one for each silo of the process whose turns it ran.</summary>
    internal EdgeStripe? Next;

    internal long Local;
    internal long Remote;

    /// <summary>Calls until the next one whose edge is counted.</summary>
    internal int Skip;

    /// <summary>
    /// A number of calls to skip, <paramref name="stride"/> on average: random, so that it does not correlate with patterns of calls.
    /// </summary>
    internal int NextSkip(int stride)
    {
        _random ^= _random << 13;
        _random ^= _random >> 17;
        _random ^= _random << 5;
        return 1 + (int)(_random % (uint)((2 * stride) - 1));
    }
}
