using System.CommandLine;
using System.Globalization;
using System.Text.Json.Serialization;
using ActOp.Harness.Reports;
using Heartbeat.Bench.Runs;

namespace Heartbeat.Bench.Experiments;

/// <summary>Measures the median latency over workers and senders (paper, Figure 5).</summary>
public sealed class HeatmapExperiment() : Experiment(new HeartbeatOptions { Application = Application.Counter, Warmup = 1, Measure = 2 })
{
    private const int MostThreads = 64;
    private const int ComparisonPasses = 3;

    /// <summary>Starting and stopping the processes of a cell, in seconds; only to say how long it will take.</summary>
    private const double Overhead = 2.5;
    private readonly LoadChoice _load = new(LoadLevel.High);
    private readonly Option<int[]> _workers = ListOption.OfCounts(
        "--workers", "Threads that run turns, 1 to 64 each.", 1, MostThreads, 1, 2, 3, 4, 6, 8);
    private readonly Option<int[]> _senders = ListOption.OfCounts(
        "--senders", "Threads that write to clients, 1 to 64 each.", 1, MostThreads, 1, 2, 3, 4, 6, 8);
    private readonly Option<int> _passes =
        new("--passes") { Description = "Passes over all cells, every other one backwards, 1 to 100.", DefaultValueFactory = _ => 2 };

    /// <inheritdoc/>
    protected override IEnumerable<Option> OwnOptions => [.. _load.Options, _workers, _senders, _passes];

    /// <inheritdoc/>
    protected override string? FindError(ParseResult parsed) =>
        _load.FindError(parsed)
            ?? (parsed.GetValue(_passes) is < 1 or > 100 ? $"--passes must be 1 to 100, not {parsed.GetValue(_passes)}." : null);

    /// <inheritdoc/>
    protected override async Task RunAsync(ParseResult parsed, CellRunner runner)
    {
        var options = runner.Options;
        var plan = HeatPlan.Build(parsed.GetValue(_workers)!, parsed.GetValue(_senders)!, parsed.GetValue(_passes));
        Console.WriteLine($"{plan.Count} cells, about {plan.Count * (CellRunner.CompileSeconds + options.Warmup + options.Measure + Overhead) / 60:0} minutes");
        var work = _load.Cell(parsed);
        var rate = await _load.RateAsync(parsed, runner).ConfigureAwait(false);
        async Task<double> Measure(string title, int workers, int senders)
        {
            var cell = work with { Allocation = Allocation.Cores, WorkThreads = workers, ClientSendThreads = senders };
            var run = await runner.MeasureAsync($"{title}: {workers} workers x {senders} senders, {rate:N0}/s", cell,
                rate).ConfigureAwait(false);
            return run.MeasuredMedianMs();
        }
        var medians = new Dictionary<(int Workers, int Senders), List<double>>();
        for (var i = 0; i < plan.Count; i++)
        {
            var median = await Measure($"{i + 1}/{plan.Count}", plan[i].Workers, plan[i].Senders).ConfigureAwait(false);
            if (!medians.TryAdd(plan[i], [median]))
                medians[plan[i]].Add(median);
        }
        HeatCell[] cells = [.. medians.Select(pair => new HeatCell(pair.Key.Workers, pair.Key.Senders, pair.Value))];
        var best = cells.MinBy(cell => cell.MedianMs)!;
        var chooses = work with { Allocation = Allocation.Model };
        var model = await runner.MeasureAsync($"model, {rate:N0}/s", chooses, rate).ConfigureAwait(false);
        var chosen = model.Threads(model.Segment(SegmentNames.Measure));
        List<double> modelAgain = [];
        List<double> bestAgain = [];
        for (var i = 0; i < ComparisonPasses; i++)
        {
            modelAgain.Add(await Measure("model's choice", chosen.Work, chosen.ClientSend).ConfigureAwait(false));
            bestAgain.Add(await Measure("best", best.Workers, best.Senders).ConfigureAwait(false));
        }
        var result = new HeatmapResult
        {
            Rate = rate,
            BlockingPercent = work.BlockingPercent,
            Cells = cells,
            ModelThreads = chosen,
            Model = new HeatCell(chosen.Work, chosen.ClientSend, modelAgain),
            BestAgain = new HeatCell(best.Workers, best.Senders, bestAgain),
        };
        TextTable.Print(Titles(result), Rows(result));
        foreach (var note in result.Notes())
            Console.WriteLine(note);
        Write(parsed, result, () => Render(result));
    }

    /// <summary>The report.</summary>
    public static string Render(HeatmapResult result)
    {
        var page = new HtmlPage("Heartbeat: latency over workers and senders").Table(Titles(result), Rows(result)).Figure(HeatGrid.Render(
            FormattableString.Invariant($"Median latency in ms at {result.Rate:N0} requests/s"), "workers", Workers(result), "senders",
                Senders(result), (workers, senders) => Find(result, workers, senders).MedianMs));
        foreach (var note in result.Notes())
            page.Paragraph(note);
        return page.End(result);
    }

