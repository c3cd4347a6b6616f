using ActOp.Testing.Simulated;

namespace ActOp.Testing;

/// <summary>A point at which code waits until the test lets it go on: for orders of events that must be exactly so.</summary>
/// <remarks>
/// What waits holds what it held, as a call that takes long: calls of it end with their response timeout. A silo that crashes takes what
/// waits in it along. Used on the thread of the simulation only.
/// </remarks>
public sealed class SimulationBarrier
{
    private readonly Barriers _barriers;
    private readonly TaskCompletionSource _reached = new();
    private readonly Queue<Action> _waiting = new();

    internal SimulationBarrier(Barriers barriers, string point) => (_barriers, Point) = (barriers, point);

    /// <summary>What the text of a point must contain for code to wait there.</summary>
    public string Point { get; }

    /// <summary>Completes when code waits at the barrier for the first time.</summary>
    public Task Reached => _reached.Task;

    /// <summary>How many waits there have been.</summary>
    public int Waiting { get; private set; }

    /// <summary>Lets everything go on that waits, and removes the barrier.</summary>
    public void Release()
    {
        _barriers.Remove(this);
        while (_waiting.TryDequeue(out var goOn))
            goOn();
    }

    internal void Hold(Action goOn)
    {
        Waiting++;
        _waiting.Enqueue(goOn);
        _reached.TrySetResult();
    }
}
