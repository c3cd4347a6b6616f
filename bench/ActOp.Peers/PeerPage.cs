using System.Globalization;
using ActOp.Harness.Reports;

namespace ActOp.Peers;

/// <summary>The page of results: a table for each machine, and a chart of the ratios.</summary>
internal static class PeerPage
{
    internal static string Render(IReadOnlyList<PeerResults> all)
    {
        var page = new HtmlPage("ActOp beside its peers");
        page.Paragraph("Each runtime in processes of its own, in turn, with the same load. More is better for rates, less for all else; the "
            + "ratio says how many times better ActOp is than Orleans by the median.");
        foreach (var results in all)
        {
            page.Heading(results.Title);
            page.Table(results.Columns, results.Lines());
            page.Table(["shape", "runtime", "why there is no value"],
                results.Failures.Select(static one => (IReadOnlyList<string>)[one.Shape, one.Runtime, one.Why]));
            foreach (var measure in results.Measures)
                page.Figure(Bars(results, measure));
        }

        return page.End(all);
    }

    /// <summary>A bar for each runtime, as long as its median, with a line for its range.</summary>
    private static string Bars(PeerResults results, string measure)
    {
        const int Row = 22;
        const int Left = 190;
        const int Width = 420;
        var values = results.Runtimes.Select(runtime => results.Find(measure, runtime)).OfType<PeerValue>().ToList();
        var most = Math.Max(double.Epsilon, values.Max(static value => value.Spread.Max));
        var height = (values.Count + 1) * Row;
        var svg = new System.Text.StringBuilder();
        svg.Append(CultureInfo.InvariantCulture,
            $"<svg viewBox=\"0 0 {Left + Width + 110} {height}\" width=\"{Left + Width + 110}\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\">");
        svg.Append(CultureInfo.InvariantCulture,
            $"<text x=\"0\" y=\"14\" font-weight=\"bold\">{Escape(measure)}, {Escape(values[0].Unit)}</text>");
        for (var i = 0; i < values.Count; i++)
        {
            var (min, median, max) = values[i].Spread;
            var y = (i + 1) * Row;
            double X(double value) => Left + (Width * value / most);
            svg.Append(CultureInfo.InvariantCulture, $"<text x=\"0\" y=\"{y + 14}\">{Escape(values[i].Runtime)}</text>");
            svg.Append(CultureInfo.InvariantCulture,
                $"<rect x=\"{Left}\" y=\"{y + 3}\" height=\"{Row - 8}\" width=\"{X(median) - Left:0.0}\" fill=\"{(values[i].Runtime == PeerKind.Ours ? "#1f6fb2" : "#9aa5b1")}\"/>");
            svg.Append(CultureInfo.InvariantCulture,
                $"<line x1=\"{X(min):0.0}\" x2=\"{X(max):0.0}\" y1=\"{y + 10}\" y2=\"{y + 10}\" stroke=\"#222\"/>");
            svg.Append(CultureInfo.InvariantCulture,
                $"<text x=\"{X(max) + 6:0.0}\" y=\"{y + 14}\">{median:N2}</text>");
        }

        return svg.Append("</svg>").ToString();
    }

    private static string Escape(string text) => System.Net.WebUtility.HtmlEncode(text);
}
