using System.Net;
using System.Text;
using System.Text.Json;
using ActOp.Harness.Processes;

namespace ActOp.Harness.Reports;

/// <summary>The report of an experiment: one HTML file that needs nothing else.</summary>
public sealed class HtmlPage
{
    private const string Style = """
        :root { color-scheme: light dark; --ink: #1d1b18; --paper: #fbfaf7; --line: #d9d4ca; --link: #1a5fb4; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e9e6df; --paper: #1b1a18; --line: #45413a; --link: #8ab4f8; } }
        body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
        table { border-collapse: collapse; width: 100%; } th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
        .number { text-align: right; font-variant-numeric: tabular-nums; } a { color: var(--link); } figure { margin: 2rem 0; } figcaption { font-weight: 600; }
        svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: var(--ink); } .grid { stroke: var(--line); }
        pre { overflow-x: auto; font-size: 12px; } .wide { overflow-x: auto; }
        """;

    private readonly StringBuilder _html = new("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">");

    /// <summary>Begins the page.</summary>
    public HtmlPage(string title)
    {
        var text = WebUtility.HtmlEncode(title);
        _html.Append("<meta name=\"viewport\" content=\"width=device-width\"><title>").Append(text).Append("</title><style>").Append(Style)
            .Append("</style></head><body>");
        _html.Append("<h1>").Append(text).Append("</h1>");
    }

    /// <summary>Adds a paragraph.</summary>
    public HtmlPage Paragraph(string text, bool strong = false)
    {
        var encoded = WebUtility.HtmlEncode(text);
        _html.Append("<p>").Append(strong ? $"<strong>{encoded}</strong>" : encoded).Append("</p>");
        return this;
    }

    /// <summary>Adds the heading of a part; <paramref name="anchor"/> is where links of the page can lead.</summary>
    public HtmlPage Heading(string text, string? anchor = null)
    {
        var id = anchor is null ? "" : $" id=\"{WebUtility.HtmlEncode(anchor)}\"";
        _html.Append("<h2").Append(id).Append('>').Append(WebUtility.HtmlEncode(text)).Append("</h2>");
        return this;
    }

    /// <summary>
    /// Adds a table; columns of numbers are on the right. <paramref name="link"/> gives the anchor that the cell <paramref name="column"/> of a row leads to, null for none.
    /// </summary>
    public HtmlPage Table(
        IReadOnlyList<string> titles, IEnumerable<IReadOnlyList<string>> rows, Func<IReadOnlyList<string>, string?>? link = null,
        int column = 0)
    {
        var all = rows.ToList();
        bool[] numbers = [.. titles.Select((_, index) => index > 0 && all.TrueForAll(row => IsNumber(row[index])))];
        _html.Append("<div class=\"wide\"><table>");
        AppendRow("th", titles, numbers, null, 0);
        foreach (var row in all)
            AppendRow("td", row, numbers, link?.Invoke(row), column);
        _html.Append("</table></div>");
        return this;
    }

    /// <summary>Adds lines as they are, for instance commands.</summary>
    public HtmlPage Code(IEnumerable<string> lines)
    {
        _html.Append("<pre>").Append(WebUtility.HtmlEncode(string.Join('\n', lines))).Append("</pre>");
        return this;
    }

    /// <summary>Adds a figure as its chart rendered it.</summary>
    public HtmlPage Figure(string figure)
    {
        _html.Append(figure);
        return this;
    }

    /// <summary>Ends the page with the numbers as JSON, and returns it.</summary>
    public string End<T>(T results)
    {
        _html.Append("<details><summary>Numbers as JSON</summary><pre>");
        _html.Append(WebUtility.HtmlEncode(JsonSerializer.Serialize(results, JsonLines.File)));
        _html.Append("</pre></details>");
        return End();
    }

    /// <summary>Ends the page, and returns it.</summary>
    public string End() => _html.Append("</body></html>").ToString();

    /// <summary>Whether a cell begins as a number does, or has none.</summary>
    private static bool IsNumber(string cell) => cell.TrimStart('-', 'x', ' ') is "" or [>= '0' and <= '9', ..];

    private void AppendRow(string element, IReadOnlyList<string> cells, bool[] numbers, string? anchor, int column)
    {
        _html.Append("<tr>");
        for (var index = 0; index < cells.Count; index++)
        {
            var text = WebUtility.HtmlEncode(cells[index]);
            var cell = anchor is not null && index == column ? $"<a href=\"#{WebUtility.HtmlEncode(anchor)}\">{text}</a>" : text;
            var style = numbers[index] ? " class=\"number\"" : "";
            _html.Append('<').Append(element).Append(style).Append('>').Append(cell).Append("</").Append(element).Append('>');
        }

        _html.Append("</tr>");
    }
}
