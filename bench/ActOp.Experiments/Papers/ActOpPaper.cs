using System.Globalization;
using System.Text.Json;
using ActOp.Experiments.Results;
using ActOp.Experiments.Running;

namespace ActOp.Experiments.Papers;

/// <summary>
/// Partitioning and threads in Halo Presence (ActOp paper, section 6.1 and 6.3): random placement and locality in turn, each round with all
/// settings. The paper has 10 servers of 8 cores; here 4 silos and the load share one machine, so shares and ratios compare.
/// </summary>
internal static class ActOpPaper
{
    internal const string Seed = "000 ActOp";

    private const string Off = "off";
    private const string Partition = "partition";
    private const string All = "all";

    internal static IReadOnlyList<Experiment> Experiments { get; } =
    [
        new("actop/partitioning",
        [
            new(Seed, "Figure 10(a)", "remote messages and moves over time"),
            new(Seed, "Figure 10(b)", "distribution of the latency of requests"),
            new(Seed, "Figure 10(e)", "peak throughput and processor time"),
        ], 9, PartitioningAsync),
        new("actop/actor-latency", [new(Seed, "Figure 10(c)", "distribution of the latency between actors")], 3, ActorLatencyAsync),
        new("actop/loads", [new(Seed, "Figure 10(d)", "latency improvement under three loads")], 9, LoadsAsync),
        new("actop/players", [new(Seed, "Figure 10(f)", "latency improvement with the number of players")], 9, PlayersAsync),
        new("actop/combined", [new(Seed, "Figure 11(b)", "locality, and locality with threads")], 12, CombinedAsync),
    ];

    private static async Task<Outcome> PartitioningAsync(Play play)
    {
        var rounds = await RoundsAsync(play, 3, [Off, Partition], optimize => Run(optimize, play.Seconds(50, 2), play.Seconds(20, 2),
            ["--saturate", Text(play.Seconds(8, 1))]));
        var (off, on) = (rounds[Off], rounds[Partition]);
        return new Outcome(
            [
                Measure.Of("remote share, random placement", "", [.. off.Select(Remote)], "0.90 on 10 servers; 0.75 is expected on 4"),
                Measure.AtMost(0.12, "remote share, locality", "", [.. on.Select(Remote)], "0.12"),
                .. Ratios(off, on, ("p50", "0.59"), ("p95", "0.22"), ("p99", "0.31")),
                Measure.AtMost(0.55, "processor time of a request, locality / random", "",
                    Ratio(off, on, static run => run.Number("cpuMicrosPerRequest")), "0.55"),
                Measure.AtLeast(2, "peak throughput, locality / random", "",
                    Ratio(off, on, static run => run.Number("saturation.requestsPerSecond")), "2.0"),
                Measure.AtMost(0, "failed requests", "", [.. off.Concat(on).Select(static run => run.Number("errors"))]),
            ],
            [
                new("Share of the messages between grains that cross silos", ChartKind.Shares, "seconds since the load began",
                [
                    OverTime("random placement", off[0], "remoteShare"), OverTime("locality", on[0], "remoteShare"),
                    .. Level(off[0], "random placement", 0.90), .. Level(on[0], "locality", 0.12),
                ]),
                new("Grains moved per second", ChartKind.Lines, "seconds since the load began", [OverTime("locality", on[0], "moves")]),
                new("Latency of requests: cumulative distribution", ChartKind.Distribution, "ms since the intended start (logarithmic)",
                [
                    Distribution("random placement", off, "distribution"), Distribution("locality", on, "distribution"),
                    Curve.Paper("random placement", (41, 0.5), (450, 0.95), (726, 0.99)),
                    Curve.Paper("locality", (24, 0.5), (100, 0.95), (225, 0.99)),
                ]),
            ],
            "The paper's latencies are those of servers at 80 % of their processors, where queues are long. At a rate that leaves the "
            + "processors idle there is less to gain: actop/loads shows how the gain grows with the load.",
            "The paper's curves have three points each: the quantiles that its text names.");
    }

