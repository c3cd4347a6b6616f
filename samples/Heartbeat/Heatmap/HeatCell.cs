using System.Text.Json.Serialization;

namespace Heartbeat.Heatmap;

/// <summary>A cell of the heat map.</summary>
/// <param name="Workers">Threads that run turns.</param>
/// <param name="Senders">Threads that write to clients.</param>
/// <param name="PassesMs">Median latency of every pass, in ms.</param>
public sealed record HeatCell(int Workers, int Senders, IReadOnlyList<double> PassesMs)
{
    /// <summary>The mean of the passes' medians, in ms.</summary>
    public double MedianMs => PassesMs.Average();

    /// <summary>How far the passes are apart, relative to their mean: differences between cells below this say nothing.</summary>
    public double Spread => MedianMs > 0 ? (PassesMs.Max() - PassesMs.Min()) / MedianMs : 0;

    /// <summary>As text.</summary>
    [JsonIgnore]
    public string Name => $"{Workers} workers x {Senders} senders";
}