    private static string[] Titles(HeatmapResult result) =>
        ["workers \\ senders (p50 ms)", .. Senders(result).Select(senders => senders.ToString(CultureInfo.InvariantCulture))];

    private static IEnumerable<string[]> Rows(HeatmapResult result) => Workers(result).Select(workers => (string[])
    [
        workers.ToString(CultureInfo.InvariantCulture),
        .. Senders(result).Select(senders => Find(result, workers, senders).MedianMs.ToString("0.000", CultureInfo.InvariantCulture)),
    ]);

    private static int[] Workers(HeatmapResult result) => [.. result.Cells.Select(cell => cell.Workers).Distinct().Order()];

    private static int[] Senders(HeatmapResult result) => [.. result.Cells.Select(cell => cell.Senders).Distinct().Order()];

    private static HeatCell Find(HeatmapResult result, int workers, int senders) =>
        result.Cells.First(cell => cell.Workers == workers && cell.Senders == senders);
}

/// <summary>The order of the cells of a heat map: every other pass backwards, so that a drift of the machine hits all alike.</summary>
public static class HeatPlan
{
    /// <summary>Every cell in every pass.</summary>
    public static IReadOnlyList<(int Workers, int Senders)> Build(IReadOnlyList<int> workers, IReadOnlyList<int> senders, int passes)
    {
        var all = (from worker in workers from sender in senders select (worker, sender)).ToList();
        var plan = new List<(int, int)>();
        for (var pass = 0; pass < passes; pass++)
        {
            plan.AddRange(all);
            all.Reverse();
        }
        return plan;
    }
}

/// <summary>A cell of the heat map.</summary>
/// <param name="Workers">Threads that run turns.</param>
/// <param name="Senders">Threads that write to clients.</param>
/// <param name="PassesMs">Median latency of every pass, in ms.</param>
public sealed record HeatCell(int Workers, int Senders, IReadOnlyList<double> PassesMs)
{
    /// <summary>The mean of the passes' medians, in ms.</summary>
    public double MedianMs => PassesMs.Average();

    /// <summary>How far the passes are apart, relative to their mean: differences between cells below this say nothing.</summary>
    public double Spread => MedianMs > 0 ? (PassesMs.Max() - PassesMs.Min()) / MedianMs : 0;

    /// <summary>As text.</summary>
    [JsonIgnore]
    public string Name => $"{Workers} workers x {Senders} senders";
}

/// <summary>The heat map and the model's place in it, as written to JSON.</summary>
public sealed record HeatmapResult
{
    /// <summary>Requests per second.</summary>
    public required double Rate { get; init; }

    /// <summary>Percent of the requests that blocked their thread.</summary>
    public required double BlockingPercent { get; init; }

    /// <summary>All cells.</summary>
    public required HeatCell[] Cells { get; init; }

    /// <summary>The model's own choice.</summary>
    public required ThreadNumbers ModelThreads { get; init; }

    /// <summary>The model's workers and senders again, in turns with the best cell.</summary>
    public required HeatCell Model { get; init; }

    /// <summary>The best cell again, in turns with the model's.</summary>
    public required HeatCell BestAgain { get; init; }

    /// <summary>The cell with the least median.</summary>
    public HeatCell Best => Cells.MinBy(cell => cell.MedianMs)!;

    /// <summary>The cell with the greatest median.</summary>
    public HeatCell Worst => Cells.MaxBy(cell => cell.MedianMs)!;

    /// <summary>How much worse the worst cell is than the best (paper: 4).</summary>
    public double WorstToBest => Worst.MedianMs / Best.MedianMs;

    /// <summary>How much worse the model's cell is than the best.</summary>
    public double ModelToBest => Model.MedianMs / BestAgain.MedianMs;

    /// <summary>What the table says below.</summary>
    public IEnumerable<string> Notes() =>
    [
        FormattableString.Invariant($"worst ({Worst.Name}) / best ({Best.Name}): {WorstToBest:0.00} (paper: 4)"),
        FormattableString.Invariant($"model (chose {ModelThreads}) / best, {Model.PassesMs.Count} times in turns: {Model.MedianMs:0.000} / {BestAgain.MedianMs:0.000} ms = {ModelToBest:0.00}"),
        Cells[0].PassesMs.Count > 1
            ? FormattableString.Invariant($"Passes of a cell differ by {Cells.Average(cell => cell.Spread):P0} on average.")
            : "One pass says nothing about noise.",
        "Threads that read run turns while workers sleep, and turns may write their replies: senders then matter little.",
    ];
}
