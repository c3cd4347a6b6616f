namespace ActOp.Staging;

/// <summary>What a stage has done since it was made.</summary>
/// <param name="Executed">Items run.</param>
/// <param name="Posted">Items that came from outside of the stage's own threads.</param>
/// <param name="Wakes">Threads woken.</param>
/// <param name="EmptyWakes">Threads that were woken and found nothing: each is a wasted switch.</param>
/// <param name="Steals">Items taken from another thread's queue.</param>
/// <param name="Queued">Items waiting now; approximate while threads run.</param>
public readonly record struct StageCounters(long Executed, long Posted, long Wakes, long EmptyWakes, long Steals, int Queued);
