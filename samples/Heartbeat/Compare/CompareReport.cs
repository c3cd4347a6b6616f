using System.Globalization;
using Harness.Load;
using Harness.Report;
using Heartbeat.Options;

namespace Heartbeat.Compare;

/// <summary>The comparison as an HTML page.</summary>
public static class CompareReport
{
    /// <summary>Writes it.</summary>
    public static string Render(HeartbeatOptions options, IReadOnlyList<CellResult> results)
    {
        var page = new HtmlPage("Heartbeat");
        page.Paragraph(string.Create(CultureInfo.InvariantCulture, $"One silo, {options.Clients:N0} {ListOption.Camel(options.Application.ToString())} grains, open-loop load, {Environment.ProcessorCount} cores that the silo and the load client share."));
        page.Table(CompareTable.Titles, CompareTable.Rows(results));
        foreach (string note in CompareTable.Notes(options, results))
            page.Paragraph(note);
        foreach (var load in results.GroupBy(result => (result.BlockingPercent, result.Load)).OrderBy(group => group.Key))
            page.Figure(Chart([.. load]).Render());
        return page.End(results);
    }

    private static SvgChart Chart(CellResult[] cells) => new()
    {
        Title = string.Create(CultureInfo.InvariantCulture, $"Latency: cumulative distribution, {ListOption.Camel(cells[0].Load.ToString())} load, {cells[0].BlockingPercent:0.##} % blocking"),
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
