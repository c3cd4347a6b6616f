using System.Collections.Concurrent;

namespace ActOp.TestClusters;

/// <summary>A thread of a silo that stands still in a turn until the test lets it go on, and the order of the turns after that.</summary>
public class HeldThread
{
    private readonly ManualResetEventSlim _open = new();

    /// <summary>The thread stands still.</summary>
    public TaskCompletionSource Arrived { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public ConcurrentQueue<string> Order { get; } = [];

    public void Release() => _open.Set();

    /// <summary>Grain code: blocks the thread.</summary>
    public void Wait()
    {
        Arrived.TrySetResult();
        _open.Wait(Gate.Patience);
    }
}
