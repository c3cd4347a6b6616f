namespace ActOp.Runtime.Hosting;

/// <summary>The node's source of randomness: one seed, any thread.</summary>
internal sealed class SeededRandom(int seed)
{
    private readonly Lock _gate = new();
    private readonly Random _random = new(seed);

    internal int Next(int limit)
    {
        lock (_gate)
            return _random.Next(limit);
    }

    internal void Shuffle<T>(T[] items)
    {
        lock (_gate)
            _random.Shuffle(items);
    }
}
