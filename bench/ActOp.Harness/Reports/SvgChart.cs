using System.Globalization;
using System.Net;
using System.Text;

namespace ActOp.Harness.Reports;

/// <summary>A line chart as inline SVG, without scripts or other assets.</summary>
public sealed class SvgChart
{
    private const int Width = 720;
    private const int Height = 300;
    private const int Left = 64;
    private const int Right = 16;
    private const int Top = 16;
    private const int Bottom = 44;
    private const int LegendRow = 18;
    private const int LegendColumns = 2;
    private const int Ticks = 6;
    private const int MaxPoints = 1500;
    private static readonly string[] Colors = ["#b3541e", "#1f6f8b", "#5b7a29", "#7a3e9d", "#a68a00", "#c2417c", "#4a5a6a", "#2f9e75",
        "#8c564b", "#3b5bdb"];

    /// <summary>What the chart shows.</summary>
    public required string Title { get; init; }

    /// <summary>Label of the X axis, with its unit.</summary>
    public required string XLabel { get; init; }

    /// <summary>Whether Y values are shares, 0 to 1, shown as percent.</summary>
    public bool Percent { get; init; }

    /// <summary>Whether X is logarithmic; values must be positive then.</summary>
    public bool LogX { get; init; }

    /// <summary>Whether a value holds until the next point; otherwise lines are straight between points.</summary>
    public bool Stepped { get; init; }

    /// <summary>The lines.</summary>
    public required IReadOnlyList<ChartSeries> Series { get; init; }

    /// <summary>Writes a figure element.</summary>
    public string Render()
    {
        var points = Series.SelectMany(series => series.Points).ToList();
        var minX = points.Count > 0 ? points.Min(p => p.X) : 0;
        var maxX = points.Count > 0 ? points.Max(p => p.X) : 1;
        var maxY = Percent ? 1 : Math.Max(points.Count > 0 ? points.Max(p => p.Y) : 1, 1e-9);
        if (LogX)
        {
            minX = Math.Max(minX, 1e-3);
            maxX = Math.Max(maxX, minX * 10);
        }
        maxX = Math.Max(maxX, minX + 1e-9);
        var svg = new StringBuilder();
        svg.Append(CultureInfo.InvariantCulture, $"<figure><figcaption>{WebUtility.HtmlEncode(Title)}</figcaption>");
        svg.Append(CultureInfo.InvariantCulture,
            $"<svg viewBox=\"0 0 {Width} {Height + LegendHeight}\" role=\"img\" aria-label=\"{WebUtility.HtmlEncode(Title)}\">");
        AppendAxes(svg, minX, maxX, maxY);
        for (var i = 0; i < Series.Count; i++)
            AppendSeries(svg, i, p => (PlaceX(p.X, minX, maxX), PlaceY(p.Y, maxY)));
        return svg.Append("</svg></figure>").ToString();
    }

    /// <summary>The legend is below the chart, where it hides nothing.</summary>
    private int LegendHeight => LegendRow * ((Series.Count + LegendColumns - 1) / LegendColumns) + 4;

