using Harness.Options;

namespace HaloPresence.Options;

/// <summary>The command line of the experiment: one row per parameter of <see cref="HaloOptions"/>.</summary>
public sealed class HaloOptionTable : OptionTable<HaloOptions>
{
    /// <summary>Creates the options with <paramref name="defaults"/>; each description names the paper's value.</summary>
    public HaloOptionTable(HaloOptions defaults)
    {
        Add("--silos", "Silo processes. Paper: 10 servers.", defaults.Silos, o => o.Silos, (o, v) => o with { Silos = v });
        Add("--players", "Average number of concurrent players. Paper: 100000.", defaults.Players, o => o.Players, (o, v) => o with { Players = v });
        Add("--pool", "Idle players waiting for a game; -1 = 1 % of the players. Paper: 1000 (1 %).", defaults.Pool, o => o.Pool, (o, v) => o with { Pool = v });
        Add("--game-size", "Players per game. Paper: 8.", defaults.GameSize, o => o.GameSize, (o, v) => o with { GameSize = v });
        Add("--min-games", "Fewest games of a player. Paper: 3.", defaults.MinGames, o => o.MinGames, (o, v) => o with { MinGames = v });
        Add("--max-games", "Most games of a player. Paper: 5.", defaults.MaxGames, o => o.MaxGames, (o, v) => o with { MaxGames = v });
        Add("--churn", "Percent of the players that regroup per minute; a game lasts 100/churn minutes on average. Paper: 4 (games of 20 to 30 minutes; it puts the change of the graph at about 1 %). 67 = games of about 90 s.", defaults.Churn, o => o.Churn, (o, v) => o with { Churn = v });
        Add("--game-spread", "Half width of the uniform game length relative to its mean. Paper: 0.2.", defaults.GameSpread, o => o.GameSpread, (o, v) => o with { GameSpread = v });
        Add("--rate", "Status requests per second (Poisson, open loop). Paper: 2000, 4000, 6000.", defaults.Rate, o => o.Rate, (o, v) => o with { Rate = v });
        Add("--warmup", "Seconds of load before measuring. Paper: 600.", defaults.Warmup, o => o.Warmup, (o, v) => o with { Warmup = v });
        Add("--ramp", "Seconds of the warm-up in which the rate rises from nothing, for rates near saturation.", defaults.Ramp, o => o.Ramp, (o, v) => o with { Ramp = v });
        Add("--measure", "Seconds measured under open-loop load. Paper: 3000.", defaults.Measure, o => o.Measure, (o, v) => o with { Measure = v });
        Add("--saturate", "Seconds of closed-loop load at the end. Paper: until servers reject requests.", defaults.Saturate, o => o.Saturate, (o, v) => o with { Saturate = v });
        Add("--concurrency", "Requests in flight in the closed loop.", defaults.Concurrency, o => o.Concurrency, (o, v) => o with { Concurrency = v });
        Add("--max-outstanding", "Most open-loop requests in flight; beyond it a request counts as an error.", defaults.MaxOutstanding, o => o.MaxOutstanding, (o, v) => o with { MaxOutstanding = v });
        Add("--optimize", "off = random placement, no migrations, threads = cores per stage; partition = locality partitioning; threads = stages sized by the model; all = both.", defaults.Optimize, o => o.Optimize, (o, v) => o with { Optimize = v });
        Add("--migration", "With --optimize partition or all: live = state and queue go along; opportunistic = the paper's deactivation with hints, which loses state that is not stored.", defaults.Migration, o => o.Migration, (o, v) => o with { Migration = v });
        Add("--algorithm", "With --optimize partition or all: LookAhead, Plain (the paper's Algorithm 1) or OneSided (its uncoordinated baseline).", defaults.Algorithm, o => o.Algorithm, (o, v) => o with { Algorithm = v });
        Add("--otlp", "Send the silos' metrics and traces to this OpenTelemetry collector, for instance http://localhost:4317; none = off.", defaults.Otlp, o => o.Otlp, (o, v) => o with { Otlp = v });
        Add("--seed", "Seed of the load's random choices.", defaults.Seed, o => o.Seed, (o, v) => o with { Seed = v });
        Add("--rehearse", "Same processes and load without grains: shows what the harness itself costs.", defaults.Rehearse, o => o.Rehearse, (o, v) => o with { Rehearse = v });
    }
}
