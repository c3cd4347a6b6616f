using System.Globalization;
using Heartbeat.Options;

namespace Heartbeat.Breakdown;

/// <summary>The parts of a request as a table: one column for each allocation.</summary>
public static class BreakdownTable
{
    /// <summary>What one must know to read it.</summary>
    public const string Note =
        "Mean times of a request: waiting in a stage's queue and its processing there are read off the runtime's counters, network is the median of a bare echo over loopback, "
        + "other is the rest of the latency at the client: waiting for a processor, the client itself. Threads that read may run turns and turns may write their replies: then a stage has no queue and little to do.";

    /// <summary>Column titles that fit <see cref="Rows"/>.</summary>
    public static string[] Titles(IReadOnlyList<BreakdownResult> results) =>
        ["", .. results.SelectMany(result => (string[])[ListOption.Camel(result.Allocation.ToString()) + " us", "share"])];

    /// <summary>One row for each part, then what stands around it.</summary>
    public static IReadOnlyList<string[]> Rows(IReadOnlyList<BreakdownResult> results)
    {
        var rows = new List<string[]>();
        for (int i = 0; i < results[0].Parts.Length; i++)
            rows.Add([results[0].Parts[i].Name, .. results.SelectMany(result => (string[])[Micros(result.Parts[i].Ms), Share(result.Parts[i].Ms, result.MeanMs)])]);
        rows.Add(["mean latency", .. results.SelectMany(result => (string[])[Micros(result.MeanMs), ""])]);
        rows.Add(["requests/s", .. results.SelectMany(result => (string[])[result.Rate.ToString("N0", CultureInfo.InvariantCulture), ""])]);
        rows.Add(["errors", .. results.SelectMany(result => (string[])[result.Errors.ToString("N0", CultureInfo.InvariantCulture), ""])]);
        rows.Add(["silo CPU %", .. results.SelectMany(result => (string[])[result.CpuPercent.ToString("0", CultureInfo.InvariantCulture), ""])]);
        rows.Add(["threads r/w/s/c", .. results.SelectMany(result => (string[])[result.Threads.ToString(), ""])]);
        return rows;
    }

    private static string Micros(double milliseconds) => (1000 * milliseconds).ToString("0.0", CultureInfo.InvariantCulture);

    private static string Share(double part, double whole) => whole > 0 ? (part / whole).ToString("P0", CultureInfo.InvariantCulture) : "-";
}
