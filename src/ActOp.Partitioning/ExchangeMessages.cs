namespace ActOp.Partitioning;

/// <summary>Identifies an exchange: the offering silo, its incarnation and the number of the offer.</summary>
/// <param name="Origin">A number that identifies the offering silo on all silos (for instance a hash of its address). Of two crossing
/// offers the one with the smaller number is handled.</param>
/// <param name="Epoch">The incarnation of that silo: greater after a restart.</param>
/// <param name="Sequence">Increases with each offer of that incarnation.</param>
public readonly record struct ExchangeId(ulong Origin, long Epoch, long Sequence);

/// <summary>The offer of silo p to silo q (Algorithm 1, step 1).</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="Id">The exchange.</param>
/// <param name="From">The offering silo, in the receiver's numbering.</param>
/// <param name="To">The silo that is asked.</param>
/// <param name="Load">The load of the offering silo.</param>
/// <param name="Candidates">The vertices that it offers.</param>
/// <param name="Answered">The last offer of the receiver that the sender answered: if that one is still pending, its reply is in transit
/// and is handled first.</param>
public sealed record ExchangeOffer<TVertex>(
    ExchangeId Id, int From, int To, SiloLoad Load, CandidateSet<TVertex> Candidates, ExchangeId Answered = default)
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

    /// <summary>Both silos offered to each other; the offer with the smaller origin is handled, so this one ends its round.</summary>
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
public sealed record ExchangeReply<TVertex>(
    ExchangeId Id, ExchangeRefusal Refusal, ExchangePlan<TVertex>? Plan, ExchangeId Withdrawn = default)
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

/// <summary>
/// The load of a silo and the band it should stay in. A plan never takes a silo further out of its band; a silo above it (or one
/// whose band is [0, 0] because it drains) may give at a loss, a silo below it may take at a loss: joins and drains are ordinary exchanges.
/// </summary>
/// <param name="Current">Vertices or their total size, with what is promised in and out already counted.</param>
/// <param name="Lower">The least load it should keep.</param>
/// <param name="Upper">The most load it should have.</param>
public readonly record struct SiloLoad(double Current, double Lower, double Upper)
{
    /// <summary>
    /// A band relative to the mean load of the cluster: [mean (1 - tolerance), mean (1 + tolerance)], widened to the next whole vertex so
    /// that small silos can trade at all. With every silo inside, no pair differs by more than 2 tolerance mean (the paper's delta).
    /// </summary>
    /// <param name="current">The load now.</param>
    /// <param name="mean">The mean load of all silos that take part.</param>
    /// <param name="tolerance">For instance 0.03.</param>
    /// <returns>The load with its band.</returns>
    public static SiloLoad Around(double current, double mean, double tolerance) =>
        new(current, Math.Min(Math.Floor(mean), mean * (1 - tolerance)), Math.Max(Math.Ceiling(mean), mean * (1 + tolerance)));

    /// <summary>A silo that wants to be empty.</summary>
    /// <param name="current">The load now.</param>
    /// <returns>The load with the band [0, 0].</returns>
    public static SiloLoad Draining(double current) => new(current, 0, 0);

    /// <summary>How far a load is out of the band.</summary>
    /// <param name="load">A load this silo might have.</param>
    /// <returns>0 inside the band.</returns>
    public double Violation(double load) => Math.Max(0, Math.Max(load - Upper, Lower - load));
}

/// <summary>
/// Silos are small dense numbers of the caller's choice (0, 1, 2, ...), local to one silo. A codec that sends candidates to another silo
/// translates them to whatever names a silo on the wire.
/// </summary>
public static class SiloNumber
{
    /// <summary>The vertex is nowhere that is known, or on a client: such an end pulls nowhere.</summary>
    public const int Unknown = -1;
}
