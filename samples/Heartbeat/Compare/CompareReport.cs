using System.Globalization;
using Harness.Load;
using Harness.Report;
using Heartbeat.Options;

namespace Heartbeat.Compare;

/// <summary>The comparison as an HTML page.</summary>
public static class CompareReport
{
    /// <summary>Writes it.</summary>
    public static string Render(HeartbeatOptions options, CompareResult result)
    {
        IReadOnlyList<CellResult> results = result.Cells;
        var page = new HtmlPage("Heartbeat");
        page.Paragraph(string.Create(CultureInfo.InvariantCulture, $"One silo, {options.Clients:N0} {ListOption.Camel(options.Application.ToString())} grains, open-loop load, {Environment.ProcessorCount} cores that the silo and the load client share."));
        page.Table(CompareTable.Titles, CompareTable.Rows(results));
        foreach (string note in CompareTable.Notes(options, results))
            page.Paragraph(note);
        if (result.Regret.Count > 0)
            page.Table(RegretTable.Titles, RegretTable.Rows(result.Regret));
        foreach (string note in RegretTable.Notes(result.Regret).TakeWhile(_ => result.Regret.Count > 0))
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
        Series = [.. cells.GroupBy(cell => cell.Allocation).OrderBy(group => group.Key).Select(group => new ChartSeries(ListOption.Camel(group.Key.ToString()), Points(group)))],
    };

    private static (double, double)[] Points(IEnumerable<CellResult> repeats)
    {
        var all = new LatencyHistogram();
        foreach (CellResult repeat in repeats)
            all.Merge(repeat.Latency);
        return [.. all.Distribution()];
    }
}
