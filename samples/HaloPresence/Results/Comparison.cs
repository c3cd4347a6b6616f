using System.Globalization;
using HaloPresence.Options;

namespace HaloPresence.Results;

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
            Row("remote share seen by grains", runs, r => r.CheckedRemoteShare, "P1", ""),
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
        foreach (RunResult run in runs)
            cells.Add(value(run).ToString(format, CultureInfo.InvariantCulture));
        if (runs.Count > 1)
            cells.Add(value(runs[0]) > 0 ? "x " + (value(runs[^1]) / value(runs[0])).ToString("0.00", CultureInfo.InvariantCulture) : "-");
        cells.Add(paper);
        return [.. cells];
    }

    private static string Paper(double baseline, double partition) =>
        string.Create(CultureInfo.InvariantCulture, $"{baseline:0} -> {partition:0} (x {partition / baseline:0.00})");
}
