namespace ActOp.Partitioning;

/// <summary>How promising a silo is as the partner of an exchange.</summary>
/// <param name="Silo">The silo.</param>
/// <param name="Total">The sum of the positive transfer scores of its candidate set: the paper's order.</param>
/// <param name="Cut">The weight of all edges to it.</param>
public readonly record struct PartnerScore(int Silo, double Total, double Cut);
