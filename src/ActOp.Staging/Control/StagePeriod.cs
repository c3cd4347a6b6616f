using ActOp.Staging.Model;

namespace ActOp.Staging.Control;

/// <summary>What a stage did in one period.</summary>
/// <param name="Threads">Its threads.</param>
/// <param name="Queued">Events that wait at the end of the period.</param>
/// <param name="Demand">What it had to do. All zero when there was nothing to measure.</param>
/// <param name="Held">Threads that a single event holds for so long that the demand does not contain it.</param>
public readonly record struct StagePeriod(int Threads, int Queued, StageDemand Demand, int Held = 0);
