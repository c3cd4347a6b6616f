using ActOp.Configuration;
using ActOp.Partitioning;

namespace HaloPresence.Options;

/// <summary>Every parameter of the Halo Presence experiment (ActOp paper, sections 3 and 6.1), scaled to one machine.</summary>
public sealed record HaloOptions
{
    /// <summary>Silo processes (paper: 10 servers).</summary>
    public int Silos { get; init; } = 4;

    /// <summary>Average number of concurrent players (paper: 100,000).</summary>
    public int Players { get; init; } = 4000;

    /// <summary>Idle players waiting for a game; -1 means 1 % of the players (paper: 1,000 of 100,000).</summary>
    public int Pool { get; init; } = -1;

    /// <summary>Players in one game (paper: 8).</summary>
    public int GameSize { get; init; } = 8;

    /// <summary>Fewest games a player plays before leaving (paper: 3).</summary>
    public int MinGames { get; init; } = 3;

    /// <summary>Most games a player plays before leaving (paper: 5).</summary>
    public int MaxGames { get; init; } = 5;

    /// <summary>
    /// Percent of the players that regroup per minute. The mean game lasts 100 / Churn minutes: 4 gives the paper's 20 to 30 minutes.
    /// </summary>
    public double Churn { get; init; } = 4;

    /// <summary>Half width of the uniform game length relative to its mean (paper: 0.2, that is 20 to 30 minutes).</summary>
    public double GameSpread { get; init; } = 0.2;

    /// <summary>Status requests per second, a Poisson process (paper: 2,000 to 6,000).</summary>
    public double Rate { get; init; } = 2000;

    /// <summary>Seconds of load before measuring (paper: 10 minutes).</summary>
    public double Warmup { get; init; } = 60;

    /// <summary>
    /// Seconds of the warm-up in which the rate rises from nothing: new processes cannot compile their code at a rate near their
    /// saturation.
    /// </summary>
    public double Ramp { get; init; }

    /// <summary>Seconds of measured open-loop load (paper: 50 minutes).</summary>
    public double Measure { get; init; } = 30;

    /// <summary>Seconds of closed-loop load after the measured part; 0 leaves it out.</summary>
    public double Saturate { get; init; }

    /// <summary>Requests in flight during the closed loop.</summary>
    public int Concurrency { get; init; } = 64;

    /// <summary>Most open-loop requests in flight; beyond it a request is an error, as when a server rejects it.</summary>
    public int MaxOutstanding { get; init; } = 20_000;

    /// <summary>What ActOp may optimise.</summary>
    public OptimizeMode Optimize { get; init; } = OptimizeMode.Off;

    /// <summary>How grains move.</summary>
    public MigrationMode Migration { get; init; } = MigrationMode.Live;

    /// <summary>How the grains of an exchange are chosen.</summary>
    public SelectionAlgorithm Algorithm { get; init; } = SelectionAlgorithm.LookAhead;

    /// <summary>Endpoint of an OpenTelemetry collector, or <c>none</c>.</summary>
    public string Otlp { get; init; } = "none";

    /// <summary>Seed of every random choice of the load.</summary>
    public int Seed { get; init; } = 1;

    /// <summary>Runs the processes without grains, to see what the harness itself costs.</summary>
    public bool Rehearse { get; init; }

    /// <summary>Whether grains move.</summary>
    public bool MovesGrains => Optimize is OptimizeMode.Partition or OptimizeMode.All;

    /// <summary>Whether the stages size themselves.</summary>
    public bool SizesStages => Optimize is OptimizeMode.Threads or OptimizeMode.All;

    /// <summary>The pool after resolving "1 % of the players".</summary>
    public int EffectivePool => Pool >= 0 ? Pool : Math.Max(GameSize, Players / 100);

    /// <summary>Mean length of a game.</summary>
    public TimeSpan MeanGame => TimeSpan.FromMinutes(100 / Churn);

    /// <summary>
    /// Grain messages of one request when the player is in a game: 2 between player and game, 2 for each player of the game.
    /// </summary>
    public int MessagesPerRequest => 2 + 2 * GameSize;

    /// <summary>The first thing wrong with these options, naming the option; null when they are fine.</summary>
    public string? FindError()
    {
        if (Silos is < 1 or > 64) return $"--silos must be 1 to 64, not {Silos}.";
        if (GameSize is < 1 or > 64) return $"--game-size must be 1 to 64, not {GameSize}.";
        if (Players < GameSize || Players > 2_000_000) return $"--players must be {GameSize} (one game) to 2000000, not {Players}.";
        if (EffectivePool > Players - GameSize) return $"--pool {EffectivePool} leaves no player for a game: at most --players - --game-size = {Players - GameSize}.";
        if (MinGames < 1 || MaxGames < MinGames) return $"--min-games {MinGames} and --max-games {MaxGames} must satisfy 1 <= min <= max.";
        if (!(Churn is > 0 and <= 6000)) return $"--churn must be above 0 and at most 6000 percent per minute, not {Churn}.";
        if (!(GameSpread is >= 0 and < 1)) return $"--game-spread must be at least 0 and below 1, not {GameSpread}.";
        if (!(Rate is > 0 and <= 1_000_000)) return $"--rate must be above 0 and at most 1000000 requests per second, not {Rate}.";
        return FindPhaseError();
    }

    private string? FindPhaseError()
    {
        const double Day = 86_400;
        if (!(Warmup is >= 0 and <= Day)) return $"--warmup must be 0 to 86400 seconds, not {Warmup}.";
        if (!(Ramp >= 0 && Ramp <= Warmup)) return $"--ramp must be 0 to --warmup = {Warmup} seconds, not {Ramp}.";
        if (!(Measure is >= 0 and <= Day)) return $"--measure must be 0 to 86400 seconds, not {Measure}.";
        if (!(Saturate is >= 0 and <= Day)) return $"--saturate must be 0 to 86400 seconds, not {Saturate}.";
        if (Measure + Saturate <= 0) return "--measure and the closed loop are both 0 seconds: there is nothing to measure.";
        if (Concurrency is < 1 or > 100_000) return $"--concurrency must be 1 to 100000, not {Concurrency}.";
        if (MaxOutstanding is < 1 or > 10_000_000) return $"--max-outstanding must be 1 to 10000000, not {MaxOutstanding}.";
        return null;
    }
}
