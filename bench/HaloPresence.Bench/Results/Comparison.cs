using System.Globalization;
using ActOp.Harness.Reports;

namespace HaloPresence.Bench.Results;

/// <summary>The rows of the result table: what was measured beside the paper's figures.</summary>
public static class Comparison
{
    /// <summary>
    /// Rows for the runs in order; the last column is the paper's, and of several runs there is one for the ratio of the last to the first.
    /// </summary>
    public static IReadOnlyList<string[]> Rows(IReadOnlyList<RunResult> runs)
    {
        var rows = new List<string[]>
        {
            Row("remote share", runs, r => r.RemoteShare, "P1", "90% -> 12%"),
            Row("remote share of sampled pairs", runs, r => r.CheckedRemoteShare, "P1", ""),
            Row("latency p50 (ms)", runs, r => r.LatencyMs.P50, "0.00", Paper(PaperFigures.BaselineP50Ms, PaperFigures.PartitionP50Ms)),
            Row("latency p95 (ms)", runs, r => r.LatencyMs.P95, "0.00", Paper(PaperFigures.BaselineP95Ms, PaperFigures.PartitionP95Ms)),
            Row("latency p99 (ms)", runs, r => r.LatencyMs.P99, "0.00", Paper(PaperFigures.BaselineP99Ms, PaperFigures.PartitionP99Ms)),
            Row("latency p99.9 (ms)", runs, r => r.LatencyMs.P999, "0.00", ""),
            Row("CPU per request (us)", runs, r => r.CpuMicrosPerRequest, "0.0", "x 0.55"),
            Row("requests/s achieved", runs, r => r.AchievedRate, "N0", "6,000"),
            Row("grain messages per request", runs, r => r.MessagesPerRequest, "0.00", "18"),
            Row("allocated per request (bytes)", runs, r => r.AllocatedBytesPerRequest, "N0", ""),
            Row("migrations", runs, r => r.Migrations, "N0", "about 1% of grains/min"),
            Row("errors", runs, r => r.Errors, "N0", "0"),
        };
        if (runs.Any(r => r.Saturation is not null))
            rows.Add(Row("peak requests/s", runs, r => r.Saturation?.RequestsPerSecond ?? 0, "N0", "6,000 -> 12,000 (x 2)"));
        return rows;
    }

    /// <summary>The column titles that fit <see cref="Rows"/>.</summary>
    public static string[] Titles(IReadOnlyList<RunResult> runs) =>
        ["", .. runs.Select(run => OptimizeName.Of(run.Optimize)), .. runs.Count > 1 ? ["ratio"] : Array.Empty<string>(), "paper"];

    private static string[] Row(string name, IReadOnlyList<RunResult> runs, Func<RunResult, double> value, string format, string paper)
    {
        var cells = new List<string> { name };
        foreach (var run in runs)
            cells.Add(value(run).ToString(format, CultureInfo.InvariantCulture));
        if (runs.Count > 1)
            cells.Add(value(runs[0]) > 0 ? "x " + (value(runs[^1]) / value(runs[0])).ToString("0.00", CultureInfo.InvariantCulture) : "-");
        cells.Add(paper);
        return [.. cells];
    }

    private static string Paper(double baseline, double partition) =>
        string.Create(CultureInfo.InvariantCulture, $"{baseline:0} -> {partition:0} (x {partition / baseline:0.00})");
}

/// <summary>
/// What the paper reports for Halo Presence with 100,000 players at 6,000 requests/s on ten 8-core servers (sections 3 and 6.1,
/// Figure 10): absolute values are of other machines; shares and ratios compare.
/// </summary>
public static class PaperFigures
{
    /// <summary>Remote share of random placement.</summary>
    public const double BaselineRemoteShare = 0.90;

    /// <summary>Remote share with locality partitioning.</summary>
    public const double PartitionRemoteShare = 0.12;

    /// <summary>Baseline median latency in ms.</summary>
    public const double BaselineP50Ms = 41;

    /// <summary>Median latency in ms with locality partitioning.</summary>
    public const double PartitionP50Ms = 24;

    /// <summary>Baseline 95th percentile in ms.</summary>
    public const double BaselineP95Ms = 450;

    /// <summary>95th percentile in ms with locality partitioning.</summary>
    public const double PartitionP95Ms = 100;

    /// <summary>Baseline 99th percentile in ms (the text of section 6.1 says 726, that of section 3 says 736).</summary>
    public const double BaselineP99Ms = 726;

    /// <summary>99th percentile in ms with locality partitioning.</summary>
    public const double PartitionP99Ms = 225;

    /// <summary>Processor use that partitioning saves at the highest load.</summary>
    public const double CpuSaved = 0.45;

    /// <summary>Peak throughput relative to random placement.</summary>
    public const double ThroughputRatio = 2.0;
}

/// <summary>Prints the comparison as a table.</summary>
public static class ResultTable
{
    /// <summary>Prints to the console.</summary>
    public static void Print(IReadOnlyList<RunResult> runs)
    {
        TextTable.Print(Comparison.Titles(runs), Comparison.Rows(runs));
        foreach (var run in runs)
        {
            foreach (var text in run.ErrorTexts)
                Console.WriteLine($"{run.Optimize}: {text}");
        }
    }
}

/// <summary>The report of an experiment: one HTML file that needs nothing else.</summary>
public static class HtmlReport
{
    /// <summary>Writes the report of the runs.</summary>
    public static string Render(IReadOnlyList<RunResult> runs)
    {
        var first = runs[0];
        var page = new HtmlPage("Halo Presence");
        page.Paragraph(string.Create(CultureInfo.InvariantCulture,
            $"{first.Silos} silos, {first.Players:N0} players, {first.Rate:N0} status requests/s, {first.ChurnPerMinute:0.##} % of the players regroup per minute, seed {first.Seed}. ")
            + "The paper: 10 servers, 100,000 players, 6,000 requests/s; its absolute values are of other machines, shares and ratios "
            + "compare.");
        if (first.Rehearsal)
            page.Paragraph("Rehearsal: no grains ran. These are the costs of the harness.", strong: true);
        page.Table(Comparison.Titles(runs), Comparison.Rows(runs));
        foreach (var chart in Charts(runs))
            page.Figure(chart.Render());
        return page.End(runs);
    }

    private static IEnumerable<SvgChart> Charts(IReadOnlyList<RunResult> runs)
    {
        yield return OverTime("Remote share over time", runs, point => point.RemoteShare, percent: true);
        yield return new SvgChart
        {
            Title = "Latency: cumulative distribution",
            XLabel = "ms since the intended start (logarithmic)",
            LogX = true,
            Percent = true,
            Series = [.. runs.Select(
                run => new ChartSeries(Name(run), [.. run.Latency.Distribution().Select(p => (p.Milliseconds, p.Share))]))],
        };
        yield return OverTime("Silo CPU (cores, all silos)", runs, point => point.CpuCores);
        yield return OverTime("Moves (grains migrated per second)", runs, point => point.Moves);
    }

    private static SvgChart OverTime(
        string title, IReadOnlyList<RunResult> runs, Func<ConvergencePoint, double> value, bool percent = false) => new()
        {
            Title = title,
            XLabel = "seconds since the load began",
            Percent = percent,
            Series = [.. runs.Select(run => new ChartSeries(Name(run), [.. run.Convergence.Select(point => (point.T, value(point)))]))],
        };

    private static string Name(RunResult run) => OptimizeName.Of(run.Optimize);
}
