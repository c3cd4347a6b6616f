using System.Globalization;
using System.Text.Json.Serialization;
using ActOp.Harness.Load;
using ActOp.Harness.Reports;
using Heartbeat.Bench.Runs;
using MathNet.Numerics.Statistics;

namespace Heartbeat.Bench.Experiments;

/// <summary>A comparison, as written to JSON.</summary>
/// <param name="Cells">What was measured.</param>
public sealed record CompareResult(IReadOnlyList<CellResult> Cells)
{
    /// <summary>How the model's choice compares with the best other one, load by load.</summary>
    public IReadOnlyList<Regret> Regret { get; } = Experiments.Regret.Of(Cells);

    /// <summary>In how many loads it was good or bad.</summary>
    public RegretCount RegretCount => RegretCount.Of(Regret);
}

/// <summary>The outcome of a cell, as written to JSON.</summary>
public sealed record CellResult
{
    /// <summary>Who gave the stages their threads.</summary>
    public required Allocation Allocation { get; init; }

    /// <summary>The load.</summary>
    public required LoadLevel Load { get; init; }

    /// <summary>Requests per second asked for.</summary>
    public required double Rate { get; init; }

    /// <summary>Microseconds of processor time that every request used.</summary>
    public required double ComputeUs { get; init; }

    /// <summary>Percent of the requests that blocked their thread.</summary>
    public required double BlockingPercent { get; init; }

    /// <summary>Which pass, from 1.</summary>
    public required int Repeat { get; init; }

    /// <summary>Latency since the intended start of the answered requests, in ms.</summary>
    public LatencySummary LatencyMs { get; init; } = new(0, 0, 0, 0, 0);

    /// <summary>Requests answered.</summary>
    public long Requests { get; init; }

    /// <summary>Requests that failed, were refused for too many in flight, or got no answer.</summary>
    public long Errors { get; init; }

    /// <summary>The first distinct error texts.</summary>
    public string[] ErrorTexts { get; init; } = [];

    /// <summary>Requests answered per second.</summary>
    public double AchievedRate { get; init; }

    /// <summary>The furthest that the load client itself was behind, in ms.</summary>
    public double ClientMaxLagMs { get; init; }

    /// <summary>Processor use of the silo; 100 is one core.</summary>
    public double CpuPercent { get; init; }

    /// <summary>Processor use of the load clients; 100 is the whole machine.</summary>
    public double ClientPercent { get; init; }

    /// <summary>Threads at the end.</summary>
    public ThreadNumbers Threads { get; init; } = new(0, 0, 0, 0);

    /// <summary>Changes of the stages' threads while it was measured.</summary>
    public int ThreadChanges { get; init; }

    /// <summary>The latency distribution, for the report.</summary>
    [JsonIgnore]
    public LatencyHistogram Latency { get; init; } = new();

    /// <summary>The result of one load of a run; of one that failed it has the failure for its only error.</summary>
    public static CellResult Of(PlannedRun planned, LoadLevel load, double rate, CellRun run)
    {
        var result = new CellResult
        {
            Allocation = planned.Allocation,
            Load = load,
            Rate = rate,
            ComputeUs = planned.ComputeUs,
            BlockingPercent = planned.BlockingPercent,
            Repeat = planned.Repeat,
        };
        if (run.Failure is not null)
            return result with { Errors = 1, ErrorTexts = [run.Failure] };
        var measured = run.Segment(SegmentNames.MeasureOf(load));
        return result with
        {
            LatencyMs = measured.LatencyMs,
            Requests = measured.Requests,
            Errors = measured.Errors,
            ErrorTexts = measured.ErrorTexts,
            AchievedRate = measured.Requests / measured.Seconds,
            ClientMaxLagMs = run.Report!.MaxLagMs,
            CpuPercent = run.CpuPercent(measured),
            ClientPercent = CellRun.ClientPercent(measured),
            Threads = run.Threads(measured),
            ThreadChanges = run.Changes(measured),
            Latency = LatencyHistogram.FromPairs(measured.Histogram),
        };
    }
}

/// <summary>The comparison as a table: medians over the repeats.</summary>
public static class CompareTable
{
    /// <summary>Answers below this share of what was asked for, or errors above the rest, mark a silo that could not keep up.</summary>
    private const double KeptUp = 0.98;

    /// <summary>Column titles that fit <see cref="Rows"/>.</summary>
    public static string[] Titles { get; } =
    [
        "load", "allocation", "p50 ms", "p95 ms", "p99 ms", "max ms", "p50 x", "p99 x", "answered/s", "errors", "CPU %", "client %",
        "threads", "changes",
    ];

    /// <summary>What tells one load from another, in the order of the table.</summary>
    public static (double ComputeUs, double BlockingPercent, LoadLevel Load) Key(CellResult result) =>
        (result.ComputeUs, result.BlockingPercent, result.Load);

    /// <summary>A load as text.</summary>
    public static string Describe(LoadLevel load, double rate, double computeUs, double blockingPercent) =>
        FormattableString.Invariant($"{ListOption.Camel(load.ToString())} {rate:N0}/s, {PlannedRun.Describe(computeUs, blockingPercent)}");

    /// <summary>The load of a cell as text.</summary>
    public static string Describe(CellResult cell) => Describe(cell.Load, cell.Rate, cell.ComputeUs, cell.BlockingPercent);

