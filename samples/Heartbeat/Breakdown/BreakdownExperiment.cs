using System.CommandLine;
using Harness.Report;
using Heartbeat.Options;
using Heartbeat.Report;
using Heartbeat.Runs;

namespace Heartbeat.Breakdown;

/// <summary>Shows where the time of a request goes (paper, Figure 4).</summary>
public sealed class BreakdownExperiment() : Experiment(new HeartbeatOptions { Application = Application.Counter, Measure = 8 })
{
    private readonly LoadChoice _load = new(LoadLevel.Middle);
    private readonly Option<Allocation[]> _allocations = ListOption.OfNames("--allocations", "What to look at.", Allocation.Cores, Allocation.Eight, Allocation.Model);

    /// <inheritdoc/>
    protected override IEnumerable<Option> OwnOptions => [.. _load.Options, _allocations];

    /// <inheritdoc/>
    protected override string? FindError(ParseResult parsed) => _load.FindError(parsed);

    /// <inheritdoc/>
    protected override async Task RunAsync(ParseResult parsed, CellRunner runner)
    {
        double networkMs = LoopbackFloor.MeasureMs();
        double rate = await _load.RateAsync(parsed, runner).ConfigureAwait(false);
        var results = new List<BreakdownResult>();
        foreach (Allocation allocation in parsed.GetValue(_allocations)!)
        {
            CellOptions cell = _load.Cell(parsed) with { Allocation = allocation };
            CellRun run = await runner.MeasureAsync($"{ListOption.Camel(allocation.ToString())}, {rate:N0}/s", cell, rate).ConfigureAwait(false);
            results.Add(BreakdownResult.Of(allocation, run, networkMs));
        }
        TextTable.Print(BreakdownTable.Titles(results), BreakdownTable.Rows(results));
        Console.WriteLine(BreakdownTable.Note);
        Write(parsed, results, () => Render(results));
    }

    /// <summary>The report.</summary>
    public static string Render(IReadOnlyList<BreakdownResult> results) => new HtmlPage("Heartbeat: where the time goes")
        .Table(BreakdownTable.Titles(results), BreakdownTable.Rows(results))
        .Paragraph(BreakdownTable.Note)
        .Figure(StackedBars.Render(
            "Mean time of a request (us)",
            [.. results.Select(result => (ListOption.Camel(result.Allocation.ToString()), (IReadOnlyList<(string, double)>)[.. result.Parts.Select(part => (part.Name, 1000 * part.Ms))]))]))
        .End(results);
}
