using System.Globalization;
using System.Net;
using System.Text;

namespace ActOp.Harness.Reports;

/// <summary>A heat map as inline SVG: pale is low, dark is high.</summary>
public static class HeatGrid
{
    private const int CellWidth = 78;
    private const int CellHeight = 32;
    private const int Left = 90;
    private const int Top = 40;

    /// <summary>Writes a figure element; <paramref name="value"/> gives the value of a row and a column.</summary>
    public static string Render(
        string title, string rowName, IReadOnlyList<int> rows, string columnName, IReadOnlyList<int> columns, Func<int, int, double> value)
    {
        var all = rows.SelectMany(row => columns.Select(column => value(row, column))).ToList();
        (var least, var most) = (all.Min(), all.Max());
        var svg = new StringBuilder();
        svg.Append(CultureInfo.InvariantCulture, $"<figure><figcaption>{WebUtility.HtmlEncode(title)}</figcaption>");
        svg.Append(CultureInfo.InvariantCulture,
            $"<svg style=\"max-width:{(Left + columns.Count * CellWidth) * 1.4:0}px\" viewBox=\"0 0 {Left + columns.Count * CellWidth} {Top + rows.Count * CellHeight}\" role=\"img\" aria-label=\"{WebUtility.HtmlEncode(title)}\">");
        svg.Append(CultureInfo.InvariantCulture,
            $"<text x=\"{Left}\" y=\"12\">{WebUtility.HtmlEncode(columnName)}</text><text x=\"0\" y=\"{Top - 6}\">{WebUtility.HtmlEncode(rowName)}</text>");
        for (var j = 0; j < columns.Count; j++)
        {
            svg.Append(CultureInfo.InvariantCulture,
                $"<text x=\"{Left + j * CellWidth + CellWidth / 2}\" y=\"{Top - 6}\" text-anchor=\"middle\">{columns[j]}</text>");
        }

        for (var i = 0; i < rows.Count; i++)
        {
            var y = Top + i * CellHeight;
            svg.Append(CultureInfo.InvariantCulture,
                $"<text x=\"{Left - 10}\" y=\"{y + CellHeight / 2 + 4}\" text-anchor=\"end\">{rows[i]}</text>");
            for (var j = 0; j < columns.Count; j++)
                AppendCell(svg, Left + j * CellWidth, y, value(rows[i], columns[j]), least, most);
        }
        return svg.Append("</svg></figure>").ToString();
    }

    private static void AppendCell(StringBuilder svg, int x, int y, double value, double least, double most)
    {
        // Ratios count, not differences.
        var share = most > least && least > 0 ? Math.Log(value / least) / Math.Log(most / least) : 0;
        svg.Append(CultureInfo.InvariantCulture,
            $"<rect x=\"{x}\" y=\"{y}\" width=\"{CellWidth - 2}\" height=\"{CellHeight - 2}\" fill=\"#b3541e\" fill-opacity=\"{0.08 + 0.82 * share:0.##}\"/>");
        svg.Append(CultureInfo.InvariantCulture,
            $"<text x=\"{x + CellWidth / 2 - 1}\" y=\"{y + CellHeight / 2 + 3}\" text-anchor=\"middle\">{value:0.000}</text>");
    }
}

/// <summary>Horizontal bars of stacked parts as inline SVG.</summary>
public static class StackedBars
{
    private const int Width = 720;
    private const int Left = 90;
    private const int Right = 60;
    private const int BarHeight = 26;
    private const int Gap = 12;
    private const int LegendRow = 18;
    private const int LegendColumns = 4;
    private static readonly string[] Colors = ["#e3b08f", "#b3541e", "#8fc2d3", "#1f6f8b", "#b5cc8e", "#5b7a29", "#7a3e9d", "#9a9488"];

