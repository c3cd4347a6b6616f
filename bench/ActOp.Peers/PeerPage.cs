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

    private static string Bars(PeerResults results, string measure)
    {
        var values = results.Runtimes.Select(runtime => results.Find(measure, runtime)).OfType<PeerValue>().ToList();
        return RangeBars.Render(
            measure + ", " + values[0].Unit,
            [.. values.Select(static value => (value.Runtime, value.Spread.Min, value.Spread.Median, value.Spread.Max))], PeerKind.Ours);
    }
}
