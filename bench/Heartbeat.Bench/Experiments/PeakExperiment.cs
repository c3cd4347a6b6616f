using System.CommandLine;
using System.Globalization;
using ActOp.Harness.Reports;
using Heartbeat.Bench.Runs;
using MathNet.Numerics.Statistics;

namespace Heartbeat.Bench.Experiments;

/// <summary>The highest rate of an open loop that silo and load client keep up with, for each allocation, in turns.</summary>
public sealed class PeakExperiment() : Experiment(new HeartbeatOptions())
{
    private readonly Option<Allocation[]> _allocations = ListOption.OfNames(
        "--allocations", "What to compare.", Allocation.ThreadPool, Allocation.Model);
    private readonly Option<int> _repeat =
        new("--repeat") { Description = "Passes over all allocations, 1 to 100.", DefaultValueFactory = _ => 3 };
    private readonly Option<double> _compute = WorkChoice.ComputeOption();

    /// <inheritdoc/>
    protected override IEnumerable<Option> OwnOptions => [_allocations, _repeat, _compute];

    /// <inheritdoc/>
    protected override string? FindError(ParseResult parsed) =>
        parsed.GetValue(_repeat) is < 1 or > 100
            ? $"--repeat must be 1 to 100, not {parsed.GetValue(_repeat)}."
            : WorkChoice.FindComputeError(parsed.GetValue(_compute));

    /// <inheritdoc/>
    protected override async Task RunAsync(ParseResult parsed, CellRunner runner)
    {
        var allocations = parsed.GetValue(_allocations)!;
        var peaks = allocations.ToDictionary(allocation => allocation, _ => new List<double>());
        for (var pass = 1; pass <= parsed.GetValue(_repeat); pass++)
        {
            foreach (var allocation in allocations)
            {
                var title = $"pass {pass}, peak of {ListOption.Camel(allocation.ToString())}";
                peaks[allocation].Add(await Peaks.SearchAsync(runner, allocation, parsed.GetValue(_compute), title).ConfigureAwait(false));
            }
        }
        PeakResult[] results = [.. allocations.Select(allocation => new PeakResult(allocation, [.. peaks[allocation]]))];
        TextTable.Print(Titles, Rows(results));
        Write(parsed, results, () => new HtmlPage("Heartbeat: peak throughput").Table(Titles, Rows(results)).End(results));
    }

    private static readonly string[] Titles = ["allocation", "least requests/s", "median", "most", "median relative to the first"];

    /// <summary>One row for each allocation.</summary>
    public static IEnumerable<string[]> Rows(IReadOnlyList<PeakResult> results) =>
        from result in results
        select (string[])
        [
            ListOption.Camel(result.Allocation.ToString()),
            result.Peaks.Min().ToString("N0", CultureInfo.InvariantCulture),
            result.Median.ToString("N0", CultureInfo.InvariantCulture),
            result.Peaks.Max().ToString("N0", CultureInfo.InvariantCulture),
            (result.Median / results[0].Median).ToString("0.00", CultureInfo.InvariantCulture),
        ];
}

/// <summary>The peaks of an allocation, as written to JSON.</summary>
/// <param name="Allocation">Who gave the stages their threads.</param>
/// <param name="Peaks">Requests per second, one for each pass.</param>
public sealed record PeakResult(Allocation Allocation, double[] Peaks)
{
    /// <summary>Their median.</summary>
    public double Median => Peaks.Median();
}
