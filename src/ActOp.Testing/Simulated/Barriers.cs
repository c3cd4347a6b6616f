namespace ActOp.Testing.Simulated;

/// <summary>The barriers of a run, and what waits at them.</summary>
/// <remarks>
/// Only the thread of the pump uses it. What waits is let go by <see cref="SimulationBarrier.Release"/>, or ends with its run.
/// </remarks>
internal sealed class Barriers(SimulatedRun run)
{
    private readonly List<SimulationBarrier> _barriers = [];

    internal bool Any => _barriers.Count > 0;

    internal SimulationBarrier Add(string point)
    {
        var barrier = new SimulationBarrier(this, point);
        _barriers.Add(barrier);
        return barrier;
    }

    /// <summary>Waits while a barrier stands at this point.</summary>
    internal Task PassAsync(string who, string point)
    {
        var passed = new TaskCompletionSource();
        Pass(who, point, passed.SetResult);
        return passed.Task;
    }

    /// <summary>Goes on at once, or when the barrier at this point is released.</summary>
    internal void Pass(string who, string point, Action goOn)
    {
        if (_barriers.Find(one => point.Contains(one.Point, StringComparison.Ordinal)) is not { } barrier)
        {
            goOn();
            return;
        }

        run.Tell(who, "waits at the barrier \"" + barrier.Point + "\": " + point);
        barrier.Hold(goOn);
    }

    internal void Remove(SimulationBarrier barrier)
    {
        if (_barriers.Remove(barrier))
            run.Tell("test", "releases the barrier \"" + barrier.Point + "\"");
    }

    /// <summary>Nothing waits any more.</summary>
    internal void ReleaseAll()
    {
        foreach (var barrier in _barriers.ToArray())
            barrier.Release();
    }
}
