using ActOp.Experiments.Results;

namespace ActOp.Experiments.Running;

/// <summary>Where a figure or table comes from, and what it shows.</summary>
/// <param name="Seed">The paper.</param>
/// <param name="Name">The figure, table or section in it.</param>
/// <param name="What">What it shows.</param>
internal sealed record Figure(string Seed, string Name, string What);

/// <summary>One or more figures of a paper on this system.</summary>
/// <param name="Name">The name that the command line takes.</param>
/// <param name="Figures">The figures that it draws again.</param>
/// <param name="Minutes">How long it takes at full length on two processors.</param>
/// <param name="PlayAsync">Measures.</param>
internal sealed record Experiment(
    string Name, IReadOnlyList<Figure> Figures, double Minutes, Func<Play, Task<Outcome>> PlayAsync)
{
    /// <summary>The papers and figures in one line.</summary>
    internal string Source => string.Join(", ", Figures.GroupBy(static figure => figure.Seed)
        .Select(static seed => seed.Key + ": " + string.Join(", ", seed.Select(static figure => figure.Name))));

    internal string Command => "dotnet run -c Release --project bench/ActOp.Experiments -- run " + Name;
}

/// <summary>A figure without an experiment.</summary>
/// <param name="Figure">The figure.</param>
/// <param name="Why">What is missing, or why there is nothing to measure.</param>
/// <param name="IsDrawing">Whether it explains something and shows no measurement.</param>
internal sealed record OpenFigure(Figure Figure, string Why, bool IsDrawing = false);
