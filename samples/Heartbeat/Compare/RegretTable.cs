using System.Globalization;
using Heartbeat.Options;

namespace Heartbeat.Compare;

/// <summary>The regret as a table.</summary>
public static class RegretTable
{
    /// <summary>Column titles that fit <see cref="Rows"/>.</summary>
    public static string[] Titles { get; } = ["load", "best other", "p99 ms (all)", "model p99 ms (all)", "regret", "model's threads"];

    /// <summary>What one must know to read the table.</summary>
    public static IEnumerable<string> Notes(IReadOnlyList<Regret> regrets) =>
    [
        "regret = p99 of model over p99 of the best other allocation, medians over repeats; all: the least and the most of them; "
            + "threads = receive/work at the end of each measurement.",
        RegretCount.Of(regrets).ToString(),
    ];

    /// <summary>One row for each load.</summary>
    public static IReadOnlyList<string[]> Rows(IReadOnlyList<Regret> regrets) => [.. regrets.Select(one => (string[])
    [
        CompareTable.Describe(one.Load, one.Rate, one.ComputeUs, one.BlockingPercent),
        one.Best is null ? "-" : ListOption.Camel(one.Best.Value.ToString()),
        Latency(one.BestP99Ms, one.BestP99sMs),
        Latency(one.ModelP99Ms, one.ModelP99sMs),
        Text(one.Ratio, "0.00") + (one.Ratio > Regret.Bad ? " !" : ""),
        string.Join(' ', one.ModelThreads.Select(threads => threads.ToString())),
    ])];

    private static string Latency(double? median, double[] all) =>
        all.Length == 0 ? "-" : $"{Text(median, "0.00")} ({Text(all.Min(), "0.00")}-{Text(all.Max(), "0.00")})";

    private static string Text(double? value, string format) =>
        value is null ? "-" : value.Value.ToString(format, CultureInfo.InvariantCulture);
}
