using ActOp.Partitioning;

namespace ActOp.Orleans;

/// <summary>
/// Locality partitioning (ActOp paper, section 4) in a silo of Microsoft Orleans: grains that talk to each other move onto one silo.
/// Configuration section <c>ActOp:Locality</c>.
/// </summary>
public sealed class LocalityOptions
{
    /// <summary>
    /// Whether edges are counted and exchanges are offered. On by default. May change while the silo runs: within one period it stops, and
    /// grains stay where they are.
    /// </summary>
    public bool Enabled { get; set; } = true;

    /// <summary>
    /// The time within which counted edges reach the silo's table, in 20 steps, and after which unknown locations are asked for. Default:
    /// 1 s.
    /// </summary>
    public TimeSpan FoldPeriod { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>Half the width of the balance band, as a share of the mean number of activations per silo. Default 3 %.</summary>
    public double Tolerance { get; set; } = 0.03;

    /// <summary>The most grains that each side of an exchange may move (the paper's k). Default 400.</summary>
    public int CandidateCount { get; set; } = 400;

    /// <summary>
    /// How the grains of an exchange are chosen: with look-ahead (default), or plainly as the paper's Algorithm 1.
    /// </summary>
    public SelectionAlgorithm Algorithm { get; set; } = SelectionAlgorithm.LookAhead;

    /// <summary>Which grains may move. Default: grains that lose no state.</summary>
    public MovableGrains Moves { get; set; } = MovableGrains.NothingLost;

    /// <summary>Edges that a silo keeps; the lightest ones are evicted. Default 100,000, at most about 15 MB.</summary>
    public int EdgeCapacity { get; set; } = 100_000;

    /// <summary>The time in which an edge without traffic loses half its weight. Default 10 s.</summary>
    public TimeSpan DecayHalfLife { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Cost of moving one grain, in messages/s of edge weight. Smaller gains are ignored. Default 0.5: a move in Orleans costs some
    /// forwarded messages and two lifecycle events.
    /// </summary>
    public double MigrationCost { get; set; } = 0.5;

    /// <summary>A silo refuses offers for this long after an exchange. Default 500 ms.</summary>
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
        Check(Enum.IsDefined(Moves), nameof(Moves), Moves, "NothingLost or All");
        Check(Algorithm is SelectionAlgorithm.LookAhead or SelectionAlgorithm.Plain, nameof(Algorithm), Algorithm, "LookAhead or Plain");
        Check(Tolerance is >= 0 and < 1, nameof(Tolerance), Tolerance, "at least 0 and below 1");
        Check(CandidateCount >= 1, nameof(CandidateCount), CandidateCount, "at least 1");
        Check(EdgeCapacity is >= 1 and <= 10_000_000, nameof(EdgeCapacity), EdgeCapacity, "at least 1 and at most 10,000,000");
        Check(DecayHalfLife > TimeSpan.Zero, nameof(DecayHalfLife), DecayHalfLife, "above zero");
        Check(MigrationCost >= 0 && double.IsFinite(MigrationCost), nameof(MigrationCost), MigrationCost, "finite and at least 0");
        Check(RejectionWindow >= TimeSpan.Zero, nameof(RejectionWindow), RejectionWindow, "at least zero");
        Check(IsPeriod(FoldPeriod), nameof(FoldPeriod), FoldPeriod, "at least 20 ms and at most a day");
        Check(IsPeriod(MinRoundPeriod), nameof(MinRoundPeriod), MinRoundPeriod, "at least 20 ms and at most a day");
        Check(IsPeriod(MaxRoundPeriod) && MaxRoundPeriod >= MinRoundPeriod,
            nameof(MaxRoundPeriod), MaxRoundPeriod, "at least MinRoundPeriod and at most a day");
    }

    // What a timer takes, and what leaves a step of the fold a millisecond.
    private static bool IsPeriod(TimeSpan period) => period >= TimeSpan.FromMilliseconds(20) && period <= TimeSpan.FromDays(1);

    private static void Check(bool valid, string option, object value, string must) =>
        OptionCheck.That(valid, nameof(LocalityOptions) + "." + option, value, must);
}

/// <summary>Which grains locality may move.</summary>
public enum MovableGrains
{
    /// <summary>
    /// Grains that lose no state (default): those whose class implements <see cref="IGrainMigrationParticipant"/> or derives from
    /// <see cref="global::Orleans.Grain{TGrainState}"/>, those that hold nothing in fields but injected services, persistent state and
    /// read-only values, and those marked <see cref="MovableAttribute"/>. The others are not moved, are counted
    /// (<c>actop.locality.unmovable</c>) and are logged once per class.
    /// </summary>
    NothingLost,

    /// <summary>All grains but immovable ones, as in the paper. State in memory that the grain does not carry itself is lost.</summary>
    All,
}

/// <summary>Marks a grain class that loses nothing that counts when its activation moves to another silo.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class MovableAttribute : Attribute;
