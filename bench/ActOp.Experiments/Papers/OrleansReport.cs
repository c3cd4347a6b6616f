using System.Globalization;
using System.Text.Json;
using ActOp.Experiments.Results;
using ActOp.Experiments.Running;

namespace ActOp.Experiments.Papers;

/// <summary>
/// The performance section of the report on Orleans. Its cluster has up to 125 servers of 8 cores; here silos and load share one machine,
/// so what grows with servers cannot grow here.
/// </summary>
internal static class OrleansReport
{
    internal const string Seed = "002 Orleans";

    internal static IReadOnlyList<Experiment> Experiments { get; } =
    [
        new("orleans/masked", [new(Seed, "Figure 4", "throughput against the latency that is masked")], 2.5, MaskedAsync),
        new("orleans/ping-threads", [new(Seed, "Figure 5", "throughput of pings against threads")], 1.5, PingThreadsAsync),
        new("orleans/isolation", [new(Seed, "Table 1", "the price of isolation")], 1, IsolationAsync),
        new("orleans/servers", [new(Seed, "Figure 6", "throughput against servers")], 2, ServersAsync),
        new("orleans/actors", [new(Seed, "Figure 7", "throughput against actors")], 4, ActorsAsync),
        new("orleans/load", [new(Seed, "Figure 8", "latency against processor use")], 4, LoadAsync),
    ];

    private static async Task<Outcome> MaskedAsync(Play play)
    {
        var rows = await RowsAsync(play, "masked");
        var lines = Lines(rows);
        var asynchronous = Values(rows, "asynchronous");
        var blocking = Values(rows, "blocking, a thread per processor");
        return new Outcome(
            [
                Measure.AtLeast(0.8, "throughput with 100 ms / with 1 ms, asynchronous", "", [asynchronous[100] / asynchronous[1]], "close to 1"),
                Measure.Of("throughput with 100 ms / with 1 ms, a blocked thread per processor", "", [blocking[100] / blocking[1]], "0.01 by the formula"),
                Measure.Of("throughput with 100 ms, asynchronous", "requests/s", [asynchronous[100]]),
            ],
            [new("Requests per second", ChartKind.LogLines, "latency of what is awaited, ms (logarithmic)", lines)],
            "A blocked thread makes 1000 / latency requests per second whatever it costs; an awaited call holds no thread.");
    }

    private static async Task<Outcome> PingThreadsAsync(Play play)
    {
        var rows = await RowsAsync(play, "threads");
        var pings = Values(rows, "pings");
        return new Outcome(
            [
                Measure.Of("throughput with 64 threads / best", "", [pings[64] / pings.Values.Max()], "a steady degradation"),
                Measure.Of("throughput with 2 threads", "calls/s", [pings[2]]),
            ],
            [new("Calls per second", ChartKind.LogLines, "threads that run turns (logarithmic)", Lines(rows))]);
    }

    private static async Task<Outcome> IsolationAsync(Play play)
    {
        var rows = await RowsAsync(play, "isolation");
        string? Paper(string name) => name.StartsWith("byte", StringComparison.Ordinal) ? "4"
            : name.Contains("objects", StringComparison.Ordinal) ? "significantly more" : "below 10";
        return new Outcome(
            [.. rows.Select(row => Row(row, row.Text("line") == "price" ? Paper(row.Text("name")) : null))], [],
            "Half of the second calls are remote, as in the report. What crosses silos is serialized either way; immutable saves the copy of "
            + "the others.");
    }

    private static async Task<Outcome> ServersAsync(Play play)
    {
        int[] counts = play.IsFull ? [1, 2, 4] : [1, 2];
        var points = new List<(double X, double Y)>();
        foreach (var silos in counts)
        {
            points.Add((silos, (await play.RunAsync(BenchProgram.Halo,
            [
                "saturate", "--silos", Text(silos), "--warmup", Text(play.Seconds(15, 1)), "--saturate", Text(play.Seconds(10, 1)),
            ])).Number("saturation.requestsPerSecond")));
        }

        return new Outcome(
            [
                .. points.Select(static point => Measure.Of($"peak of {point.X:0} silos", "requests/s", [point.Y])),
                Measure.Of($"peak of {counts[^1]} silos / of 1", "", [points[^1].Y / points[0].Y], "linear: 5,200 heartbeats/s a server, to 125"),
            ],
            [new("Requests per second, random placement", ChartKind.Lines, "silos on one machine", [Curve.Of("peak", points)])],
            "All silos share the processors of one machine: more silos add remote messages, not processors. This shows the price of "
            + "distribution; growth with servers needs servers.");
    }

