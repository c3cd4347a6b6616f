using System.Xml.Linq;

namespace ActOp.Lab.Seda;

/// <summary>The result of the seda command as one HTML page that needs nothing else.</summary>
internal static class SedaPage
{
    private const string Style = """
        body { font: 14px system-ui, sans-serif; margin: 2em auto; max-width: 1300px; padding: 0 1em; color: #222; background: #fff }
        table { border-collapse: collapse; margin: 1em 0 2em } th, td { padding: 4px 10px; text-align: right; border-bottom: 1px solid #ddd } th:first-child, td:first-child { text-align: left }
        .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(480px, 1fr)); gap: 1em } svg { width: 100%; height: auto }
        .line { fill: none; stroke-width: 1.3 } .grid { stroke: #ddd; stroke-width: 1 } .label { font-size: 11px } .title { font-size: 13px; font-weight: 600 }
        """;

    public static string Write(SedaReport report)
    {
        var title = SedaTables.Title(report);
        XElement page = new(
            "html",
            new XAttribute("lang", "en"),
            new XElement("head", new XElement("meta", new XAttribute("charset", "utf-8")), new XElement("title", "Stages: " + title), new XElement("style", Style)),
            new XElement(
                "body",
                new XElement("h1", "Stages under each controller"),
                new XElement("p", title),
                Table(SedaTables.ControllerColumns, report.Controllers.Select(SedaTables.Row)),
                new XElement("div", new XAttribute("class", "charts"), report.Controllers.SelectMany(Charts)),
                new XElement("h2", "Equation (1) of the paper against the emulated server"),
                Table(SedaTables.ProxyColumns, report.Proxies.Select(proxy => SedaTables.Row(proxy, report.WithinShare)))));
        return "<!DOCTYPE html>\n" + page;
    }

    private static IEnumerable<XElement> Charts(ControllerReport report)
    {
        double[] minutes = [.. report.Samples.Select(static sample => sample.Seconds / 60)];
        yield return new LineChart($"{report.Controller}: events queued", minutes).Draw(Lines(report, static sample => sample.Queued), isStepped: false);
        yield return new LineChart($"{report.Controller}: threads", minutes).Draw(Lines(report, static sample => sample.Threads), isStepped: true);
    }

    private static (string Name, int[] Values)[] Lines(ControllerReport report, Func<SedaSample, IReadOnlyList<int>> pick) =>
        [.. Enumerable.Range(0, report.Samples[0].Threads.Count).Select(stage => ($"stage {stage + 1}", report.Samples.Select(sample => pick(sample)[stage]).ToArray()))];

    private static XElement Table(string[] columns, IEnumerable<string[]> rows) => new(
        "table",
        new XElement("tr", columns.Select(static column => new XElement("th", column))),
        rows.Select(static row => new XElement("tr", row.Select(static cell => new XElement("td", cell)))));
}
