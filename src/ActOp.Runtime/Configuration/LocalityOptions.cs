using ActOp.Partitioning;

namespace ActOp.Configuration;

/// <summary>Locality partitioning (paper section 4): grains that talk to each other move onto one silo.</summary>
public sealed class LocalityOptions
{
    /// <summary>Whether edges are counted and exchanges are offered. On by default.</summary>
    public bool Enabled { get; set; } = true;

    /// <summary>
    /// The time within which counted edges reach the silo's table, in 20 steps. Default 1 s: rates are known within seconds, and a step
    /// takes a fraction of a millisecond.
    /// </summary>
    public TimeSpan FoldPeriod { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>Half the width of the balance band, as a share of the mean number of activations per silo. Default 3 %.</summary>
    public double Tolerance { get; set; } = 0.03;

    /// <summary>
    /// The most grains that each side of an exchange may move (the paper's k). Default 400: it reaches cuts comparable to those of METIS on
    /// real graphs.
    /// </summary>
    public int CandidateCount { get; set; } = 400;

    /// <summary>
    /// How the grains of an exchange are chosen: with look-ahead (default), plainly as the paper's Algorithm 1, or one-sided, the paper's
    /// worse baseline.
    /// </summary>
    public SelectionAlgorithm Algorithm { get; set; } = SelectionAlgorithm.LookAhead;

    /// <summary>How grains move: live (default), or opportunistically as in the paper.</summary>
    public MigrationMode Migration { get; set; } = MigrationMode.Live;

    /// <summary>
    /// Which grains may move. Default: grains that lose no state. A grain that holds state in its fields and does not take part in
    /// migration would lose that state, which applications do not expect.
    /// </summary>
    public MovableGrains Moves { get; set; } = MovableGrains.NothingLost;

    /// <summary>Edges that a silo keeps; the lightest ones are evicted. Default 100,000, at most about 15 MB.</summary>
    public int EdgeCapacity { get; set; } = 100_000;

    /// <summary>
    /// The time in which an edge without traffic loses half its weight. Default 10 s: two or three times the time needed to measure a new
    /// edge.
    /// </summary>
    public TimeSpan DecayHalfLife { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>Cost of moving one grain, in messages/s of edge weight. Smaller gains are ignored. Default 0.1.</summary>
    public double MigrationCost { get; set; } = 0.1;

    /// <summary>A silo refuses offers for this long after an exchange. Default 500 ms (the paper: 1 min, with rounds of minutes).</summary>
    public TimeSpan RejectionWindow { get; set; } = TimeSpan.FromMilliseconds(500);

    /// <summary>Shortest time between two rounds of one silo, used while the graph changes. Default 1 s.</summary>
    public TimeSpan MinRoundPeriod { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>Longest time between two rounds, used when no grain moves. Default 30 s.</summary>
    public TimeSpan MaxRoundPeriod { get; set; } = TimeSpan.FromSeconds(30);

    internal PartitioningOptions ToPartitioning() => new()
    {
        CandidateCount = CandidateCount,
        Tolerance = Tolerance,
        Algorithm = Algorithm,
        EdgeCapacity = EdgeCapacity,
        DecayHalfLife = DecayHalfLife,
        MigrationCost = MigrationCost,
        RejectionWindow = RejectionWindow,
        MinRoundPeriod = MinRoundPeriod,
        MaxRoundPeriod = MaxRoundPeriod,
    };

    internal void Validate()
    {
        Check(Enum.IsDefined(Moves), nameof(Moves), "must be NothingLost or All");
        Check(Tolerance is >= 0 and < 1, nameof(Tolerance), "must be in [0, 1)");
        Check(CandidateCount >= 1, nameof(CandidateCount), "must be positive");
        Check(EdgeCapacity >= 1, nameof(EdgeCapacity), "must be positive");
        Check(DecayHalfLife > TimeSpan.Zero, nameof(DecayHalfLife), "must be positive");
        Check(MigrationCost >= 0 && double.IsFinite(MigrationCost), nameof(MigrationCost), "must be finite and not negative");
        Check(RejectionWindow >= TimeSpan.Zero, nameof(RejectionWindow), "must not be negative");
        Check(FoldPeriod > TimeSpan.Zero, nameof(FoldPeriod), "must be positive");
        Check(MinRoundPeriod > TimeSpan.Zero, nameof(MinRoundPeriod), "must be positive");
        Check(MaxRoundPeriod >= MinRoundPeriod, nameof(MaxRoundPeriod), "must not be less than MinRoundPeriod");
    }

    private static void Check(bool valid, string option, string rule)
    {
        if (!valid)
            throw new Orleans.Runtime.OrleansConfigurationException("LocalityOptions." + option + " " + rule + ".");
    }
}

/// <summary>How a grain changes its silo.</summary>
public enum MigrationMode
{
    /// <summary>
    /// Its state is transferred, its queued requests are forwarded, and it runs on the target when the move ends (default).
    /// </summary>
    Live,

    /// <summary>
    /// As in the paper (section 4.3): it is deactivated, both silos of the exchange store a hint, and its next call activates it on the
    /// target. No state is transferred: grains with state in memory move this way only with <see cref="MovableGrains.All"/>.
    /// </summary>
    Opportunistic,
}

/// <summary>Which grains locality may move.</summary>
public enum MovableGrains
{
    /// <summary>
    /// Grains that lose no state (default): those that take part in migration (they implement
    /// <see cref="Orleans.Runtime.IGrainMigrationParticipant"/>, or a part of them has registered one, as persistent state does), those
    /// that hold no state in memory according to the generator, and those marked <see cref="ActOp.Placement.MovableAttribute"/>. The others
    /// are not moved, are counted (<c>actop.locality.unmovable</c>) and are logged once per class.
    /// </summary>
    NothingLost,

    /// <summary>All grains except immovable ones, as in the paper. State in memory that is not transferred is lost.</summary>
    All,
}
