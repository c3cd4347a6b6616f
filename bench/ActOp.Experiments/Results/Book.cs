using System.Globalization;
using ActOp.Experiments.Papers;
using ActOp.Experiments.Running;
using ActOp.Harness.Reports;

namespace ActOp.Experiments.Results;

/// <summary>The pages: one for each experiment, and the book with all of them.</summary>
internal static class Book
{
    /// <summary>In the place of an experiment's name where there is none.</summary>
    internal const string NoAnchor = "-";

    private static readonly string[] MeasureColumns = ["measure", "here", "unit", "bar", "verdict", "paper"];

    /// <summary>All results: contents, a part for each experiment, the claims of the review.</summary>
    internal static string Render(IReadOnlyDictionary<string, ExperimentResult> results)
    {
        var page = new HtmlPage("ActOp: every figure of the papers");
        page.Paragraph("Each figure and table of the five papers, drawn again on this system, with what the paper reports beside it. A dashed "
            + "line is the paper's. The papers' machines are others: shares, ratios and shapes compare, absolute times do not.");
        page.Heading("Contents").Table(Catalog.Columns, Catalog.Lines(results), static line => line[3] == NoAnchor ? null : Anchor(line[3]), 3);
        foreach (var experiment in Catalog.All)
        {
            if (results.TryGetValue(experiment.Name, out var result))
                Append(page, result);
        }

        page.Heading("Claims of the review", Anchor("book")).Table(Review.Columns, Review.Lines(results));
        return page.End(results.Values);
    }

    /// <summary>One experiment.</summary>
    internal static string Render(ExperimentResult result)
    {
        var page = new HtmlPage(result.Name);
        Append(page, result);
        return page.End(result);
    }

    internal static void Print(ExperimentResult result) => TextTable.Print(MeasureColumns, Lines(result));

    private static void Append(HtmlPage page, ExperimentResult result)
    {
        page.Heading(result.Name, Anchor(result.Name)).Paragraph(result.Source);
        page.Paragraph("Verdict: " + result.Verdict, strong: true);
        if (result.Measures.Count > 0)
            page.Table(MeasureColumns, Lines(result));
        foreach (var chart in result.Charts)
            page.Figure(chart.Render());
        foreach (var note in result.Notes)
            page.Paragraph(note);
        page.Paragraph(string.Create(CultureInfo.InvariantCulture,
            $"{result.Date:yyyy-MM-dd HH:mm} UTC, {result.Seconds:0} s, {result.Machine}, commit {result.Version}."));
        page.Code([result.Command, .. result.Programs.Select(static program => "  " + program)]);
    }

    private static IEnumerable<IReadOnlyList<string>> Lines(ExperimentResult result) =>
        result.Measures.Select(static measure => (IReadOnlyList<string>)
        [
            measure.Name, measure.Range, measure.Unit, measure.Bar ?? "",
            measure.Holds switch { true => "holds", false => "misses", null => "" }, measure.Paper ?? "",
        ]);

    private static string Anchor(string name) => name.Replace('/', '-');
}
