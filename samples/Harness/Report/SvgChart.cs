using System.Globalization;
using System.Net;
using System.Text;

namespace Harness.Report;

/// <summary>A line chart as inline SVG, without scripts or other assets.</summary>
public sealed class SvgChart
{
    private const int Width = 720;
    private const int Height = 300;
    private const int Left = 64;
    private const int Right = 16;
    private const int Top = 16;
    private const int Bottom = 44;
    private const int Ticks = 5;
    private const int MaxPoints = 1500;
    private static readonly string[] Colors = ["#b3541e", "#1f6f8b", "#5b7a29", "#7a3e9d", "#a68a00"];

    /// <summary>What the chart shows.</summary>
    public required string Title { get; init; }

    /// <summary>Label of the X axis, with its unit.</summary>
    public required string XLabel { get; init; }

    /// <summary>Whether Y values are shares, 0 to 1, shown as percent.</summary>
    public bool Percent { get; init; }

    /// <summary>Whether X is logarithmic; values must be positive then.</summary>
    public bool LogX { get; init; }

    /// <summary>The lines.</summary>
    public required IReadOnlyList<ChartSeries> Series { get; init; }

    /// <summary>Writes a figure element.</summary>
    public string Render()
    {
        var points = Series.SelectMany(series => series.Points).ToList();
        double minX = points.Count > 0 ? points.Min(p => p.X) : 0;
        double maxX = points.Count > 0 ? points.Max(p => p.X) : 1;
        double maxY = Percent ? 1 : Math.Max(points.Count > 0 ? points.Max(p => p.Y) : 1, 1e-9);
        if (LogX)
        {
            minX = Math.Max(minX, 1e-3);
            maxX = Math.Max(maxX, minX * 10);
        }
        maxX = Math.Max(maxX, minX + 1e-9);
        var svg = new StringBuilder();
        svg.Append(CultureInfo.InvariantCulture, $"<figure><figcaption>{WebUtility.HtmlEncode(Title)}</figcaption>");
        svg.Append(CultureInfo.InvariantCulture, $"<svg viewBox=\"0 0 {Width} {Height}\" role=\"img\" aria-label=\"{WebUtility.HtmlEncode(Title)}\">");
        AppendAxes(svg, minX, maxX, maxY);
        for (int i = 0; i < Series.Count; i++)
            AppendSeries(svg, i, p => (PlaceX(p.X, minX, maxX), PlaceY(p.Y, maxY)));
        return svg.Append("</svg></figure>").ToString();
    }

    private void AppendAxes(StringBuilder svg, double minX, double maxX, double maxY)
    {
        for (int i = 0; i <= Ticks; i++)
        {
            double share = (double)i / Ticks;
            double y = PlaceY(share * maxY, maxY);
            svg.Append(CultureInfo.InvariantCulture, $"<line class=\"grid\" x1=\"{Left}\" x2=\"{Width - Right}\" y1=\"{y:0.#}\" y2=\"{y:0.#}\"/>");
            svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{Left - 6}\" y=\"{y + 4:0.#}\" text-anchor=\"end\">{YText(share * maxY)}</text>");
            double value = LogX ? minX * Math.Pow(maxX / minX, share) : minX + share * (maxX - minX);
            svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{PlaceX(value, minX, maxX):0.#}\" y=\"{Height - Bottom + 18}\" text-anchor=\"middle\">{Short(value)}</text>");
        }
        svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{(Left + Width - Right) / 2}\" y=\"{Height - 6}\" text-anchor=\"middle\">{WebUtility.HtmlEncode(XLabel)}</text>");
    }

    private void AppendSeries(StringBuilder svg, int index, Func<(double X, double Y), (double X, double Y)> place)
    {
        ChartSeries series = Series[index];
        string color = Colors[index % Colors.Length];
        int step = Math.Max(1, series.Points.Count / MaxPoints);
        svg.Append(CultureInfo.InvariantCulture, $"<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"1.8\" points=\"");
        for (int i = 0; i < series.Points.Count; i += step)
        {
            (double x, double y) = place(series.Points[i]);
            svg.Append(CultureInfo.InvariantCulture, $"{x:0.#},{y:0.#} ");
        }
        svg.Append("\"/>");
        int at = Top + 14 + index * 16;
        svg.Append(CultureInfo.InvariantCulture, $"<rect x=\"{Width - Right - 170}\" y=\"{at - 9}\" width=\"12\" height=\"4\" fill=\"{color}\"/>");
        svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{Width - Right - 152}\" y=\"{at - 2}\">{WebUtility.HtmlEncode(series.Name)}</text>");
    }

    private double PlaceX(double x, double min, double max)
    {
        double share = LogX ? Math.Log(Math.Max(x, min) / min) / Math.Log(max / min) : (x - min) / (max - min);
        return Left + share * (Width - Left - Right);
    }

    private static double PlaceY(double y, double max) => Height - Bottom - y / max * (Height - Top - Bottom);

    private string YText(double y) => Percent ? y.ToString("P0", CultureInfo.InvariantCulture) : Short(y);

    private static string Short(double value) => value switch
    {
        >= 1000 => value.ToString("N0", CultureInfo.InvariantCulture),
        >= 10 => value.ToString("0.#", CultureInfo.InvariantCulture),
        _ => value.ToString("0.###", CultureInfo.InvariantCulture),
    };
}