    private static async Task<Outcome> ActorLatencyAsync(Play play)
    {
        var rounds = await RoundsAsync(play, 1, [Off, Partition], optimize =>
            Run(optimize, play.Seconds(50, 2), play.Seconds(20, 2), ["--actor-latency", "true"]));
        double[] Quantiles(string setting, double share) =>
            [.. rounds[setting].Select(run => run.List("actorDistribution").First(point => point.Number("share") >= share).Number("ms") * 1000)];
        double[] shares = [0.5, 0.95, 0.99];
        return new Outcome(
            [
                .. shares.SelectMany(share => (Measure[])
                [
                    Measure.Of($"p{100 * share:0} of a call, random placement", "us", Quantiles(Off, share)),
                    Measure.Of($"p{100 * share:0} of a call, locality", "us", Quantiles(Partition, share)),
                ]),
                Measure.AtMost(1, "p50 of a call, locality / random", "",
                    [.. Quantiles(Off, 0.5).Zip(Quantiles(Partition, 0.5), static (off, on) => on / off)], "below 1"),
            ],
            [
                new("Calls of games to players: cumulative distribution", ChartKind.Distribution, "ms (logarithmic)",
                [
                    Distribution("random placement", rounds[Off], "actorDistribution"),
                    Distribution("locality", rounds[Partition], "actorDistribution"),
                ]),
            ],
            "A filter on the game's calls takes the times; it costs each of them something, so rates of this experiment say nothing.");
    }

    private static async Task<Outcome> LoadsAsync(Play play)
    {
        var peak = (await play.RunAsync(BenchProgram.Halo, ["saturate", "--optimize", Off, "--warmup", Text(play.Seconds(20, 2)),
            "--saturate", Text(play.Seconds(10, 1)), .. play.Silos])).Number("saturation.requestsPerSecond");
        // 2, 4 and 6 thousand per second in the paper, whose servers reject requests above 6.
        double[] loads = play.IsTrial ? [0.5] : [0.25, 0.5, 0.75];
        List<Measure> measures = [Measure.Of("peak with random placement", "requests/s", [peak], "6,000")];
        var gains = loads.Select(static load => (Load: load, Gains: new Dictionary<string, double>())).ToArray();
        foreach (var (load, gain) in gains)
        {
            var rate = Math.Round(load * peak);
            var rounds = await RoundsAsync(play, 1, [Off, Partition], optimize => Run(
                optimize, play.Seconds(40, 2), play.Seconds(15, 2), ["--rate", Text(rate), "--ramp", Text(play.Seconds(15, 1))]));
            foreach (var quantile in (string[])["p50", "p95", "p99"])
            {
                var ratio = Ratio(rounds[Off], rounds[Partition], run => run.Number("latencyMs." + quantile));
                gain[quantile] = 100 * (1 - ratio.Order().ElementAt(ratio.Length / 2));
            }

            measures.Add(Measure.AtMost(1, $"p99 at {load:P0} of the peak, locality / random", "",
                Ratio(rounds[Off], rounds[Partition], static run => run.Number("latencyMs.p99")), load == 0.75 ? "0.31" : null));
            measures.Add(Measure.Of($"processor time at {load:P0} of the peak, locality / random", "",
                Ratio(rounds[Off], rounds[Partition], static run => run.Number("cpuMicrosPerRequest")),
                load switch { 0.25 => "0.75", 0.75 => "0.55", _ => null }));
        }

        return new Outcome(measures,
            [
                new("Latency improvement by locality, %", ChartKind.Lines, "load, % of the peak with random placement",
                    [.. gains[0].Gains.Keys.Select(quantile =>
                        Curve.Of(quantile, gains.Select(one => (100 * one.Load, one.Gains[quantile]))))]),
            ],
            "The paper gives the heights of its bars in a drawing only; its text names the gain at the highest load and the processor time.");
    }

    private static async Task<Outcome> PlayersAsync(Play play)
    {
        int[] counts = play.IsFull ? [1_000, 10_000, 100_000] : play.IsTrial ? [1_000] : [1_000, 4_000];
        var (measures, gains) = (new List<Measure>(), new List<(double, double)>());
        foreach (var players in counts)
        {
            // A partition of more grains takes more rounds of exchanges.
            var warmup = play.Seconds(players >= 100_000 ? 120 : 50, 2);
            var rounds = await RoundsAsync(play, 1, [Off, Partition], optimize => Run(
                optimize, warmup, play.Seconds(20, 2), ["--players", players.ToString(CultureInfo.InvariantCulture), "--rate", "4000"]));
            var ratio = Ratio(rounds[Off], rounds[Partition], static run => run.Number("latencyMs.p99"));
            measures.Add(Measure.AtMost(1, $"p99 with {players:N0} players, locality / random", "", ratio, "below 1"));
            measures.Add(Measure.Of($"remote share with {players:N0} players, locality", "", [.. rounds[Partition].Select(Remote)]));
            gains.Add((players, 100 * (1 - ratio.Order().ElementAt(ratio.Length / 2))));
        }

        return new Outcome(measures,
            [new("Improvement of the 99th percentile by locality, %", ChartKind.LogLines, "players (logarithmic)", [Curve.Of("p99", gains)])],
            "The paper goes to one million players on ten servers at 4,000 requests/s; actop/exchange plays the exchanges of that size.");
    }

