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