    /// <summary>One row for each load and allocation.</summary>
    public static IReadOnlyList<string[]> Rows(IReadOnlyList<CellResult> results)
    {
        var rows = new List<string[]>();
        foreach (var load in results.GroupBy(Key).OrderBy(group => group.Key))
        {
            CellResult[] cores = [.. load.Where(result => result.Allocation == Allocation.Cores)];
            foreach (var cells in load.GroupBy(result => result.Allocation).OrderBy(group => group.Key))
                rows.Add(Row([.. cells], cores));
        }
        return rows;
    }

    /// <summary>What one must know to read the table.</summary>
    public static IEnumerable<string> Notes(HeartbeatOptions options, IReadOnlyList<CellResult> results)
    {
        yield return "Latency since the intended start; x = relative to cores; CPU = the silo's, 100 is a core; client = the load "
            + "client's, 100 is the machine; threads = receive/work/silo send/client send at the end; changes of threads while measured. "
            + "Medians over repeats.";
        var seconds = options.Warmup + options.Measure;
        yield return FormattableString.Invariant(
            $"queueLength decides every {options.QueuePeriod:0.##} s (paper: 30 s, which a load of {seconds:0.##} s would never see).");
        foreach (var percent in results.Select(result => result.BlockingPercent).Where(percent => percent > 0).Distinct().Order())
        {
            double Limit(int workers) => Peaks.Limit(workers, percent, options.BlockingMs);
            yield return string.Create(CultureInfo.InvariantCulture,
                $"With {percent:0.##} % of the calls blocking {options.BlockingMs:0.##} ms, {Environment.ProcessorCount} workers can answer at most {Limit(Environment.ProcessorCount):N0} requests/s, eight {Limit(8):N0}; loads are shares of no more than {Peaks.BlockingFactor} times the former.");
        }
        if (results.Any(IsBehind))
            yield return "! could not keep up: latency is then bounded by the requests that the load client allows in flight; it refuses the rest, which count as errors.";
    }

    private static string[] Row(CellResult[] cells, CellResult[] cores) =>
    [
        Describe(cells[0]),
        ListOption.Camel(cells[0].Allocation.ToString()),
        Text(cells, cell => cell.LatencyMs.P50, "0.00"),
        Text(cells, cell => cell.LatencyMs.P95, "0.00"),
        Text(cells, cell => cell.LatencyMs.P99, "0.00"),
        Text(cells, cell => cell.LatencyMs.Max, "0.0"),
        Ratio(cells, cores, cell => cell.LatencyMs.P50),
        Ratio(cells, cores, cell => cell.LatencyMs.P99),
        Text(cells, cell => cell.AchievedRate, "N0") + (cells.Any(IsBehind) ? " !" : ""),
        Text(cells, cell => cell.Errors, "N0"),
        Text(cells, cell => cell.CpuPercent, "0"),
        Text(cells, cell => cell.ClientPercent, "0.0"),
        cells[^1].Threads.ToString(),
        Text(cells, cell => cell.ThreadChanges, "0"),
    ];

    private static bool IsBehind(CellResult cell) => cell.AchievedRate < KeptUp * cell.Rate || cell.Errors > (1 - KeptUp) * cell.Requests;

    private static string Ratio(CellResult[] cells, CellResult[] cores, Func<CellResult, double> value) =>
        cores.Length > 0 && Median(cores, value) > 0
            ? (Median(cells, value) / Median(cores, value)).ToString("0.00", CultureInfo.InvariantCulture) : "-";

    private static string Text(CellResult[] cells, Func<CellResult, double> value, string format) =>
        Median(cells, value).ToString(format, CultureInfo.InvariantCulture);

    private static double Median(CellResult[] cells, Func<CellResult, double> value) => cells.Select(value).Median();
}

/// <summary>The comparison as an HTML page.</summary>
public static class CompareReport
{
    /// <summary>Writes it.</summary>
    public static string Render(HeartbeatOptions options, CompareResult result)
    {
        var results = result.Cells;
        var page = new HtmlPage("Heartbeat");
        page.Paragraph(string.Create(CultureInfo.InvariantCulture,
            $"One silo, {options.Clients:N0} {ListOption.Camel(options.Application.ToString())} grains, open-loop load, {Environment.ProcessorCount} cores that the silo and the load client share."));
        page.Table(CompareTable.Titles, CompareTable.Rows(results));
        foreach (var note in CompareTable.Notes(options, results))
            page.Paragraph(note);
        if (result.Regret.Count > 0)
            page.Table(RegretTable.Titles, RegretTable.Rows(result.Regret));
        foreach (var note in RegretTable.Notes(result.Regret).TakeWhile(_ => result.Regret.Count > 0))
            page.Paragraph(note);
        foreach (var load in results.GroupBy(CompareTable.Key).OrderBy(group => group.Key))
            page.Figure(Chart([.. load]).Render());
        return page.End(result);
    }

    private static SvgChart Chart(CellResult[] cells) => new()
    {
        Title = $"Latency: cumulative distribution, {CompareTable.Describe(cells[0])}",
        XLabel = "ms since the intended start (logarithmic)",
        LogX = true,
        Percent = true,
        Series = [.. cells.GroupBy(cell => cell.Allocation).OrderBy(group => group.Key)
            .Select(group => new ChartSeries(ListOption.Camel(group.Key.ToString()), Points(group)))],
    };

    private static (double, double)[] Points(IEnumerable<CellResult> repeats)
    {
        var all = new LatencyHistogram();
        foreach (var repeat in repeats)
            all.Merge(repeat.Latency);
        return [.. all.Distribution()];
    }
}
