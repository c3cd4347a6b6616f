using Heartbeat.Options;
using MathNet.Numerics.Statistics;

namespace Heartbeat.Peak;

/// <summary>The peaks of an allocation, as written to JSON.</summary>
/// <param name="Allocation">Who gave the stages their threads.</param>
/// <param name="Peaks">Requests per second, one for each pass.</param>
public sealed record PeakResult(Allocation Allocation, double[] Peaks)
{
    /// <summary>Their median.</summary>
    public double Median => Peaks.Median();
}
