namespace ActOp.Runtime.Locality;

/// <summary>One thread's counts of grain messages for one silo; no other thread writes them, or follows <see cref="Next"/>.</summary>
internal sealed class EdgeStripe(EdgeCounters owner, object thread, int seed)
{
    private uint _random = (uint)seed | 1;

    /// <summary>The counters that the stripe belongs to.</summary>
    internal EdgeCounters Owner => owner;

    /// <summary>Becomes empty some time after the thread has ended, since its thread-static fields are all that holds the target.</summary>
    internal WeakReference Thread { get; } = new(thread);

    /// <summary>The thread's next stripe: it has one for each silo of the process whose turns it ran.</summary>
    internal EdgeStripe? Next;

    internal long Local;
    internal long Remote;

    /// <summary>Calls until the next one whose edge is counted.</summary>
    internal int Skip;

    /// <summary>
    /// A number of calls to skip, <paramref name="stride"/> on average: random, so that it does not beat with patterns of calls.
    /// </summary>
    internal int NextSkip(int stride)
    {
        _random ^= _random << 13;
        _random ^= _random >> 17;
        _random ^= _random << 5;
        return 1 + (int)(_random % (uint)((2 * stride) - 1));
    }
}
