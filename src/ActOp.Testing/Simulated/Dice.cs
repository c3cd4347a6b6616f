namespace ActOp.Testing.Simulated;

/// <summary>
/// One stream of random numbers (SplitMix64). Each domain of a run has its own, so that one more draw in one does not change the others.
/// </summary>
internal sealed class Dice
{
    private readonly ulong _seed;
    private ulong _state;

    internal Dice(ulong seed)
    {
        _seed = seed;
        _state = seed;
    }

    /// <summary>A stream that depends on this one's seed and the name only.</summary>
    internal Dice Fork(string name)
    {
        var hash = _seed ^ 14695981039346656037UL;
        foreach (var letter in name)
            hash = (hash ^ letter) * 1099511628211UL;
        return new Dice(Mix(hash));
    }

    internal ulong Next() => Mix(_state += 0x9E3779B97F4A7C15UL);

    /// <summary>0 to below 1.</summary>
    internal double Unit() => (Next() >> 11) * (1.0 / (1UL << 53));

    internal int Below(int limit) => (int)(Next() % (ulong)limit);

    /// <summary>Both ends included.</summary>
    internal long Between(long low, long high) => low + (long)(Next() % (ulong)(high - low + 1));

    internal bool Chance(double probability) => Unit() < probability;

    internal T Pick<T>(IReadOnlyList<T> items) => items[Below(items.Count)];

    /// <summary>Exponentially distributed with the given mean.</summary>
    internal long Exponential(long mean) => (long)(-Math.Log(1 - Unit()) * mean);

    internal Guid NextGuid()
    {
        Span<ulong> words = [Next(), Next()];
        return new Guid(System.Runtime.InteropServices.MemoryMarshal.AsBytes(words));
    }

    internal void Shuffle<T>(IList<T> items)
    {
        for (var left = items.Count; left > 1; left--)
        {
            var other = Below(left);
            (items[left - 1], items[other]) = (items[other], items[left - 1]);
        }
    }

    private static ulong Mix(ulong value)
    {
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9UL;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EBUL;
        return value ^ (value >> 31);
    }
}
