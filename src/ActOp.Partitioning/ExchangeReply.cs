namespace ActOp.Partitioning;

/// <summary>The answer of silo q. It carries the plan at once; migrations follow.</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="Id">The offer it answers.</param>
/// <param name="Refusal">Why there is no plan.</param>
/// <param name="Plan">The plan; null exactly if refused.</param>
public sealed record ExchangeReply<TVertex>(ExchangeId Id, ExchangeRefusal Refusal, ExchangePlan<TVertex>? Plan)
    where TVertex : notnull, IEquatable<TVertex>;
