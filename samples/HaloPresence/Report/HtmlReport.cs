using System.Globalization;
using System.Net;
using System.Text;
using System.Text.Json;
using HaloPresence.Children;
using HaloPresence.Results;

namespace HaloPresence.Report;

/// <summary>The report of an experiment: one HTML file that needs nothing else.</summary>
public static class HtmlReport
{
    private const string Style = """
        :root { color-scheme: light dark; --ink: #1d1b18; --paper: #fbfaf7; --line: #d9d4ca; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e9e6df; --paper: #1b1a18; --line: #45413a; } }
        body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
        table { border-collapse: collapse; width: 100%; } th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; }
        th:first-child, td:first-child { text-align: left; } figure { margin: 2rem 0; } figcaption { font-weight: 600; }
        svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: var(--ink); } .grid { stroke: var(--line); }
        pre { overflow-x: auto; font-size: 12px; } .wide { overflow-x: auto; }
        """;

    /// <summary>Writes the report of the runs.</summary>
    public static string Render(IReadOnlyList<RunResult> runs)
    {
        var html = new StringBuilder("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">");
        html.Append("<meta name=\"viewport\" content=\"width=device-width\"><title>Halo Presence</title><style>").Append(Style).Append("</style></head><body>");
        AppendHead(html, runs[0]);
        AppendTable(html, runs);
        foreach (SvgChart chart in Charts(runs))
            html.Append(chart.Render());
        html.Append("<details><summary>Numbers as JSON</summary><pre>");
        html.Append(WebUtility.HtmlEncode(JsonSerializer.Serialize(runs, JsonLines.File)));
        return html.Append("</pre></details></body></html>").ToString();
    }

    private static void AppendHead(StringBuilder html, RunResult run)
    {
        html.Append("<h1>Halo Presence</h1>");
        html.Append(CultureInfo.InvariantCulture, $"<p>{run.Silos} silos, {run.Players:N0} players, {run.Rate:N0} status requests/s, {run.ChurnPerMinute:0.##} % of the players regroup per minute, seed {run.Seed}. ");
        html.Append("The paper: 10 servers, 100,000 players, 6,000 requests/s; its absolute values are of other machines, shares and ratios compare.</p>");
        if (run.Rehearsal)
            html.Append("<p><strong>Rehearsal: no grains ran. These are the costs of the harness.</strong></p>");
    }

    private static void AppendTable(StringBuilder html, IReadOnlyList<RunResult> runs)
    {
        html.Append("<div class=\"wide\"><table><tr>");
        foreach (string title in Comparison.Titles(runs))
            html.Append("<th>").Append(WebUtility.HtmlEncode(title)).Append("</th>");
        html.Append("</tr>");
        foreach (string[] row in Comparison.Rows(runs))
        {
            html.Append("<tr>");
            foreach (string cell in row)
                html.Append("<td>").Append(WebUtility.HtmlEncode(cell)).Append("</td>");
            html.Append("</tr>");
        }
        html.Append("</table></div>");
    }

    private static IEnumerable<SvgChart> Charts(IReadOnlyList<RunResult> runs)
    {
        yield return OverTime("Remote share over time", runs, point => point.RemoteShare, percent: true);
        yield return new SvgChart
        {
            Title = "Latency: cumulative distribution",
            XLabel = "ms since the intended start (logarithmic)",
            LogX = true,
            Percent = true,
            Series = [.. runs.Select(run => new ChartSeries(Name(run), [.. run.Latency.Distribution().Select(p => (p.Milliseconds, p.Share))]))],
        };
        yield return OverTime("Silo CPU (cores, all silos)", runs, point => point.CpuCores);
        yield return OverTime("Moves (grains migrated per second)", runs, point => point.Moves);
    }

    private static SvgChart OverTime(string title, IReadOnlyList<RunResult> runs, Func<ConvergencePoint, double> value, bool percent = false) => new()
    {
        Title = title,
        XLabel = "seconds since the load began",
        Percent = percent,
        Series = [.. runs.Select(run => new ChartSeries(Name(run), [.. run.Convergence.Select(point => (point.T, value(point)))]))],
    };

    private static string Name(RunResult run) => run.Optimize == "off" ? "random placement" : "ActOp";
}
