using Heartbeat.Load;

namespace Heartbeat.Runs;

/// <summary>A cell that has run.</summary>
/// <param name="Timeline">What its processes said.</param>
/// <param name="Report">The load clients' last reports together; null when the run failed.</param>
/// <param name="Failure">Why it failed; null when it did not.</param>
public sealed record CellRun(CellTimeline Timeline, BeatReport? Report, string? Failure)
{
    /// <summary>The outcome of a segment.</summary>
    /// <exception cref="InvalidOperationException">The run failed.</exception>
    public SegmentReport Segment(string name) =>
        Report?.Segments.FirstOrDefault(segment => segment.Name == name) ?? throw new InvalidOperationException(Failure ?? $"The load had no segment '{name}'.");

    /// <summary>Median latency in ms of the measured segment.</summary>
    /// <exception cref="InvalidOperationException">The run failed, or nothing was answered.</exception>
    public double MeasuredMedianMs() => Segment(SegmentNames.Measure) is { Requests: > 0 } measured
        ? measured.LatencyMs.P50 : throw new InvalidOperationException("No request was answered in the measured segment.");

    /// <summary>Processor use of the silo in a segment; 100 is one core.</summary>
    public double CpuPercent(SegmentReport segment) =>
        100 * Timeline.Growth(segment.From, segment.From + segment.Seconds, sample => sample.CpuSeconds) / segment.Seconds;

    /// <summary>Processor use of the load clients in a segment, in percent of the whole machine.</summary>
    public static double ClientPercent(SegmentReport segment) => 100 * segment.CpuSeconds / segment.Seconds / Environment.ProcessorCount;

    /// <summary>Changes of the stages' threads in a segment.</summary>
    public int Changes(SegmentReport segment) => (int)Math.Round(
        Timeline.Growth(segment.From, segment.From + segment.Seconds, sample => sample.Stages.Sum(stage => stage.Changes)));

    /// <summary>Threads at the end of a segment.</summary>
    public ThreadNumbers Threads(SegmentReport segment) => Timeline.ThreadsAt(segment.From + segment.Seconds);
}
