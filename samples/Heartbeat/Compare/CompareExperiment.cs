using System.CommandLine;
using Harness.Report;
using Heartbeat.Options;
using Heartbeat.Runs;

namespace Heartbeat.Compare;

/// <summary>Compares allocations under load.</summary>
public sealed class CompareExperiment() : Experiment(new HeartbeatOptions(), "heartbeat.json", "heartbeat.html")
{
    /// <summary>Starting and stopping the processes of a cell, in seconds; only to say how long it will take.</summary>
    private const double Overhead = 2.5;
    private readonly Option<Allocation[]> _allocations = ListOption.OfNames("--allocations", "What to compare.", Enum.GetValues<Allocation>());
    private readonly Option<LoadLevel[]> _loads = ListOption.OfNames("--loads", "50, 65 and 80 percent of the baseline's peak.", Enum.GetValues<LoadLevel>());
    private readonly Option<double[]> _blocking = ListOption.OfPercents("--blocking", "Percent of the requests that block their thread.", 0, 10);
    private readonly Option<int> _repeat = new("--repeat") { Description = "Passes over all cells, 1 to 100.", DefaultValueFactory = _ => 1 };

    /// <inheritdoc/>
    protected override IEnumerable<Option> OwnOptions => [_allocations, _loads, _blocking, _repeat];

    /// <inheritdoc/>
    protected override string? FindError(ParseResult parsed) =>
        parsed.GetValue(_repeat) is < 1 or > 100 ? $"--repeat must be 1 to 100, not {parsed.GetValue(_repeat)}." : null;

    /// <inheritdoc/>
    protected override async Task RunAsync(ParseResult parsed, CellRunner runner)
    {
        HeartbeatOptions options = runner.Options;
        IReadOnlyList<PlannedCell> plan = CellPlan.Build(parsed.GetValue(_allocations)!, parsed.GetValue(_loads)!, parsed.GetValue(_blocking)!, parsed.GetValue(_repeat));
        Console.WriteLine($"{plan.Count} cells, about {plan.Count * (CellRunner.CompileSeconds + options.Warmup + options.Measure + Overhead) / 60:0.0} minutes");
        var peaks = new Peaks(runner);
        var results = new List<CellResult>();
        foreach (PlannedCell cell in plan)
        {
            double rate = await peaks.RateAsync(cell.Load, cell.BlockingPercent).ConfigureAwait(false);
            string title = $"{results.Count + 1}/{plan.Count} {ListOption.Camel(cell.Allocation.ToString())}, {ListOption.Camel(cell.Load.ToString())} {rate:N0}/s, {cell.BlockingPercent} % blocking";
            var own = new CellOptions { Allocation = cell.Allocation, BlockingPercent = cell.BlockingPercent };
            results.Add(CellResult.Of(cell, rate, await runner.MeasureAsync(title, own, rate).ConfigureAwait(false)));
        }
        Print(options, results);
        Write(parsed, results, () => CompareReport.Render(options, results));
    }

    private static void Print(HeartbeatOptions options, List<CellResult> results)
    {
        TextTable.Print(CompareTable.Titles, CompareTable.Rows(results));
        foreach (string note in CompareTable.Notes(options, results))
            Console.WriteLine(note);
        foreach (CellResult result in results)
        {
            foreach (string text in result.ErrorTexts)
                Console.WriteLine($"{ListOption.Camel(result.Allocation.ToString())}, {ListOption.Camel(result.Load.ToString())}, {result.BlockingPercent} % blocking: {text}");
        }
    }
}
