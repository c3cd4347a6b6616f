using System.Globalization;
using System.Net;
using System.Text;

namespace Heartbeat.Report;

/// <summary>A heat map as inline SVG: pale is low, dark is high.</summary>
public static class HeatGrid
{
    private const int CellWidth = 78;
    private const int CellHeight = 32;
    private const int Left = 90;
    private const int Top = 40;

    /// <summary>Writes a figure element; <paramref name="value"/> gives the value of a row and a column.</summary>
    public static string Render(string title, string rowName, IReadOnlyList<int> rows, string columnName, IReadOnlyList<int> columns, Func<int, int, double> value)
    {
        var all = rows.SelectMany(row => columns.Select(column => value(row, column))).ToList();
        (double least, double most) = (all.Min(), all.Max());
        var svg = new StringBuilder();
        svg.Append(CultureInfo.InvariantCulture, $"<figure><figcaption>{WebUtility.HtmlEncode(title)}</figcaption>");
        svg.Append(CultureInfo.InvariantCulture, $"<svg viewBox=\"0 0 {Left + columns.Count * CellWidth} {Top + rows.Count * CellHeight}\" role=\"img\" aria-label=\"{WebUtility.HtmlEncode(title)}\">");
        svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{Left}\" y=\"12\">{WebUtility.HtmlEncode(columnName)}</text><text x=\"0\" y=\"{Top - 6}\">{WebUtility.HtmlEncode(rowName)}</text>");
        for (int j = 0; j < columns.Count; j++)
            svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{Left + j * CellWidth + CellWidth / 2}\" y=\"{Top - 6}\" text-anchor=\"middle\">{columns[j]}</text>");
        for (int i = 0; i < rows.Count; i++)
        {
            int y = Top + i * CellHeight;
            svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{Left - 10}\" y=\"{y + CellHeight / 2 + 4}\" text-anchor=\"end\">{rows[i]}</text>");
            for (int j = 0; j < columns.Count; j++)
                AppendCell(svg, Left + j * CellWidth, y, value(rows[i], columns[j]), least, most);
        }
        return svg.Append("</svg></figure>").ToString();
    }

    private static void AppendCell(StringBuilder svg, int x, int y, double value, double least, double most)
    {
        // Ratios count, not differences.
        double share = most > least && least > 0 ? Math.Log(value / least) / Math.Log(most / least) : 0;
        svg.Append(CultureInfo.InvariantCulture, $"<rect x=\"{x}\" y=\"{y}\" width=\"{CellWidth - 2}\" height=\"{CellHeight - 2}\" fill=\"#b3541e\" fill-opacity=\"{0.08 + 0.82 * share:0.##}\"/>");
        svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{x + CellWidth / 2 - 1}\" y=\"{y + CellHeight / 2 + 3}\" text-anchor=\"middle\">{value:0.000}</text>");
    }
}
