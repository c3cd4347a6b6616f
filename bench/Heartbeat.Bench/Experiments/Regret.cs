using System.Globalization;
using MathNet.Numerics.Statistics;

namespace Heartbeat.Bench.Experiments;

/// <summary>Threads of the two stages that decide, at the end of a measurement.</summary>
public sealed record StageThreads(int Receive, int Work)
{
    /// <summary>As text for tables.</summary>
    public override string ToString() => $"{Receive}/{Work}";
}

/// <summary>How much worse the model's choice was than the best other allocation, as written to JSON.</summary>
public sealed record Regret
{
    /// <summary>Up to here the model's choice is as good as the best.</summary>
    public const double Good = 1.15;

    /// <summary>Above, it is a bad one.</summary>
    public const double Bad = 1.5;

    /// <summary>Microseconds of processor time of every request.</summary>
    public required double ComputeUs { get; init; }

    /// <summary>Percent of the requests that blocked their thread.</summary>
    public required double BlockingPercent { get; init; }

    /// <summary>The load.</summary>
    public required LoadLevel Load { get; init; }

    /// <summary>Requests per second asked for.</summary>
    public required double Rate { get; init; }

    /// <summary>The best allocation beside the model; null when none was measured.</summary>
    public Allocation? Best { get; init; }

    /// <summary>The p99 of the best in ms: the median of <see cref="BestP99sMs"/>.</summary>
    public double? BestP99Ms { get; init; }

    /// <summary>The p99 of the model in ms: the median of <see cref="ModelP99sMs"/>.</summary>
    public double? ModelP99Ms { get; init; }

    /// <summary>The model's p99 over that of the best; null when one of them was not measured.</summary>
    public double? Ratio => ModelP99Ms / BestP99Ms;

    /// <summary>The p99 of the best in ms, one for each measurement.</summary>
    public double[] BestP99sMs { get; init; } = [];

    /// <summary>The p99 of the model in ms, one for each measurement.</summary>
    public double[] ModelP99sMs { get; init; } = [];

    /// <summary>The model's threads at the end of each measurement.</summary>
    public StageThreads[] ModelThreads { get; init; } = [];

    /// <summary>One for each load, in the order of the table; empty without the model or with nothing beside it.</summary>
    public static IReadOnlyList<Regret> Of(IReadOnlyList<CellResult> results)
    {
        Allocation[] allocations = [.. results.Select(result => result.Allocation).Distinct()];
        if (!allocations.Contains(Allocation.Model) || allocations.Length < 2)
            return [];
        return [.. results.GroupBy(CompareTable.Key).OrderBy(group => group.Key).Select(group => OfLoad([.. group]))];
    }

    private static Regret OfLoad(CellResult[] cells)
    {
        CellResult[] model = [.. cells.Where(cell => cell.Allocation == Allocation.Model).OrderBy(cell => cell.Repeat)];
        var best = cells.Where(cell => cell.Allocation != Allocation.Model)
            .GroupBy(cell => cell.Allocation, (_, others) => others.OrderBy(cell => cell.Repeat).ToArray())
            .MinBy(P99) ?? [];
        var bestP99 = Finite(P99(best));
        return new Regret
        {
            ComputeUs = cells[0].ComputeUs,
            BlockingPercent = cells[0].BlockingPercent,
            Load = cells[0].Load,
            Rate = cells[0].Rate,
            Best = bestP99 is null ? null : best[0].Allocation,
            BestP99Ms = bestP99,
            ModelP99Ms = Finite(P99(model)),
            BestP99sMs = Answered(best),
            ModelP99sMs = Answered(model),
            ModelThreads = [.. model.Select(cell => new StageThreads(cell.Threads.Receive, cell.Threads.Work))],
        };
    }

    /// <summary>The median; a measurement without an answer is worse than any other.</summary>
    private static double P99(CellResult[] cells) => cells
        .Select(cell => cell.Requests > 0 ? cell.LatencyMs.P99 : double.PositiveInfinity)
        .DefaultIfEmpty(double.PositiveInfinity)
        .Median();

    private static double? Finite(double p99) => double.IsFinite(p99) ? p99 : null;

    private static double[] Answered(CellResult[] cells) => [.. cells.Where(cell => cell.Requests > 0).Select(cell => cell.LatencyMs.P99)];
}

/// <summary>How many of the loads the model served well.</summary>
/// <param name="Cells">Loads.</param>
/// <param name="Good">Those with a regret of at most <see cref="Regret.Good"/>.</param>
/// <param name="Bad">Those with one above <see cref="Regret.Bad"/>.</param>
/// <param name="NotMeasured">Those without one.</param>
public sealed record RegretCount(int Cells, int Good, int Bad, int NotMeasured)
{
    /// <summary>Counts them.</summary>
    public static RegretCount Of(IReadOnlyList<Regret> regrets) => new(
        regrets.Count,
        regrets.Count(one => one.Ratio <= Regret.Good),
        regrets.Count(one => one.Ratio > Regret.Bad),
        regrets.Count(one => one.Ratio is null));

    /// <inheritdoc/>
    public override string ToString()
    {
        var rest = NotMeasured > 0 ? $"; {NotMeasured} not measured" : "";
        return FormattableString.Invariant($"Regret: at most {Regret.Good} in {Good} of {Cells} cells, above {Regret.Bad} in {Bad}{rest}.");
    }
}

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