    private static async Task<Outcome> ActorsAsync(Play play)
    {
        int[] counts = play.IsFull ? [2_000, 20_000, 200_000] : [2_000, 8_000];
        var points = new List<(double X, double Y)>();
        foreach (var players in counts)
        {
            points.Add((players, (await play.RunAsync(BenchProgram.Halo,
            [
                "saturate", "--silos", "2", "--players", Text(players), "--warmup", Text(play.Seconds(15, 1)),
                "--saturate", Text(play.Seconds(10, 1)),
            ])).Number("saturation.requestsPerSecond")));
        }

        return new Outcome(
            [
                .. points.Select(static point => Measure.Of($"peak with {point.X:N0} players", "requests/s", [point.Y])),
                Measure.AtLeast(0.75, $"peak with {counts[^1]:N0} players / with {counts[0]:N0}", "", [points[^1].Y / points[0].Y],
                    "almost the same from 2 thousand to 2 million"),
            ],
            [new("Requests per second", ChartKind.LogLines, "players (logarithmic)", [Curve.Of("peak", points)])]);
    }

    private static async Task<Outcome> LoadAsync(Play play)
    {
        var peak = (await play.RunAsync(BenchProgram.Halo,
        [
            "saturate", "--optimize", "partition", "--warmup", Text(play.Seconds(40, 2)), "--saturate", Text(play.Seconds(8, 1)),
            .. play.Silos,
        ])).Number("saturation.requestsPerSecond");
        double[] shares = play.IsFull ? [0.1, 0.25, 0.5, 0.7] : play.IsTrial ? [0.3] : [0.2, 0.5];
        List<(double Cpu, JsonElement Run)> runs = [];
        foreach (var share in shares)
        {
            var run = await play.RunAsync(BenchProgram.Halo,
            [
                "run", "--optimize", "partition", "--rate", Text(Math.Round(share * peak)), "--warmup", Text(play.Seconds(40, 2)),
                "--ramp", Text(play.Seconds(15, 1)), "--measure", Text(play.Seconds(10, 2)), .. play.Silos,
            ]);
            runs.Add((run.List("cpuPercentPerSilo").Sum(static cpu => cpu.GetDouble()) / Environment.ProcessorCount, run));
        }

        return new Outcome(
            [.. runs.SelectMany(static one => (Measure[])
            [
                Measure.Of($"p50 at {one.Cpu:0} % of the machine for silos", "ms", [one.Run.Number("latencyMs.p50")]),
                Measure.Of($"p95 at {one.Cpu:0} % of the machine for silos", "ms", [one.Run.Number("latencyMs.p95")]),
            ])],
            [
                new("Latency of a request, ms", ChartKind.Lines, "processor use of all silos, % of the machine",
                [
                    Curve.Of("p50", runs.Select(static one => (one.Cpu, one.Run.Number("latencyMs.p50")))),
                    Curve.Of("p95", runs.Select(static one => (one.Cpu, one.Run.Number("latencyMs.p95")))),
                    Curve.Paper("median", (19, 6.5), (34, 10), (55, 15)),
                ]),
            ],
            "The report's heartbeat unpacks a compressed blob of its service, which is not public; the requests here are those of Halo Presence.");
    }

    private static async Task<List<JsonElement>> RowsAsync(Play play, string measurement) => [.. (await play.RunAsync(BenchProgram.Bench,
    [
        "calls", measurement, "--runs", Text(play.Rounds(3)), "--seconds", Text(play.Seconds(1, 0.1)), "--ignore-bars",
    ])).EnumerateArray()];

    private static Measure Row(JsonElement row, string? paper) => Measure.Of(row.Text("name"), row.Text("unit"),
        row.Rounds(), paper);

    private static IReadOnlyList<Curve> Lines(List<JsonElement> rows) => [.. rows.GroupBy(static row => row.Text("line")).Select(
        static line => Curve.Of(line.Key, line.Select(static row => (row.Number("at"), row.Number("value.median")))))];

    private static Dictionary<double, double> Values(List<JsonElement> rows, string line) => rows.Where(row => row.Text("line") == line)
        .ToDictionary(static row => row.Number("at"), static row => row.Number("value.median"));

    private static string Text(double value) => value.ToString(CultureInfo.InvariantCulture);
}
