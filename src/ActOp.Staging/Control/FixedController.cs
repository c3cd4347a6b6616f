namespace ActOp.Staging.Control;

/// <summary>Always the same threads: with as many as the cores for each stage, the paper's baseline (section 3).</summary>
/// <param name="threads">For each stage; at least 1.</param>
public sealed class FixedController(IReadOnlyList<int> threads) : IThreadController
{
    private readonly ThreadDecision _decision = threads.All(static count => count >= 1)
        ? new([.. threads], "fixed") : throw new ArgumentOutOfRangeException(nameof(threads), "Every stage has at least one thread.");

    /// <inheritdoc/>
    public ThreadDecision Decide(IReadOnlyList<StagePeriod> stages) => _decision;
}
