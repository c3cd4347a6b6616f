namespace ActOp.Staging.Measuring;

/// <summary>What a stage has done since it was made, for estimates of its demand.</summary>
/// <param name="Executed">Events run.</param>
/// <param name="Queued">Events that wait now.</param>
/// <param name="Busy">What a sample of the events took.</param>
/// <param name="Held">Threads that a single event holds for so long that nobody knows its cost yet.</param>
public readonly record struct StageUsage(long Executed, int Queued, BusyTime Busy, int Held = 0)
{
    /// <summary>Events that have come: those that ran, and those that wait.</summary>
    public long Arrived => Executed + Queued;
}
