namespace ActOp.Staging.Tests;

/// <summary>An item that runs an action and counts its runs.</summary>
internal sealed class Item(Action<Item>? action = null) : IStageItem
{
    private int _runs;

    internal int Runs => Volatile.Read(ref _runs);

    public void Execute()
    {
        Interlocked.Increment(ref _runs);
        action?.Invoke(this);
    }
}

/// <summary>Counts how many threads run items at once.</summary>
internal sealed class Occupancy
{
    private int _running;
    private int _most;

    internal int Most => Volatile.Read(ref _most);

    /// <summary>What the items do.</summary>
    internal void Run(Item item)
    {
        var now = Interlocked.Increment(ref _running);
        if (now > Most)
            Volatile.Write(ref _most, now);
        Interlocked.Decrement(ref _running);
    }
}
