namespace ActOp.Staging.Control;

/// <summary>The threads of each stage from now on.</summary>
/// <param name="Threads">For each stage, in the order given; at least 1.</param>
/// <param name="Reason">Why, in a few words for the log.</param>
public sealed record ThreadDecision(IReadOnlyList<int> Threads, string Reason);
