namespace ActOp.Runtime.Locality;

/// <summary>One thread's counts of grain messages; no other thread writes them.</summary>
internal sealed class EdgeStripe(object owner, int seed)
{
    private uint _random = (uint)seed | 1;

    /// <summary>The <see cref="EdgeCounters"/> the stripe belongs to.</summary>
    internal object Owner => owner;

    internal long Local;
    internal long Remote;

    /// <summary>Calls until the next one whose edge is counted.</summary>
    internal int Skip;

    /// <summary>A number of calls to skip, <paramref name="stride"/> on average: random, so that it does not beat with patterns of calls.</summary>
    internal int NextSkip(int stride)
    {
        _random ^= _random << 13;
        _random ^= _random >> 17;
        _random ^= _random << 5;
        return 1 + (int)(_random % (uint)((2 * stride) - 1));
    }
}
