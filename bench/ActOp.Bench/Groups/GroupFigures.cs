using System.Diagnostics;
using ActOp.Bench.Calls;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Configuration;
using ActOp.Floors;

namespace ActOp.Bench.Groups;

/// <summary>
/// The overhead of a message against one of its conditions (paper on actor groups, section 4.2, figures 7 to 12): what the messages take
/// longer than their work alone, in percent of their work. Without groups, with shares and with ticks, in turn. The paper's messages
/// compute for 100 ms; here they compute for 50 us, or nothing could be seen.
/// </summary>
internal static class GroupFigures
{
    private const int MostMessages = 100_000;
    private static readonly string[] Modes = ["no groups", "shares", "ticks"];

    /// <summary>Figures 7 and 8.</summary>
    internal static Task MeasureMessageTime(CallSettings settings, Action<Row> report) => Measure(settings, report, "us a message",
        [5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000], static us => new Load { Microseconds = us });

    /// <summary>
    /// Figure 9. The paper sets the messages that an actor processes together; here it is the time for which a thread runs turns of a group.
    /// </summary>
    internal static Task MeasureTogether(CallSettings settings, Action<Row> report) => Measure(settings, report, "us a slice",
        [20, 50, 100, 200, 500, 1_000, 5_000], static us => new Load { Quantum = us });

    /// <summary>Figure 10.</summary>
    internal static Task MeasureActors(CallSettings settings, Action<Row> report) => Measure(settings, report, "actors in a group",
        [1, 10, 100, 1_000, 10_000, 100_000], static actors => new Load { Groups = 1, Actors = actors });

    /// <summary>Figure 11.</summary>
    internal static Task MeasureCount(CallSettings settings, Action<Row> report) => Measure(settings, report, "groups",
        [1, 10, 100, 1_000, 10_000], static groups => new Load { Groups = groups });

    /// <summary>Figure 12.</summary>
    internal static Task MeasureThreads(CallSettings settings, Action<Row> report) => Measure(settings, report, "threads",
        [1, 2, 4, 8, 16, 32], static threads => new Load { Threads = threads });

    private static async Task Measure(CallSettings settings, Action<Row> report, string axis, int[] points, Func<int, Load> load)
    {
        var chosen = settings.OnlyEnds ? [points[0], points[^1]] : points;
        var overheads = chosen.SelectMany(static point => Modes.Select(mode => (point, mode)))
            .ToDictionary(static cell => cell, _ => new List<double>());
        for (var run = 0; run < settings.Runs; run++)
        {
            foreach (var (cell, rounds) in overheads)
                rounds.Add(await OverheadAsync(load(cell.point), cell.mode, settings.Duration));
        }

        foreach (var ((point, mode), rounds) in overheads)
            report(new Row($"{mode}, {point:N0} {axis}", "%", Spread.Of([.. rounds]), Line: mode, At: point));
    }

    private static async Task<double> OverheadAsync(Load load, string mode, TimeSpan duration)
    {
        await using var silo = await BenchHost.StartSilo(
            locality: false,
            stages =>
            {
                stages.Controller = StageController.Fixed;
                stages.WorkThreads = load.Threads;
            },
            mode == "no groups" ? null : builder => AddGroups(builder, load, mode));
        var processors = Math.Min(load.Threads, Environment.ProcessorCount);
        var steps = (long)(load.Microseconds * SpinLoop.FindStepsPerMicrosecond(processors));
        var actors = Enumerable.Range(0, load.Groups * load.Actors).Select(actor =>
            silo.Grains.GetGrain<ITenantGrain>("group" + (actor / load.Actors) + "/" + (actor % load.Actors))).ToArray();
        // A message to each activates it.
        await SendAsync(actors, 1, steps);
        var fitting = duration.TotalMicroseconds * processors / load.Microseconds;
        var each = Math.Max(1, (int)Math.Min(fitting, MostMessages) / actors.Length);
        var (messages, began) = (0L, Stopwatch.GetTimestamp());
        do
        {
            await SendAsync(actors, each, steps);
            messages += (long)each * actors.Length;
        }
        while (Stopwatch.GetElapsedTime(began) < duration);
        return 100 * ((Stopwatch.GetElapsedTime(began).TotalMicroseconds * processors / (messages * (double)load.Microseconds)) - 1);
    }

    private static Task SendAsync(ITenantGrain[] actors, int each, long steps)
    {
        var calls = new Task[each * actors.Length];
        for (var call = 0; call < calls.Length; call++)
            calls[call] = actors[call % actors.Length].Work(steps).AsTask();
        return Task.WhenAll(calls);
    }

    private static void AddGroups(ISiloBuilder silo, Load load, string mode) => silo.AddGroups(options =>
    {
        options.Quantum = TimeSpan.FromMicroseconds(load.Quantum);
        options.Mode = mode == "ticks" ? BudgetMode.Ticks : BudgetMode.Shares;
        // All get the same, and together the whole silo. So long that no group waits for its next ticks: idle time is another figure.
        options.Interval = TimeSpan.FromMinutes(1);
        var ticks = options.Interval.TotalMilliseconds * Environment.ProcessorCount / load.Groups;
        for (var group = 0; group < load.Groups; group++)
            options.Add("group" + group, one => one.Ticks = mode == "ticks" ? ticks : null);
        options.Select = TenantGrain.GroupOf;
    });

    /// <summary>What is varied; one value at a time, the others stay.</summary>
    private sealed record Load
    {
        internal int Groups { get; init; } = 100;

        /// <summary>In each group.</summary>
        internal int Actors { get; init; } = 1;

        /// <summary>The work of a message.</summary>
        internal int Microseconds { get; init; } = 50;

        /// <summary>Of the groups, in microseconds.</summary>
        internal int Quantum { get; init; } = 200;

        internal int Threads { get; init; } = Environment.ProcessorCount;
    }
}
