namespace ActOp.Partitioning;

/// <summary>The answer of silo q. It carries the plan at once; migrations follow.</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="Id">The offer it answers.</param>
/// <param name="Refusal">Why there is no plan.</param>
/// <param name="Plan">The plan; null exactly if refused.</param>
/// <param name="Withdrawn">The offer that the replying silo gave up for this one at a crossing; it must not be answered any more.</param>
public sealed record ExchangeReply<TVertex>(ExchangeId Id, ExchangeRefusal Refusal, ExchangePlan<TVertex>? Plan, ExchangeId Withdrawn = default)
    where TVertex : notnull, IEquatable<TVertex>;
