namespace ActOp.Partitioning;

/// <summary>What the runtime must do after an input of the <see cref="ExchangeProtocol{TVertex}"/>. Everything may be absent.</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="Offer">Send this to its silo.</param>
/// <param name="Reply">Send this back to the silo that offered.</param>
/// <param name="Moves">Start to migrate these vertices of this silo, each on its own.</param>
/// <param name="Target">Where <paramref name="Moves"/> go.</param>
public readonly record struct ExchangeStep<TVertex>(
    ExchangeOffer<TVertex>? Offer = null, ExchangeReply<TVertex>? Reply = null, IReadOnlyList<TVertex>? Moves = null, int Target = Silo.Unknown)
    where TVertex : notnull, IEquatable<TVertex>;
