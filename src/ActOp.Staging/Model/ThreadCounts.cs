namespace ActOp.Staging.Model;

/// <summary>Whole threads for each stage.</summary>
/// <param name="Threads">For each stage, in the order given.</param>
/// <param name="IsOverloaded">Some stage has no more threads than are busy: its queue grows.</param>
/// <param name="ExceedsProcessors">If all were busy they would keep more than all processors busy: even the fewest threads that are stable
/// would.</param>
public sealed record ThreadCounts(IReadOnlyList<int> Threads, bool IsOverloaded, bool ExceedsProcessors);
