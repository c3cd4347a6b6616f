using ActOp.Configuration;
using ActOp.Harness.Options;
using ActOp.Partitioning;
using HaloPresence.Bench.Load;

namespace HaloPresence.Bench;

/// <summary>Which of ActOp's optimisations a run uses.</summary>
public enum OptimizeMode
{
    /// <summary>Random placement, no migrations, as many threads per stage as cores: the paper's baseline.</summary>
    Off,

    /// <summary>Locality partitioning (paper section 4); threads as in the baseline.</summary>
    Partition,

    /// <summary>Stages sized by the queueing model (paper section 5); placement as in the baseline.</summary>
    Threads,

    /// <summary>Both.</summary>
    All,
}

/// <summary>What a mode is called in tables, charts and progress.</summary>
public static class OptimizeName
{
    /// <summary>The name of a mode as the results carry it.</summary>
    public static string Of(string mode) => mode switch
    {
        "off" => "random placement",
        "partition" => "locality",
        "threads" => "threads",
        _ => "locality + threads",
    };
}

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

    /// <summary>Whether the calls of games to players are timed, which costs each of them something.</summary>
    public bool ActorLatency { get; init; }

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
    public int EffectivePool => GameOptions.PoolOf(Pool, Players, GameSize);

    /// <summary>Mean length of a game.</summary>
    public TimeSpan MeanGame => TimeSpan.FromMinutes(100 / Churn);

    /// <summary>What the simulation of the players needs.</summary>
    public GameOptions Games => new()
    {
        Players = Players,
        Pool = Pool,
        GameSize = GameSize,
        MinGames = MinGames,
        MaxGames = MaxGames,
        MeanGame = MeanGame,
        GameSpread = GameSpread,
    };

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

/// <summary>The command line of the experiment: one row per parameter of <see cref="HaloOptions"/>.</summary>
public sealed class HaloOptionTable : OptionTable<HaloOptions>
{
    /// <summary>Creates the options with <paramref name="defaults"/>; each description names the paper's value.</summary>
    public HaloOptionTable(HaloOptions defaults)
    {
        Add("--silos", "Silo processes. Paper: 10 servers.", defaults.Silos, o => o.Silos, (o, v) => o with { Silos = v });
        Add("--players", "Average number of concurrent players. Paper: 100000.", defaults.Players, o => o.Players,
            (o, v) => o with { Players = v });
        Add("--pool", "Idle players waiting for a game; -1 = 1 % of the players. Paper: 1000 (1 %).", defaults.Pool, o => o.Pool,
            (o, v) => o with { Pool = v });
        Add("--game-size", "Players per game. Paper: 8.", defaults.GameSize, o => o.GameSize, (o, v) => o with { GameSize = v });
        Add("--min-games", "Fewest games of a player. Paper: 3.", defaults.MinGames, o => o.MinGames, (o, v) => o with { MinGames = v });
        Add("--max-games", "Most games of a player. Paper: 5.", defaults.MaxGames, o => o.MaxGames, (o, v) => o with { MaxGames = v });
        Add("--churn",
            "Percent of the players that regroup per minute; a game lasts 100/churn minutes on average. Paper: 4 (games of 20 to 30 "
                + "minutes; it puts the change of the graph at about 1 %). 67 = games of about 90 s.", defaults.Churn, o => o.Churn,
                (o, v) => o with { Churn = v });
        Add("--game-spread", "Half width of the uniform game length relative to its mean. Paper: 0.2.", defaults.GameSpread,
            o => o.GameSpread, (o, v) => o with { GameSpread = v });
        Add("--rate", "Status requests per second (Poisson, open loop). Paper: 2000, 4000, 6000.", defaults.Rate, o => o.Rate,
            (o, v) => o with { Rate = v });
        Add("--warmup", "Seconds of load before measuring. Paper: 600.", defaults.Warmup, o => o.Warmup, (o, v) => o with { Warmup = v });
        Add("--ramp", "Seconds of the warm-up in which the rate rises from nothing, for rates near saturation.", defaults.Ramp, o => o.Ramp,
            (o, v) => o with { Ramp = v });
        Add("--measure", "Seconds measured under open-loop load. Paper: 3000.", defaults.Measure, o => o.Measure,
            (o, v) => o with { Measure = v });
        Add("--saturate", "Seconds of closed-loop load at the end. Paper: until servers reject requests.", defaults.Saturate,
            o => o.Saturate, (o, v) => o with { Saturate = v });
        Add("--concurrency", "Requests in flight in the closed loop.", defaults.Concurrency, o => o.Concurrency,
            (o, v) => o with { Concurrency = v });
        Add("--max-outstanding", "Most open-loop requests in flight; beyond it a request counts as an error.", defaults.MaxOutstanding,
            o => o.MaxOutstanding, (o, v) => o with { MaxOutstanding = v });
        Add("--optimize",
            "off = random placement, no migrations, threads = cores per stage; partition = locality partitioning; threads = stages sized "
                + "by the model; all = both.", defaults.Optimize, o => o.Optimize, (o, v) => o with { Optimize = v });
        Add("--migration",
            "With --optimize partition or all: live = state and queue go along; opportunistic = the paper's deactivation with hints, "
                + "which loses state that is not stored.", defaults.Migration, o => o.Migration, (o, v) => o with { Migration = v });
        Add("--algorithm",
            "With --optimize partition or all: LookAhead, Plain (the paper's Algorithm 1) or OneSided (its uncoordinated baseline).",
            defaults.Algorithm, o => o.Algorithm, (o, v) => o with { Algorithm = v });
        Add("--actor-latency", "Time the calls of games to players, which costs each of them something. Paper: Figure 10(c).",
            defaults.ActorLatency, o => o.ActorLatency, (o, v) => o with { ActorLatency = v });
        Add("--otlp", "Send the silos' metrics and traces to this OpenTelemetry collector, for instance http://localhost:4317; none = off.",
            defaults.Otlp, o => o.Otlp, (o, v) => o with { Otlp = v });
        Add("--seed", "Seed of the load's random choices.", defaults.Seed, o => o.Seed, (o, v) => o with { Seed = v });
        Add("--rehearse", "Same processes and load without grains: shows what the harness itself costs.", defaults.Rehearse,
            o => o.Rehearse, (o, v) => o with { Rehearse = v });
    }
}
