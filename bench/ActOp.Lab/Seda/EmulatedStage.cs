using ActOp.Staging.Control;
using ActOp.Staging.Model;

namespace ActOp.Lab.Seda;

/// <summary>A queue and its threads, and what they did since the last look.</summary>
/// <param name="load">What an event takes.</param>
/// <param name="threads">Threads at first.</param>
/// <param name="times">Draws the times.</param>
internal sealed class EmulatedStage(StageLoad load, int threads, ServiceTimes times)
{
    private readonly Queue<Request> _queue = new();
    private int _arrived;
    private int _completed;
    private double _computed;
    private double _blocked;
    private StageDemand _last;

    /// <summary>What an event takes on average, from the next one on.</summary>
    public StageLoad Load { get; set; } = load;

    /// <summary>Threads; for a while more may be <see cref="Busy"/> after it fell: each of them ends its event first.</summary>
    public int Threads { get; set; } = threads;

    /// <summary>Threads that have an event.</summary>
    public int Busy { get; private set; }

    /// <summary>Events that wait.</summary>
    public int Queued => _queue.Count;

    public void Enter(Request request)
    {
        _arrived++;
        _queue.Enqueue(request);
    }

    /// <summary>The next event, if a thread is free for it.</summary>
    public bool TryStart(out Request request)
    {
        request = default;
        if (Busy >= Threads || !_queue.TryDequeue(out request))
            return false;
        Busy++;
        return true;
    }

    public double DrawCompute() => times.Next(Load.Compute);

    public double DrawBlocked() => times.Next(Load.Blocked);

    public void Complete(double compute, double blocked)
    {
        Busy--;
        _completed++;
        _computed += compute;
        _blocked += blocked;
    }

    /// <summary>What a silo would have measured since the last look; the means are those of completed events, or the last known.</summary>
    /// <param name="seconds">Time since then.</param>
    public StagePeriod Collect(double seconds)
    {
        _last = _completed > 0
            ? new(_arrived / seconds, _computed / _completed, _blocked / _completed)
            : _last with { Arrivals = _last.Compute > 0 ? _arrived / seconds : 0 };
        (_arrived, _completed, _computed, _blocked) = (0, 0, 0, 0);
        return new(Threads, Queued, _last);
    }
}
