using ActOp.Staging.Model;

namespace ActOp.Lab.Seda;

/// <summary>A server with stages in tandem: each request visits all of them in turn.</summary>
/// <param name="Stages">The stages.</param>
/// <param name="Rate">Requests a second; they arrive independently of each other (Poisson).</param>
/// <param name="Processors">Processors that all threads share, p.</param>
internal sealed record SedaPlan(IReadOnlyList<StageLoad> Stages, double Rate, int Processors)
{
    /// <summary>How the times of the stages scatter.</summary>
    public ServiceShape Shape { get; init; }

    /// <summary>
    /// Slow-down of all by each runnable thread beyond the processors: with n of them work takes 1 + cost (n - p) times as long.
    /// </summary>
    public double SwitchCost { get; init; } = 0.01;

    /// <summary>Seed of all draws.</summary>
    public int Seed { get; init; } = 1;

    /// <summary>What the stages have to do, as the model sees it.</summary>
    public IReadOnlyList<StageDemand> Demands => [.. Stages.Select(stage => stage.Demand(Rate))];

    /// <summary>As many threads as processors for each stage: where every controller begins.</summary>
    public int[] ThreadsLikeProcessors => [.. Stages.Select(_ => Processors)];
}
