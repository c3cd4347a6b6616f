namespace Heartbeat.Compare;

/// <summary>A comparison, as written to JSON.</summary>
/// <param name="Cells">What was measured.</param>
public sealed record CompareResult(IReadOnlyList<CellResult> Cells)
{
    /// <summary>How the model's choice compares with the best other one, load by load.</summary>
    public IReadOnlyList<Regret> Regret { get; } = Compare.Regret.Of(Cells);

    /// <summary>In how many loads it was good or bad.</summary>
    public RegretCount RegretCount => RegretCount.Of(Regret);
}
