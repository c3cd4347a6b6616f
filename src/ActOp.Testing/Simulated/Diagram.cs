using System.Globalization;
using System.Net;
using System.Text;

namespace ActOp.Testing.Simulated;

/// <summary>Draws a story as a sequence diagram. Pure.</summary>
internal static class Diagram
{
    /// <summary>The test and its client, as one that takes part.</summary>
    internal const string Test = "test";

    /// <summary>All storages.</summary>
    internal const string Storage = "storage";

    private const int Column = 230;
    private const int Row = 26;
    private const int Margin = 120;
    private const int Longest = 90;

    /// <summary>The text of a Mermaid diagram, which Markdown pages of many sites show.</summary>
    internal static string Mermaid(IReadOnlyList<StoryLine> lines)
    {
        var names = Participants(lines);
        var text = new StringBuilder("sequenceDiagram\n");
        for (var i = 0; i < names.Count; i++)
            text.Append(CultureInfo.InvariantCulture, $"  participant p{i} as {Plain(names[i])}\n");
        foreach (var line in lines)
        {
            if (line.Arrow is { } arrow)
            {
                var (from, to) = (names.IndexOf(arrow.From), names.IndexOf(arrow.To));
                text.Append(
                    CultureInfo.InvariantCulture, $"  p{from}{(arrow.IsLost ? "--x" : "->>")}p{to}: {line.Step}: {Plain(arrow.Text)}\n");
            }
            else
            {
                var over = names.Count == 1 ? "p0" : "p0,p" + (names.Count - 1).ToString(CultureInfo.InvariantCulture);
                text.Append(CultureInfo.InvariantCulture, $"  Note over {over}: {line.Step}: {Plain(line.Who + " " + line.What)}\n");
            }
        }

        return text.ToString();
    }

    /// <summary>The same as a picture.</summary>
    internal static string Svg(IReadOnlyList<StoryLine> lines)
    {
        var names = Participants(lines);
        var (width, height) = ((2 * Margin) + (Column * Math.Max(3, names.Count - 1)), Row * (lines.Count + 3));
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $$"""
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{width}} {{height}}" width="{{width}}" height="{{height}}" role="img"
              aria-label="Sequence of a simulation">
            <style>text { font: 12px sans-serif; fill: #1b1b1b } .time { fill: #666 } line, path { stroke: #555; fill: none }
              .life { stroke: #ccc } .lost { stroke: #b00020 } text.lost { stroke: none; fill: #b00020 } rect { fill: #fff }
              .note { fill: #f3f0e4 }</style>
            <defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
              <path d="M0,0L8,4L0,8"/></marker></defs>
            <rect width="{{width}}" height="{{height}}"/>

            """);
        for (var i = 0; i < names.Count; i++)
        {
            var x = XOf(i);
            text.Append(CultureInfo.InvariantCulture,
                $"<line class=\"life\" x1=\"{x}\" y1=\"{Row + 6}\" x2=\"{x}\" y2=\"{height - 6}\"/>"
                + $"<text x=\"{x}\" y=\"{Row}\" text-anchor=\"middle\">{Marked(names[i])}</text>\n");
        }

        for (var i = 0; i < lines.Count; i++)
            Draw(text, lines[i], names, (i + 2) * Row, width);
        return text.Append("</svg>\n").ToString();
    }

    private static void Draw(StringBuilder text, StoryLine line, List<string> names, int y, int width)
    {
        text.Append(CultureInfo.InvariantCulture, $"<text class=\"time\" x=\"4\" y=\"{y + 4}\">{line.Step}</text>");
        if (line.Arrow is not { } arrow)
        {
            text.Append(CultureInfo.InvariantCulture,
                $"<rect class=\"note\" x=\"{Margin - 50}\" y=\"{y - 10}\" width=\"{width - Margin}\" height=\"19\"/>"
                + $"<text x=\"{Margin - 44}\" y=\"{y + 4}\">{Marked(line.Who + " " + line.What)}</text>\n");
            return;
        }

        var (from, to) = (XOf(names.IndexOf(arrow.From)), XOf(names.IndexOf(arrow.To)));
        var kind = arrow.IsLost ? " class=\"lost\" stroke-dasharray=\"5 3\"" : "";
        // A grain that calls itself has a loop.
        var path = from == to ? string.Create(CultureInfo.InvariantCulture, $"M{from},{y - 4}h24v8H{to}")
            : string.Create(CultureInfo.InvariantCulture, $"M{from},{y + 6}H{to}");
        var at = from == to ? from + 30 : Math.Min(from, to) + 8;
        text.Append(CultureInfo.InvariantCulture, $"<path{kind} marker-end=\"url(#head)\" d=\"{path}\"/>"
            + $"<text{(arrow.IsLost ? " class=\"lost\"" : "")} x=\"{at}\" y=\"{y + 2}\">{Marked(arrow.Text)}</text>\n");
    }

    private static int XOf(int participant) => Margin + (participant * Column);

    /// <summary>Whoever sends or gets a message, in the order of their first one; the test, if there is none.</summary>
    private static List<string> Participants(IReadOnlyList<StoryLine> lines)
    {
        List<string> names = [Test];
        foreach (var line in lines)
        {
            if (line.Arrow is not { } arrow)
                continue;
            foreach (var name in (string[])[arrow.From, arrow.To])
            {
                if (!names.Contains(name))
                    names.Add(name);
            }
        }

        return names;
    }

    private static string Shortened(string text) => text.Length > Longest ? text[..Longest] + "..." : text;

    private static string Marked(string text) => WebUtility.HtmlEncode(Shortened(text.ReplaceLineEndings(" ")));

    /// <summary>Without what Mermaid reads as the end of a text or as a mark.</summary>
    private static string Plain(string text) => Shortened(text.ReplaceLineEndings(" ")).Replace(';', ',').Replace('#', ' ');
}
