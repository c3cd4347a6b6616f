namespace ActOp.Partitioning;

/// <summary>Names one exchange: who offered, in which of its lives, which offer of that life.</summary>
/// <param name="Origin">A number that names the offering silo the same way everywhere (for instance a hash of its address). At crossing
/// offers the smaller goes first.</param>
/// <param name="Epoch">The life of that silo: greater after a restart.</param>
/// <param name="Sequence">Greater with each offer of that life.</param>
public readonly record struct ExchangeId(ulong Origin, long Epoch, long Sequence);

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

/// <summary>Why an offer led to no plan.</summary>
public enum ExchangeRefusal
{
    /// <summary>It was accepted.</summary>
    None,

    /// <summary>The silo took part in an exchange within the rejection window.</summary>
    Recent,

    /// <summary>The silo waits for the reply to an offer of its own.</summary>
    Busy,

    /// <summary>Both silos offered to each other; the offer with the smaller origin goes on, so this one ends its round.</summary>
    Crossing,

    /// <summary>No choice of vertices lowers the cut within the balance.</summary>
    NoGain,

    /// <summary>A newer offer of the same silo was already answered.</summary>
    Stale,
}

/// <summary>The answer of silo q. It carries the plan at once; migrations follow.</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="Id">The offer it answers.</param>
/// <param name="Refusal">Why there is no plan.</param>
/// <param name="Plan">The plan; null exactly if refused.</param>
/// <param name="Withdrawn">The offer that the replying silo gave up for this one at a crossing; it must not be answered any more.</param>
public sealed record ExchangeReply<TVertex>(ExchangeId Id, ExchangeRefusal Refusal, ExchangePlan<TVertex>? Plan, ExchangeId Withdrawn = default)
    where TVertex : notnull, IEquatable<TVertex>;

/// <summary>What silo q decided (Algorithm 1, steps 2 to 4).</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="Accepted">S0: the offered vertices that shall move from p to q.</param>
/// <param name="Given">T0: the vertices that move from q to p, with their edges.</param>
/// <param name="Gain">By how much the cut falls, in edge weight, less the cost of the moves.</param>
/// <param name="LoadChange">By how much the load of q rises (and that of p falls).</param>
public sealed record ExchangePlan<TVertex>(TVertex[] Accepted, CandidateSet<TVertex> Given, double Gain, double LoadChange)
    where TVertex : notnull, IEquatable<TVertex>
{
    /// <summary>The number of vertices that move.</summary>
    public int Moves => Accepted.Length + Given.Count;
}

/// <summary>Tells the partner of an exchange how the migration of one vertex ended. It may be lost: the partner then waits until
/// <see cref="PartitioningOptions.MigrationTimeout"/>.</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="Id">The exchange.</param>
/// <param name="Vertex">The vertex.</param>
/// <param name="Moved">False if it was busy or gone and stays.</param>
public readonly record struct MoveReport<TVertex>(ExchangeId Id, TVertex Vertex, bool Moved)
    where TVertex : notnull, IEquatable<TVertex>;
