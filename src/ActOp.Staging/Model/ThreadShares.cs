namespace ActOp.Staging.Model;

/// <summary>An optimum over real numbers of threads.</summary>
/// <param name="Threads">For each stage.</param>
/// <param name="Multiplier">The price of a processor, theta, in seconds: 0 when there are enough.</param>
/// <param name="IsOverloaded">The stages need all processors or more: no allocation is stable.</param>
public sealed record ThreadShares(IReadOnlyList<double> Threads, double Multiplier, bool IsOverloaded);
