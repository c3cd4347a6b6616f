using Harness.Load;

namespace Heartbeat.Load;

/// <summary>A segment that runs or has run, and what was counted in it.</summary>
internal sealed class SegmentRun(Segment segment, TimeSpan from, double cpuFrom)
{
    public Segment Segment { get; } = segment;

    public TimeSpan From { get; } = from;

    /// <summary>Processor time of this process in seconds since the segment began, as of its end.</summary>
    public double CpuSeconds { get; private set; }

    /// <summary>Counts of the open loop.</summary>
    public RequestTally Tally { get; } = new();

    /// <summary>Latencies of the open loop.</summary>
    public LatencyHistogram Latency { get; } = new();

    /// <summary>The closed loop, if the segment is one.</summary>
    public ClosedLoop? Closed { get; set; }

    public RequestTally CountedBy => Closed?.Tally ?? Tally;

    public LatencyHistogram MeasuredBy => Closed?.Latency ?? Latency;

    /// <summary>Notes the processor time at the end.</summary>
    public void End(double cpu) => CpuSeconds = cpu - cpuFrom;

    public SegmentReport Report() => new()
    {
        Name = Segment.Name,
        From = From.TotalSeconds,
        Seconds = Segment.Seconds,
        Rate = Segment.Rate,
        CpuSeconds = CpuSeconds,
        Requests = CountedBy.Answered,
        Errors = CountedBy.Errors,
        ErrorTexts = CountedBy.ErrorTexts,
        MeanMs = MeasuredBy.Mean.TotalMilliseconds,
        LatencyMs = MeasuredBy.Summarize(),
        Histogram = MeasuredBy.ToPairs(),
    };
}
