using System.Globalization;
using System.Text;
using System.Xml.Linq;

namespace ActOp.Lab.Seda;

/// <summary>Draws lines over time as SVG.</summary>
/// <param name="title">Above the chart.</param>
/// <param name="minutes">The times of the points.</param>
internal sealed class LineChart(string title, double[] minutes)
{
    private const double Width = 620;
    private const double Height = 260;
    private const double Left = 48;
    private const double Top = 28;
    private const double Bottom = 32;
    private const double Right = 8;
    private const int Ticks = 6;
    private const double LegendStep = 60;
    private const double LegendWidth = 400;

    private static readonly XNamespace Svg = "http://www.w3.org/2000/svg";
    private static readonly string[] Colours = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"];

    /// <summary>Draws.</summary>
    /// <param name="lines">A line for each name.</param>
    /// <param name="isStepped">Values hold until the next point.</param>
    public XElement Draw(IReadOnlyList<(string Name, int[] Values)> lines, bool isStepped)
    {
        var last = Math.Max(minutes[^1], double.Epsilon);
        double top = Math.Max(1, lines.Max(static line => line.Values.Max()));
        XElement svg = new(Svg + "svg", new XAttribute("viewBox", $"0 0 {Width} {Height}"), new XAttribute("role", "img"), Text(Left, 16, title, "start", "title"));
        foreach (var tick in TicksTo(top))
            svg.Add(Line(Left, Y(tick), Width - Right, Y(tick)), Text(Left - 5, Y(tick) + 4, Number(tick), "end"));
        foreach (var tick in TicksTo(last))
            svg.Add(Line(X(tick), Height - Bottom, X(tick), Height - Bottom + 4), Text(X(tick), Height - Bottom + 16, Number(tick), "middle"));
        svg.Add(Text(Width - Right, Height - 2, "minutes", "end"));
        for (var i = 0; i < lines.Count; i++)
        {
            var colour = Colours[i % Colours.Length];
            var name = Text(Width - Right - ((lines.Count - 1 - i) * Math.Min(LegendStep, LegendWidth / lines.Count)), 16, lines[i].Name, "end");
            name.Add(new XAttribute("fill", colour));
            svg.Add(new XElement(Svg + "path", new XAttribute("d", Path(lines[i].Values)), new XAttribute("stroke", colour), new XAttribute("class", "line")), name);
        }

        return svg;

        double X(double value) => Left + (value / last * (Width - Left - Right));

        double Y(double value) => Height - Bottom - (value / top * (Height - Top - Bottom));

        string Path(int[] values)
        {
            StringBuilder path = new();
            for (var i = 0; i < values.Length; i++)
            {
                if (isStepped && i > 0)
                    path.Append(CultureInfo.InvariantCulture, $"H{X(minutes[i]):0.#}V{Y(values[i]):0.#}");
                else
                    path.Append(CultureInfo.InvariantCulture, $"{(i == 0 ? 'M' : 'L')}{X(minutes[i]):0.#} {Y(values[i]):0.#}");
            }

            return path.ToString();
        }
    }

    /// <summary>Round numbers from 0 to the largest value.</summary>
    private static IEnumerable<double> TicksTo(double largest)
    {
        var magnitude = Math.Pow(10, Math.Floor(Math.Log10(largest / Ticks)));
        var step = magnitude * new[] { 1, 2, 5, 10 }.First(factor => factor * magnitude * Ticks >= largest);
        for (var i = 0; i * step <= largest; i++)
            yield return i * step;
    }

    private static XElement Line(double x1, double y1, double x2, double y2) => new(
        Svg + "path", new XAttribute("d", string.Create(CultureInfo.InvariantCulture, $"M{x1:0.#} {y1:0.#}L{x2:0.#} {y2:0.#}")), new XAttribute("class", "grid"));

    private static XElement Text(double x, double y, string text, string anchor, string name = "label") => new(
        Svg + "text", new XAttribute("x", Number(x)), new XAttribute("y", Number(y)), new XAttribute("text-anchor", anchor), new XAttribute("class", name), text);

    private static string Number(double number) => number.ToString("0.###", CultureInfo.InvariantCulture);
}
