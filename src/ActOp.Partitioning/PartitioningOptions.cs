namespace ActOp.Partitioning;

/// <summary>The options of locality partitioning. Immutable; call <see cref="Validate"/> once before use.</summary>
public sealed record PartitioningOptions
{
    /// <summary>
    /// The most vertices that each side of an exchange may move: the paper's k. 400 a side reaches METIS-like cuts where 100 does not
    /// (ego-Facebook, 10 parts, mean of 5 seeds: 6.0 % against 9.2 %; METIS 5.6 %); an offer stays below 400 candidates and
    /// <see cref="EdgesPerOffer"/> edges and a decision takes milliseconds.
    /// </summary>
    public int CandidateCount { get; init; } = 400;

    /// <summary>
    /// While rounds gain nothing, an offer has up to this many times <see cref="CandidateCount"/> candidates: twice as many after each such
    /// round, half as many after an exchange, and <see cref="CandidateCount"/> again when the most have gained nothing. With look-ahead
    /// only. 1: always <see cref="CandidateCount"/>. In few large parts, groups that should change sides are larger than an offer that
    /// silos can afford in every round (power law, 10,670 vertices, 4 parts, mean of 4 seeds: 17.8 % against 19.9 %; METIS 17.9 %).
    /// </summary>
    public int CandidateGrowth { get; init; } = 8;

    /// <summary>The largest total size of the candidates of one side, in the unit of <see cref="IVertexTraits{TVertex}.SizeOf"/>.</summary>
    public double CandidateSize { get; init; } = double.PositiveInfinity;

    /// <summary>
    /// The most edges sent with one candidate, heaviest first. Edges that touch one of the two silos are sent beyond that, since scores
    /// depend on them.
    /// </summary>
    public int EdgesPerCandidate { get; init; } = 64;

    /// <summary>An offer takes no further candidate once it has this many edges.</summary>
    public int EdgesPerOffer { get; init; } = 50_000;

    /// <summary>Half the width of the balance band, as a share of the mean load.</summary>
    public double Tolerance { get; init; } = 0.03;

    /// <summary>What the balance constraint counts.</summary>
    public BalanceMeasure Balance { get; init; } = BalanceMeasure.Count;

    /// <summary>How the vertices of an exchange are chosen.</summary>
    public SelectionAlgorithm Algorithm { get; init; } = SelectionAlgorithm.LookAhead;

    /// <summary>How often the look-ahead selection starts over from its best result. It stops earlier when a pass gains nothing.</summary>
    public int LookAheadPasses { get; init; } = 8;

    /// <summary>
    /// How often the look-ahead selection joins candidates to clusters that change sides together. It stops earlier when two cycles in a
    /// row gain nothing. 0 moves single vertices only, in about half the time, and ends in larger cuts.
    /// </summary>
    public int ClusterCycles { get; init; } = 10;

    /// <summary>The most silos that one round asks, best first, before it gives up.</summary>
    public int PartnersPerRound { get; init; } = 16;

    /// <summary>What moving one unit of size costs, in units of edge weight; subtracted from every transfer score.</summary>
    public double MigrationCost { get; init; }

    /// <summary>A silo refuses offers for this long after an exchange it took part in (1 min in the paper).</summary>
    public TimeSpan RejectionWindow { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>How long a silo waits for the reply to an offer before it repeats it.</summary>
    public TimeSpan OfferTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>How often an offer is sent before the next partner is tried.</summary>
    public int OfferAttempts { get; init; } = 2;

    /// <summary>After this long, promised vertices that have neither left nor arrived are given up.</summary>
    public TimeSpan MigrationTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>The size of the heavy-edge table: at most about 150 bytes an edge.</summary>
    public int EdgeCapacity { get; init; } = 100_000;

    /// <summary>The time in which an edge without traffic loses half its weight.</summary>
    public TimeSpan DecayHalfLife { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>The period of rounds while the graph changes.</summary>
    public TimeSpan MinRoundPeriod { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>The period that rounds back off to while nothing is gained.</summary>
    public TimeSpan MaxRoundPeriod { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Checks every option.</summary>
    /// <returns>This object.</returns>
    /// <exception cref="ArgumentException">An option is out of range; the message names it, its value and what it must be.</exception>
    public PartitioningOptions Validate()
    {
        Require(CandidateCount >= 1, nameof(CandidateCount), CandidateCount, "at least 1");
        Require(CandidateGrowth is >= 1 and <= 1024, nameof(CandidateGrowth), CandidateGrowth, "from 1 to 1024");
        Require(CandidateSize > 0, nameof(CandidateSize), CandidateSize, "above 0");
        Require(EdgesPerCandidate >= 1, nameof(EdgesPerCandidate), EdgesPerCandidate, "at least 1");
        Require(EdgesPerOffer >= 1, nameof(EdgesPerOffer), EdgesPerOffer, "at least 1");
        Require(Tolerance is >= 0 and < 1, nameof(Tolerance), Tolerance, "in [0, 1)");
        Require(Enum.IsDefined(Balance), nameof(Balance), Balance, "Count or Size");
        Require(Enum.IsDefined(Algorithm), nameof(Algorithm), Algorithm, "LookAhead, Plain or OneSided");
        Require(LookAheadPasses >= 1, nameof(LookAheadPasses), LookAheadPasses, "at least 1");
        Require(ClusterCycles >= 0, nameof(ClusterCycles), ClusterCycles, "at least 0");
        Require(PartnersPerRound >= 1, nameof(PartnersPerRound), PartnersPerRound, "at least 1");
        Require(MigrationCost >= 0 && double.IsFinite(MigrationCost), nameof(MigrationCost), MigrationCost, "finite and at least 0");
        Require(RejectionWindow >= TimeSpan.Zero, nameof(RejectionWindow), RejectionWindow, "at least zero");
        Require(OfferTimeout > TimeSpan.Zero, nameof(OfferTimeout), OfferTimeout, "above zero");
        Require(OfferAttempts >= 1, nameof(OfferAttempts), OfferAttempts, "at least 1");
        Require(MigrationTimeout > TimeSpan.Zero, nameof(MigrationTimeout), MigrationTimeout, "above zero");
        Require(EdgeCapacity >= 1, nameof(EdgeCapacity), EdgeCapacity, "at least 1");
        Require(DecayHalfLife > TimeSpan.Zero, nameof(DecayHalfLife), DecayHalfLife, "above zero");
        Require(MinRoundPeriod > TimeSpan.Zero, nameof(MinRoundPeriod), MinRoundPeriod, "above zero");
        Require(
            MaxRoundPeriod >= MinRoundPeriod,
            nameof(MaxRoundPeriod),
            MaxRoundPeriod,
            $"at least {nameof(MinRoundPeriod)} ({MinRoundPeriod})");
        return this;
    }

    /// <summary>The most candidates of an offer.</summary>
    internal int MaxCandidates =>
        Algorithm == SelectionAlgorithm.LookAhead ? (int)Math.Min((long)CandidateCount * CandidateGrowth, int.MaxValue) : CandidateCount;

    private static void Require(bool condition, string option, object value, string must)
    {
        if (!condition)
            throw new ArgumentException($"{nameof(PartitioningOptions)}.{option} is {value} but must be {must}.", option);
    }
}

/// <summary>What the balance constraint counts.</summary>
public enum BalanceMeasure
{
    /// <summary>Every vertex counts 1, as in the paper.</summary>
    Count,

    /// <summary>A vertex counts its size.</summary>
    Size,
}
