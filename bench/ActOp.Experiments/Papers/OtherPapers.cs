using System.Globalization;
using System.Text.Json;
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
        new("groups/overhead", [new(Groups, "Section 4.2", "what groups cost grains that call each other")], 1,
            static play => GroupsAsync(play, "overhead")),
        new("groups/message-time", [new(Groups, "Figures 7 and 8", "overhead against the time of a message")], 1.5,
            static play => OverheadAsync(play, "message-time", "microseconds of a message (logarithmic)",
                "negligible above 50 ms, as without control")),
        new("groups/together", [new(Groups, "Figure 9", "overhead against the messages that an actor processes together")], 1,
            static play => OverheadAsync(play, "together", "microseconds of a slice (logarithmic)",
                "14 to 21 % with budgets, 14 to 15 % without",
                "Here the time is set for which a thread runs messages of one group, not their number.")),
        new("groups/actors", [new(Groups, "Figure 10", "overhead against actors in a group")], 1,
            static play => OverheadAsync(play, "actors", "actors in the group (logarithmic)", "1.4 to 2.1 % above no control")),
        new("groups/count", [new(Groups, "Figure 11", "overhead against the number of groups")], 1,
            static play => OverheadAsync(play, "count", "groups (logarithmic)", "23 to 24 % with one group, 15 to 16 % from 1,000")),
        new("groups/threads", [new(Groups, "Figure 12", "overhead against threads")], 1,
            static play => OverheadAsync(play, "threads", "threads (logarithmic)", "about 4 % above no control",
                "With more threads than processors a message takes longer by the clock, but no more of the processors.")),
        new("groups/idle", [new(Groups, "Figure 13", "idle time with costs that are known before")], 1.5, IdleAsync),
        new("groups/noisy",
        [
            new(Groups, "Section 4", "a group that floods a silo, and the others"),
        ], 1, static play => GroupsAsync(play, "noisy")),
        new("verify/omissions", [new(Partisan, "Slides: 2PC, 2PC with CTP, 3PC", "schedules that fail")], 3, OmissionsAsync),
        new("verify/planted", [new(Partisan, "Slides: three counterexamples", "a key-value store under faults; and faults of grains")], 3, PlantedAsync),
        new("verify/speed", [new(Partisan, "Slides: verifying resilience", "how fast tests of an application are simulated")], 0.5, SpeedAsync),
        new("groups/overrun", [new(Groups, "Figure 14", "shrinking of intervals when groups overrun")], 0.1, OverrunAsync),
    ];

    internal static IReadOnlyList<OpenFigure> Open { get; } =
    [
        new(new(Partisan, "Slides: 512 KB, 1 ms and 20 ms", "one connection against channels with parallelism"), Channels),
        new(new(Partisan, "Slides: 8 MB, 1 ms", "one connection against channels with parallelism"), Channels),
        new(new(Partisan, "Slides: echo and key-value services", "throughput by payload and round trip"), Channels),
        new(new(Partisan, "Slides: client-server and peer-to-peer overlays", "clients that an overlay carries"), "Silos do not use overlays yet."),
        new(new(Groups, "Figures 1 to 6", "architecture, life of a message, code"), Drawing, true),
        new(new(ActOpPaper.Seed, "Figures 1, 2, 3, 6, 8, 9 and Table 1", "architecture, flow, protocol, notation"), Drawing, true),
        new(new(OrleansReport.Seed, "Figures 1 to 3", "not in the section on performance"), Drawing, true),
    ];

    private const string Channels = "No experiment plays it yet; channels with links of their own are there.";
    private const string Drawing = "A drawing: nothing to measure.";

    private static async Task<Outcome> GroupsAsync(Play play, string experiment)
    {
        var rows = await RowsAsync(play, experiment, play.Seconds(3, 0.3));
        return new Outcome([.. rows.Select(static row => Judged(row))], []);
    }

    /// <summary>A row whose bar the program has judged by the same numbers.</summary>
    private static Measure Judged(JsonElement row, string? paper = null)
    {
        var measure = Measure.Of(row.Text("name"), row.Text("unit"), row.Rounds(), paper);
        return row.GetProperty("met").ValueKind is JsonValueKind.Null ? measure
            : measure with { Bar = row.Text("bar"), Holds = row.GetProperty("met").GetBoolean() };
    }

    private static async Task<Outcome> OmissionsAsync(Play play)
    {
        var rows = (await play.RunAsync(BenchProgram.Bench,
            ["verify", "omissions", "--schedules", play.IsTrial ? "20" : play.IsFull ? "5000" : "500", "--ignore-bars"])).EnumerateArray();
        return new Outcome(
            [.. rows.Select(static row => Judged(row, row.Text("name") switch
            {
                "two-phase commit: sets of lost messages" => "4,096",
                "two-phase commit: of them fail" => "3",
                "three-phase commit: sets of lost messages" => "216,522",
                "three-phase commit: of them fail" => "a few",
                _ => null,
            }))],
            [],
            "Three participants and a coordinator. A message that is not sent because another one was lost is not lost, so there are fewer sets "
            + "than two to the number of messages. The slides do not say how many participants there are, nor what they do when they hear "
            + "nothing: which sets fail follows from that.");
    }

    private static async Task<Outcome> PlantedAsync(Play play)
    {
        var rows = (await play.RunAsync(BenchProgram.Bench,
            ["verify", "planted", "--passed", play.IsTrial ? "2" : "50", .. play.IsTrial ? (string[])["--fault", "counter"] : []])).EnumerateArray();
        return new Outcome(
            [.. rows.Select(static row => Judged(row))],
            [],
            "The three counterexamples of the slides are those of a store that promises one value at a time, causes before effects, or at least "
            + "one value at last (the rows \"store\"). A bit that flips in a replica is not simulated.");
    }

    private static async Task<Outcome> SpeedAsync(Play play)
    {
        string[] amount = play.IsTrial ? ["--runs", "1", "--seeds", "5", "--calls", "10000"] : [];
        var rows = (await play.RunAsync(BenchProgram.Bench, ["verify", .. amount, "--ignore-bars"])).EnumerateArray();
        return new Outcome([.. rows.Select(static row => Judged(row))], [], "The slides tell no speed. Times are those of one processor.");
    }

    /// <summary>A figure on the overhead of a message: a line without groups, one with shares, one with ticks.</summary>
    private static async Task<Outcome> OverheadAsync(Play play, string experiment, string axis, string paper, params string[] notes)
    {
        var rows = await RowsAsync(play, experiment, play.Seconds(0.5, 0.1));
        var lines = rows.ToLookup(static row => row.Text("line"));
        var none = lines["no groups"].ToDictionary(static row => row.Number("at"), static row => row.Rounds());
        return new Outcome(
            [.. rows.Where(static row => row.Text("line") == "ticks").Select(row => Measure.Of(row.Text("name") + ", above no groups", "%",
                [.. row.Rounds().Zip(none[row.Number("at")], static (ticks, without) => ticks - without)], paper))],
            [
                new("Overhead of a message, % of its work", ChartKind.LogLines, axis, [.. lines.Select(static line =>
                    Curve.Of(line.Key, line.Select(static row => (row.Number("at"), row.Number("value.median")))))]),
            ],
            notes);
    }

    private static async Task<List<JsonElement>> RowsAsync(Play play, string experiment, double seconds) =>
    [
        .. (await play.RunAsync(BenchProgram.Bench,
            ["groups", experiment, "--runs", Text(play.Rounds(3)), "--seconds", Text(seconds), "--ignore-bars", .. play.IsTrial ? (string[])["--only-ends"] : []]))
            .EnumerateArray(),
    ];

    private static async Task<Outcome> IdleAsync(Play play)
    {
        var rows = await RowsAsync(play, "idle", play.Seconds(2.5, 2.5));
        var studied = (await play.RunAsync(BenchProgram.Lab, ["idle", "--intervals", "200"])).EnumerateArray().ToList();
        return new Outcome(
            [.. rows.Select(static row => Measure.AtMost(4.9, row.Text("name"), "%", row.Rounds(), "4.9 % from 90 ms on"))],
            [
                new("Idle time, % of an interval", ChartKind.Lines, "mean time of a message, ms",
                [
                    Curve.Of("a message that does not fit runs if nothing else may", rows.Select(static row => (row.Number("at"), row.Number("value.median")))),
                    Curve.Of("it waits, as in the paper; in virtual time", studied.Where(static one => !one.GetProperty("lends").GetBoolean())
                        .Select(static one => (one.Number("messageTime"), 100 * one.Number("idle")))),
                ]),
            ],
            "Ten groups with a tenth of the interval each. If a message waits that does not fit, each group loses what is left of its own ticks; the paper "
            + "describes half of a group's share for all groups together, so its messages must have been smaller than the shares, or these longer "
            + "(record 0115).");
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
