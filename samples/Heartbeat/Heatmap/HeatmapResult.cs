using Heartbeat.Runs;

namespace Heartbeat.Heatmap;

/// <summary>The heat map and the model's place in it, as written to JSON.</summary>
public sealed record HeatmapResult
{
    /// <summary>Requests per second.</summary>
    public required double Rate { get; init; }

    /// <summary>Percent of the requests that blocked their thread.</summary>
    public required double BlockingPercent { get; init; }

    /// <summary>All cells.</summary>
    public required HeatCell[] Cells { get; init; }

    /// <summary>The model's own choice.</summary>
    public required ThreadNumbers ModelThreads { get; init; }

    /// <summary>The model's workers and senders again, in turns with the best cell.</summary>
    public required HeatCell Model { get; init; }

    /// <summary>The best cell again, in turns with the model's.</summary>
    public required HeatCell BestAgain { get; init; }

    /// <summary>The cell with the least median.</summary>
    public HeatCell Best => Cells.MinBy(cell => cell.MedianMs)!;

    /// <summary>The cell with the greatest median.</summary>
    public HeatCell Worst => Cells.MaxBy(cell => cell.MedianMs)!;

    /// <summary>How much worse the worst cell is than the best (paper: 4).</summary>
    public double WorstToBest => Worst.MedianMs / Best.MedianMs;

    /// <summary>How much worse the model's cell is than the best.</summary>
    public double ModelToBest => Model.MedianMs / BestAgain.MedianMs;

    /// <summary>What the table says below.</summary>
    public IEnumerable<string> Notes() =>
    [
        FormattableString.Invariant($"worst ({Worst.Name}) / best ({Best.Name}): {WorstToBest:0.00} (paper: 4)"),
        FormattableString.Invariant($"model (chose {ModelThreads}) / best, {Model.PassesMs.Count} times in turns: {Model.MedianMs:0.000} / {BestAgain.MedianMs:0.000} ms = {ModelToBest:0.00}"),
        Cells[0].PassesMs.Count > 1 ? FormattableString.Invariant($"Passes of a cell differ by {Cells.Average(cell => cell.Spread):P0} on average.") : "One pass says nothing about noise.",
        "Threads that read run turns while workers sleep, and turns may write their replies: senders then matter little.",
    ];
}
