namespace ActOp.Partitioning;

/// <summary>The offer of silo p to silo q (Algorithm 1, step 1).</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="Id">The exchange.</param>
/// <param name="From">The offering silo, in the receiver's numbering.</param>
/// <param name="To">The silo that is asked.</param>
/// <param name="Load">The load of the offering silo.</param>
/// <param name="Candidates">What it would give.</param>
/// <param name="Answered">The last offer of the receiver that the sender answered: if that one is still out, its reply is on the way and
/// comes first.</param>
public sealed record ExchangeOffer<TVertex>(ExchangeId Id, int From, int To, SiloLoad Load, CandidateSet<TVertex> Candidates, ExchangeId Answered = default)
    where TVertex : notnull, IEquatable<TVertex>;
