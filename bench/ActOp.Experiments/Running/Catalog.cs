using ActOp.Experiments.Papers;
using ActOp.Experiments.Results;

namespace ActOp.Experiments.Running;

/// <summary>All experiments, and the figures that have none yet.</summary>
internal static class Catalog
{
    internal static IReadOnlyList<Experiment> All { get; } =
    [
        .. ActOpThreads.Experiments, .. ActOpExchange.Experiments, .. ActOpPaper.Experiments, .. OrleansReport.Experiments,
        .. OtherPapers.Experiments,
    ];

    internal static IReadOnlyList<string> Columns { get; } = ["paper", "figure", "what it shows", "run", "minutes", "verdict"];

    internal static Experiment? Find(string name) => All.FirstOrDefault(one => one.Name == name);

    /// <summary>A line for each figure, with the verdict of the results that there are.</summary>
    internal static IEnumerable<IReadOnlyList<string>> Lines(IReadOnlyDictionary<string, ExperimentResult> results) =>
        All.SelectMany(one => one.Figures.Select(figure => Line(
                figure, one.Name, Measure.Text(one.Minutes),
                results.TryGetValue(one.Name, out var result) ? result.Verdict.Split('\n')[0] : "not run")))
            .Concat(OtherPapers.Open.Select(static open =>
                Line(open.Figure, Book.NoAnchor, "", (open.IsDrawing ? "" : "open: ") + open.Why)))
            .Append(Line(Review.Claims, "book", "", "a table of the book"))
            .OrderBy(static line => line[0], StringComparer.Ordinal);

    private static IReadOnlyList<string> Line(Figure figure, string run, string minutes, string verdict) =>
        [figure.Seed, figure.Name, figure.What, run, minutes, verdict];
}
