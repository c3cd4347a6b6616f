using System.Globalization;
using Heartbeat.Load;

namespace Heartbeat.Runs;

/// <summary>The state of a cell as a few named texts.</summary>
public static class ProgressLine
{
    private const double Window = 1;

    /// <summary>Names and values as of the load clients' last reports.</summary>
    public static IReadOnlyList<(string Name, string Value)> Read(CellTimeline timeline)
    {
        BeatReport? load = timeline.Merged;
        if (load is null)
            return [("phase", "starting")];
        double cpu = 100 * timeline.Growth(load.T - Window, load.T, sample => sample.CpuSeconds) / Window;
        return
        [
            ("phase", load.IsDone ? "done" : load.Segment),
            ("p50 / p99 ms", load.LatencyMs is null ? "-" : string.Create(CultureInfo.InvariantCulture, $"{load.LatencyMs.P50:0.00} / {load.LatencyMs.P99:0.00}")),
            ("answered", load.Answered.ToString("N0", CultureInfo.InvariantCulture)),
            ("in flight", load.Outstanding.ToString("N0", CultureInfo.InvariantCulture)),
            ("errors", load.Errors.ToString("N0", CultureInfo.InvariantCulture)),
            ("silo CPU", cpu.ToString("0", CultureInfo.InvariantCulture) + " %"),
            ("threads r/w/s/c", timeline.ThreadsAt(double.MaxValue).ToString()),
        ];
    }
}
