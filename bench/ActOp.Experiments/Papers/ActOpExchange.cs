using System.Globalization;
using System.Text.Json;
using ActOp.Experiments.Results;
using ActOp.Experiments.Running;
using ActOp.Harness.Processes;

namespace ActOp.Experiments.Papers;

/// <summary>The exchanges themselves (ActOp paper, section 4): what they cut, and what they cost. Played in memory by the code of silos.</summary>
internal static class ActOpExchange
{
    /// <summary>What the cut may be above that of METIS, which sees the whole graph.</summary>
    private const double MostAboveMetis = 1.05;

    internal static IReadOnlyList<Experiment> Experiments { get; } =
    [
        new("actop/cut", [new(ActOpPaper.Seed, "Section 4", "the cut of pairwise exchanges against METIS")], 4, CutAsync),
        new("actop/exchange",
        [
            new(ActOpPaper.Seed, "Section 4.2", "time of an exchange against the number of actors"),
            new(ActOpPaper.Seed, "Figure 10(f)", "the exchanges of 10 servers with up to a million players"),
        ], 4, ExchangeAsync),
    ];

    private static async Task<Outcome> CutAsync(Play play)
    {
        var data = Path.Combine(RepositoryFolder.Find(), "bench", "data", "ego-facebook.txt");
        var vertices = play.IsFull ? "5000" : "500";
        var seeds = play.IsFull ? "1-5" : play.IsTrial ? "1" : "1-2";
        (string Name, string[] Graph, string[] Parts)[] graphs =
        [
            ("planted communities", ["--generate", "communities", "--vertices", vertices], ["2", "4", "10", "64"]),
            ("power law", ["--generate", "powerlaw", "--vertices", vertices], ["2", "4", "10", "64"]),
            ("social network of 4,039 people", ["--graph", data], ["4", "10"]),
        ];
        var measures = new List<Measure>();
        var curves = new List<Curve>();
        foreach (var (name, graph, parts) in graphs)
        {
            var points = new List<(double, double)>();
            foreach (var part in play.IsFull ? parts : parts[1..2])
            {
                var result = await play.RunAsync(BenchProgram.Lab, ["partition", .. graph, "--parts", part, "--seeds", seeds]);
                var runs = result.List("runs").ToList();
                if (runs.Exists(static run => run.GetProperty("metisRatio").ValueKind != JsonValueKind.Number))
                {
                    measures.Add(Measure.Of($"{name}, {part} parts: cut", "", [.. runs.Select(static run => run.Number("cutShare"))]));
                    continue;
                }

                double[] ratios = [.. runs.Select(static run => run.Number("metisRatio"))];
                var measure = part is "4" or "10"
                    ? Measure.AtMost(MostAboveMetis, $"{name}, {part} parts: cut / METIS", "", ratios)
                    : Measure.Of($"{name}, {part} parts: cut / METIS", "", ratios);
                measures.Add(measure);
                points.Add((int.Parse(part, CultureInfo.InvariantCulture), measure.Value));
            }

            curves.Add(Curve.Of(name, points));
        }

        return new Outcome(measures, [new("Cut / cut of METIS", ChartKind.LogLines, "parts (logarithmic)", curves)],
            "METIS sees the whole graph at once; the exchanges see one silo's edges each. Where it is not installed (gpmetis, Debian package "
            + "metis) there is no ratio and no bar.");
    }

    private static async Task<Outcome> ExchangeAsync(Play play)
    {
        string[] players = play.IsFull ? ["10000", "100000", "1000000"] : ["1000", "10000"];
        var rows = (await play.RunAsync(BenchProgram.Lab, ["synthetic", "--players", .. players, "--silos", "10", "--rounds", "10"])).EnumerateArray().ToList();
        return new Outcome(
            [.. rows.SelectMany(static row => (Measure[])
            [
                Measure.Of($"time of an offer, {row.Number("players"):N0} players", "ms", [row.Number("offerMs")]),
                Measure.Of($"time for a vertex, {row.Number("players"):N0} players", "ns", [row.Number("nanosecondsPerVertex")]),
                Measure.AtMost(0.12, $"remote share after {row.Number("rounds"):0} rounds, {row.Number("players"):N0} players", "",
                    [row.Number("cutTo")], "0.12"),
            ])],
            [
                new("Time of an offer, ms", ChartKind.LogLines, "players (logarithmic)",
                    [Curve.Of("10 silos", rows.Select(static row => (row.Number("players"), row.Number("offerMs"))))]),
            ],
            "The paper: practically linear in the number of vertices of a server (section 4.2). Time for a vertex grows with the misses of "
            + "the processor's caches.");
    }
}