    private void AppendAxes(StringBuilder svg, double minX, double maxX, double maxY)
    {
        foreach (var tick in AxisTicks.Linear(0, maxY, Ticks))
        {
            var y = PlaceY(tick, maxY);
            svg.Append(
                CultureInfo.InvariantCulture, $"<line class=\"grid\" x1=\"{Left}\" x2=\"{Width - Right}\" y1=\"{y:0.#}\" y2=\"{y:0.#}\"/>");
            svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{Left - 6}\" y=\"{y + 4:0.#}\" text-anchor=\"end\">{YText(tick)}</text>");
        }
        foreach (var tick in LogX ? AxisTicks.Logarithmic(minX, maxX, 2 * Ticks) : AxisTicks.Linear(minX, maxX, Ticks))
        {
            var x = PlaceX(tick, minX, maxX);
            svg.Append(CultureInfo.InvariantCulture,
                $"<line class=\"grid\" x1=\"{x:0.#}\" x2=\"{x:0.#}\" y1=\"{Height - Bottom}\" y2=\"{Height - Bottom + 4}\"/>");
            svg.Append(CultureInfo.InvariantCulture,
                $"<text x=\"{x:0.#}\" y=\"{Height - Bottom + 18}\" text-anchor=\"middle\">{Short(tick)}</text>");
        }
        svg.Append(CultureInfo.InvariantCulture,
            $"<text x=\"{(Left + Width - Right) / 2}\" y=\"{Height - 6}\" text-anchor=\"middle\">{WebUtility.HtmlEncode(XLabel)}</text>");
    }

    private void AppendSeries(StringBuilder svg, int index, Func<(double X, double Y), (double X, double Y)> place)
    {
        var series = Series[index];
        var color = Colors[index % Colors.Length];
        var step = Math.Max(1, series.Points.Count / MaxPoints);
        svg.Append(CultureInfo.InvariantCulture, $"<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"1.8\"{Dashes(series)} points=\"");
        double before = 0;
        for (var i = 0; i < series.Points.Count; i += step)
        {
            (var x, var y) = place(series.Points[i]);
            if (Stepped && i > 0)
                svg.Append(CultureInfo.InvariantCulture, $"{x:0.#},{before:0.#} ");
            before = y;
            svg.Append(CultureInfo.InvariantCulture, $"{x:0.#},{y:0.#} ");
        }
        svg.Append("\"/>");
        var x0 = Left + index % LegendColumns * ((Width - Left) / LegendColumns);
        var at = Height + LegendRow * (index / LegendColumns) + 8;
        svg.Append(CultureInfo.InvariantCulture,
            $"<line x1=\"{x0}\" x2=\"{x0 + 24}\" y1=\"{at}\" y2=\"{at}\" stroke=\"{color}\" stroke-width=\"2.5\"{Dashes(series)}/>");
        svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{x0 + 30}\" y=\"{at + 4}\">{WebUtility.HtmlEncode(series.Name)}</text>");
    }

    private static string Dashes(ChartSeries series) => series.IsReference ? " stroke-dasharray=\"6 4\"" : "";

    private double PlaceX(double x, double min, double max)
    {
        var share = LogX ? Math.Log(Math.Max(x, min) / min) / Math.Log(max / min) : (x - min) / (max - min);
        return Left + share * (Width - Left - Right);
    }

    private static double PlaceY(double y, double max) => Height - Bottom - y / max * (Height - Top - Bottom);

    private string YText(double y) => Percent ? y.ToString("P0", CultureInfo.InvariantCulture) : Short(y);

    private static string Short(double value) => value switch
    {
        >= 1000 => value.ToString("N0", CultureInfo.InvariantCulture),
        >= 10 => value.ToString("0.#", CultureInfo.InvariantCulture),
        _ => value.ToString("0.####", CultureInfo.InvariantCulture),
    };
}

/// <summary>One line of a chart.</summary>
/// <param name="Name">Its name in the legend.</param>
/// <param name="Points">Its points, with ascending X.</param>
/// <param name="IsReference">Whether it was not measured here; its line is dashed.</param>
public sealed record ChartSeries(string Name, IReadOnlyList<(double X, double Y)> Points, bool IsReference = false);

/// <summary>Round numbers for an axis: 1, 2 or 5 times a power of ten apart.</summary>
public static class AxisTicks
{
    private static readonly int[] Factors = [1, 2, 5];

    /// <summary>
    /// The multiples of the smallest round step between two numbers of which there are at most <paramref name="most"/> and one more.
    /// </summary>
    public static IReadOnlyList<double> Linear(double from, double to, int most)
    {
        if (!(to > from) || !double.IsFinite(to - from))
            return [from];
        var magnitude = Math.Pow(10, Math.Floor(Math.Log10((to - from) / most)));
        var factor = Factors.Append(10).First(factor => factor * magnitude * most >= (to - from) * (1 - 1e-9));
        var step = factor * magnitude;
        var ticks = new List<double>();
        // A tick at the very end must not be lost to rounding.
        for (var i = Math.Ceiling((from / step) - 1e-9); i * step <= to + (1e-9 * step); i++)
            ticks.Add(Rounded(i * factor, magnitude));
        return ticks;
    }

    /// <summary>
    /// 1, 2 and 5 times the powers of ten between two positive numbers, or only the powers when there were more than
    /// <paramref name="most"/>; as <see cref="Linear"/>, half as many, when the range has less than two.
    /// </summary>
    public static IReadOnlyList<double> Logarithmic(double from, double to, int most)
    {
        var first = (int)Math.Floor(Math.Log10(from));
        var last = (int)Math.Ceiling(Math.Log10(to));
        double[] all = [.. Enumerable.Range(first, last - first + 1)
            .SelectMany(power => Factors.Select(factor => Rounded(factor, Math.Pow(10, power))))
            .Where(tick => tick >= from * (1 - 1e-9) && tick <= to * (1 + 1e-9))];
        if (all.Length > most)
            all = [.. all.Where(tick => Math.Abs(Math.Log10(tick) - Math.Round(Math.Log10(tick))) < 1e-9)];
        return all.Length >= 2 ? all : Linear(from, to, most / 2);
    }

    /// <summary>A product with a power of ten as the text of it reads: 3 x 0.1 is 0.3.</summary>
    private static double Rounded(double factor, double magnitude) =>
        // A zero that rounding has made negative would read as -0.
        0.0 + double.Parse((Math.Round(factor) * magnitude).ToString("G12", CultureInfo.InvariantCulture), CultureInfo.InvariantCulture);
}