    private static async Task<Outcome> CombinedAsync(Play play)
    {
        var rounds = await RoundsAsync(play, 3, [Off, Partition, All], optimize => Run(optimize, play.Seconds(50, 2), play.Seconds(20, 2), []));
        Measure Gain(string quantile, string from, string to, string name, string paper) => Measure.Of($"{quantile}, {name}", "",
            Ratio(rounds[from], rounds[to], run => run.Number("latencyMs." + quantile)), paper);
        return new Outcome(
            [
                Gain("p50", Off, Partition, "locality / random", "0.59"), Gain("p99", Off, Partition, "locality / random", "0.31"),
                Gain("p50", Off, All, "locality and threads / random", "0.45"), Gain("p99", Off, All, "locality and threads / random", "0.25"),
                Measure.NotWorse("p50, locality and threads / locality",
                    Ratio(rounds[Partition], rounds[All], static run => run.Number("latencyMs.p50")), "0.79"),
                Measure.NotWorse("p99, locality and threads / locality",
                    Ratio(rounds[Partition], rounds[All], static run => run.Number("latencyMs.p99")), "0.91"),
            ],
            [
                new("Latency of requests: cumulative distribution", ChartKind.Distribution, "ms since the intended start (logarithmic)",
                [
                    Distribution("random placement", rounds[Off], "distribution"), Distribution("locality", rounds[Partition], "distribution"),
                    Distribution("locality and threads", rounds[All], "distribution"),
                ]),
            ]);
    }

    /// <summary>Each round has all settings, so that what the machine does in the course of the run meets all.</summary>
    private static async Task<Dictionary<string, List<JsonElement>>> RoundsAsync(
        Play play, int rounds, string[] settings, Func<string, string[]> arguments)
    {
        var results = settings.ToDictionary(static setting => setting, static _ => new List<JsonElement>());
        for (var round = play.Rounds(rounds); round > 0; round--)
        {
            foreach (var setting in settings)
                results[setting].Add(await play.RunAsync(BenchProgram.Halo, [.. arguments(setting), .. play.Silos]));
        }

        return results;
    }

    private static string[] Run(string optimize, double warmup, double measure, string[] more) =>
        ["run", "--optimize", optimize, "--warmup", Text(warmup), "--measure", Text(measure), .. more];

    private static double Remote(JsonElement run) => run.Number("remoteShare");

    private static double[] Ratio(List<JsonElement> off, List<JsonElement> on, Func<JsonElement, double> value) =>
        [.. off.Zip(on, (without, with) => value(with) / value(without))];

    private static IEnumerable<Measure> Ratios(
        List<JsonElement> off, List<JsonElement> on, params (string Quantile, string Paper)[] quantiles) =>
        quantiles.Select(one => Measure.AtMost(
            1, one.Quantile + ", locality / random", "", Ratio(off, on, run => run.Number("latencyMs." + one.Quantile)), one.Paper));

    private static Curve OverTime(string name, JsonElement run, string value) =>
        Curve.Of(name, run.List("convergence").Select(point => (point.Number("t"), point.Number(value))));

    private static IEnumerable<Curve> Level(JsonElement run, string name, double value)
    {
        var times = run.List("convergence").Select(static point => point.Number("t")).ToList();
        return times.Count > 0 ? [Curve.Paper(name, (times[0], value), (times[^1], value))] : [];
    }

    private static Curve Distribution(string name, List<JsonElement> runs, string list) =>
        Curve.Of(name, runs[0].List(list).Select(static point => (point.Number("ms"), point.Number("share"))));

    private static string Text(double value) => value.ToString(CultureInfo.InvariantCulture);
}