    /// <summary>Writes a figure element; all bars have the same parts in the same order.</summary>
    public static string Render(string title, IReadOnlyList<(string Name, IReadOnlyList<(string Name, double Value)> Parts)> bars)
    {
        var most = Math.Max(bars.Max(bar => bar.Parts.Sum(part => part.Value)), 1e-9);
        var legendTop = bars.Count * (BarHeight + Gap) + Gap;
        var height = legendTop + LegendRow * ((bars[0].Parts.Count + LegendColumns - 1) / LegendColumns + 1);
        var svg = new StringBuilder();
        svg.Append(CultureInfo.InvariantCulture, $"<figure><figcaption>{WebUtility.HtmlEncode(title)}</figcaption>");
        svg.Append(CultureInfo.InvariantCulture,
            $"<svg viewBox=\"0 0 {Width} {height}\" role=\"img\" aria-label=\"{WebUtility.HtmlEncode(title)}\">");
        for (var i = 0; i < bars.Count; i++)
            AppendBar(svg, bars[i].Name, bars[i].Parts, Gap + i * (BarHeight + Gap), (Width - Left - Right) / most);
        for (var i = 0; i < bars[0].Parts.Count; i++)
            AppendLegend(svg, bars[0].Parts[i].Name, i, legendTop + LegendRow * (i / LegendColumns + 1));
        return svg.Append("</svg></figure>").ToString();
    }

    private static void AppendBar(StringBuilder svg, string name, IReadOnlyList<(string Name, double Value)> parts, int top, double scale)
    {
        var middle = top + BarHeight / 2.0 + 4;
        svg.Append(CultureInfo.InvariantCulture,
            $"<text x=\"{Left - 6}\" y=\"{middle:0.#}\" text-anchor=\"end\">{WebUtility.HtmlEncode(name)}</text>");
        double x = Left;
        for (var i = 0; i < parts.Count; i++)
        {
            var width = Math.Max(0, parts[i].Value * scale);
            svg.Append(CultureInfo.InvariantCulture,
                $"<rect x=\"{x:0.#}\" y=\"{top}\" width=\"{width:0.#}\" height=\"{BarHeight}\" fill=\"{Colors[i % Colors.Length]}\"><title>{WebUtility.HtmlEncode(parts[i].Name)}: {parts[i].Value:0.#}</title></rect>");
            x += width;
        }
        svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{x + 6:0.#}\" y=\"{middle:0.#}\">{parts.Sum(part => part.Value):N0}</text>");
    }

    private static void AppendLegend(StringBuilder svg, string name, int index, int top)
    {
        var x = Left + index % LegendColumns * ((Width - Left) / LegendColumns);
        svg.Append(CultureInfo.InvariantCulture,
            $"<rect x=\"{x}\" y=\"{top - 9}\" width=\"10\" height=\"10\" fill=\"{Colors[index % Colors.Length]}\"/>");
        svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{x + 16}\" y=\"{top}\">{WebUtility.HtmlEncode(name)}</text>");
    }
}

/// <summary>Horizontal bars, each as long as a median, with a line from the least to the most, as inline SVG.</summary>
public static class RangeBars
{
    private const int Left = 190;
    private const int Width = 420;
    private const int Right = 110;
    private const int Row = 22;

    /// <summary>Writes a figure element; the bar with the name <paramref name="marked"/> has a color of its own.</summary>
    public static string Render(string title, IReadOnlyList<(string Name, double Min, double Median, double Max)> bars, string marked)
    {
        var most = Math.Max(bars.Max(static bar => bar.Max), double.Epsilon);
        var svg = new StringBuilder();
        svg.Append(CultureInfo.InvariantCulture, $"<figure><figcaption>{WebUtility.HtmlEncode(title)}</figcaption>");
        svg.Append(CultureInfo.InvariantCulture,
            $"<svg viewBox=\"0 0 {Left + Width + Right} {bars.Count * Row}\" role=\"img\" aria-label=\"{WebUtility.HtmlEncode(title)}\">");
        for (var i = 0; i < bars.Count; i++)
        {
            var (name, min, median, max) = bars[i];
            var y = i * Row;
            svg.Append(CultureInfo.InvariantCulture, $"<text x=\"0\" y=\"{y + 14}\">{WebUtility.HtmlEncode(name)}</text>");
            svg.Append(CultureInfo.InvariantCulture,
                $"<rect x=\"{Left}\" y=\"{y + 3}\" height=\"{Row - 8}\" width=\"{Width * median / most:0.0}\" fill=\"{(name == marked ? "#1f6fb2" : "#9aa5b1")}\"/>");
            svg.Append(CultureInfo.InvariantCulture,
                $"<line x1=\"{X(min):0.0}\" x2=\"{X(max):0.0}\" y1=\"{y + 10}\" y2=\"{y + 10}\" stroke=\"#222\"/>");
            svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{X(max) + 6:0.0}\" y=\"{y + 14}\">{median:N2}</text>");
        }

        return svg.Append("</svg></figure>").ToString();

        double X(double value) => Left + (Width * value / most);
    }
}
