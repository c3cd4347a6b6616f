using System.Globalization;
using Heartbeat.Options;
using Heartbeat.Runs;
using MathNet.Numerics.Statistics;

namespace Heartbeat.Compare;

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
        double seconds = options.Warmup + options.Measure;
        yield return FormattableString.Invariant(
            $"queueLength decides every {options.QueuePeriod:0.##} s (paper: 30 s, which a load of {seconds:0.##} s would never see).");
        foreach (double percent in results.Select(result => result.BlockingPercent).Where(percent => percent > 0).Distinct().Order())
        {
            double Limit(int workers) => Peaks.Limit(workers, percent, options.BlockingMs);
            yield return string.Create(CultureInfo.InvariantCulture, $"With {percent:0.##} % of the calls blocking {options.BlockingMs:0.##} ms, {Environment.ProcessorCount} workers can answer at most {Limit(Environment.ProcessorCount):N0} requests/s, eight {Limit(8):N0}; loads are shares of no more than {Peaks.BlockingFactor} times the former.");
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
        cores.Length > 0 && Median(cores, value) > 0 ? (Median(cells, value) / Median(cores, value)).ToString("0.00", CultureInfo.InvariantCulture) : "-";

    private static string Text(CellResult[] cells, Func<CellResult, double> value, string format) => Median(cells, value).ToString(format, CultureInfo.InvariantCulture);

    private static double Median(CellResult[] cells, Func<CellResult, double> value) => cells.Select(value).Median();
}
