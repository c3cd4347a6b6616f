using System.Globalization;
using ActOp.Experiments.Results;
using ActOp.Experiments.Running;

namespace ActOp.Experiments.Papers;

/// <summary>Channels and overlays (Partisan), and groups of actors.</summary>
internal static class OtherPapers
{
    private const string Partisan = "003 Partisan";
    private const string Groups = "004 Groups";

    internal static IReadOnlyList<Experiment> Experiments { get; } =
    [
        new("groups/overhead",
        [
            new(Groups, "Figure 11", "overhead against the number of groups"),
        ], 1, static play => GroupsAsync(play, "overhead", "15 to 16 % of the processing time from 1,000 groups, as without control")),
        new("groups/noisy",
        [
            new(Groups, "Section 4", "a group that floods a silo, and the others"),
        ], 1, static play => GroupsAsync(play, "noisy", null)),
        new("groups/overrun", [new(Groups, "Figure 14", "shrinking of intervals when groups overrun")], 0.1, OverrunAsync),
    ];

    internal static IReadOnlyList<OpenFigure> Open { get; } =
    [
        new(new(Partisan, "Slides: 512 KB, 1 ms and 20 ms", "one connection against channels with parallelism"), Channels),
        new(new(Partisan, "Slides: 8 MB, 1 ms", "one connection against channels with parallelism"), Channels),
        new(new(Partisan, "Slides: echo and key-value services", "throughput by payload and round trip"), Channels),
        new(new(Partisan, "Slides: client-server and peer-to-peer overlays", "clients that an overlay carries"), "Overlays are not implemented."),
        new(new(Partisan, "Slides: 2PC, 2PC with CTP, 3PC", "schedules that fail"), Verify),
        new(new(Partisan, "Slides: three counterexamples", "a key-value store under partitions, delays and bit flips"), Verify),
        new(new(Groups, "Figures 7 and 8", "overhead against the time of a message"), Ticks),
        new(new(Groups, "Figure 9", "overhead against the messages that an actor processes together"), Ticks),
        new(new(Groups, "Figure 10", "overhead against actors in a group"), Ticks),
        new(new(Groups, "Figure 12", "overhead against threads"), Ticks),
        new(new(Groups, "Figure 13", "idle time with costs that are known before"), "Costs that are known before a turn are not implemented."),
        new(new(Groups, "Figures 1 to 6", "architecture, life of a message, code"), Drawing, true),
        new(new(ActOpPaper.Seed, "Figures 1, 2, 3, 6, 8, 9 and Table 1", "architecture, flow, protocol, notation"), Drawing, true),
        new(new(OrleansReport.Seed, "Figures 1 to 3", "not in the section on performance"), Drawing, true),
    ];

    private const string Channels = "Channels with parallelism are not implemented.";
    private const string Verify = "Simulation of an application's own protocol is not implemented.";
    private const string Ticks = "No experiment plays it yet; budgets in ticks are there.";
    private const string Drawing = "A drawing: nothing to measure.";

    private static async Task<Outcome> GroupsAsync(Play play, string experiment, string? paper)
    {
        var rows = await play.RunAsync(BenchProgram.Bench, ["groups", experiment, "--runs", Text(play.Rounds(3)),
            "--seconds", Text(play.Seconds(3, 0.3)), "--ignore-bars"]);
        return new Outcome([.. rows.EnumerateArray().Select(row =>
        {
            var measure = Measure.Of(row.Text("name"), row.Text("unit"), row.Rounds(), row.Text("unit") == "%" ? paper : null);
            // The program judges its bar by the same numbers.
            return row.GetProperty("met").ValueKind is System.Text.Json.JsonValueKind.Null ? measure
                : measure with { Bar = row.Text("bar"), Holds = row.GetProperty("met").GetBoolean() };
        })], []);
    }

    private static async Task<Outcome> OverrunAsync(Play play)
    {
        var reports = (await play.RunAsync(BenchProgram.Lab, ["ticks"])).EnumerateArray().ToList();
        return new Outcome(
            [.. reports.SelectMany(static one => (Measure[])
            [
                Measure.AtMost(10, $"settled shrinking, mean overrun of {one.Number("meanOverrun"):0} ms", "%", [100 * one.Number("settled")],
                    "decreases and settles"),
                Measure.AtMost(1.15, $"time of the groups that overrun / allocation, mean overrun of {one.Number("meanOverrun"):0} ms", "",
                    [one.Number("share")]),
            ])],
            [
                new("Share by which an interval is shorter", ChartKind.Shares, "interval", [.. reports.Select(static one => Curve.Of(
                    $"mean overrun of {one.Number("meanOverrun"):0} ms",
                    one.List("downsizing").Take(100).Select(static (share, interval) => ((double)interval, share.GetDouble()))))]),
            ],
            "Ten of a hundred groups overrun, so an interval never loses more than the tenth that was theirs. The paper takes away the whole "
            + "allocation of a group with a debt; here a debt is paid exactly (record 0098).");
    }

    private static string Text(double value) => value.ToString(CultureInfo.InvariantCulture);
}
