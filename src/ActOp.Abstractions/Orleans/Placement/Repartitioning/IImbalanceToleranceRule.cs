namespace Orleans.Placement.Repartitioning;

/// <summary>
/// Says by how many activations two silos may differ after locality partitioning has moved grains between them, in place of
/// <c>LocalityOptions.Tolerance</c>. Called on the turns of the runtime, several times per second: it must not block.
/// </summary>
public interface IImbalanceToleranceRule
{
    /// <summary>Whether the difference is tolerated. If one is, every smaller one counts as tolerated too.</summary>
    bool IsSatisfiedBy(uint imbalance);
}
