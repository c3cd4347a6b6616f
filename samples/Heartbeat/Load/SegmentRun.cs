using Harness.Load;

namespace Heartbeat.Load;

/// <summary>A segment that runs or has run, and what was counted in it.</summary>
internal sealed class SegmentRun(Segment segment, TimeSpan from)
{
    public Segment Segment { get; } = segment;

    public TimeSpan From { get; } = from;

    /// <summary>Counts of the open loop.</summary>
    public RequestTally Tally { get; } = new();

    /// <summary>Latencies of the open loop.</summary>
    public LatencyHistogram Latency { get; } = new();

    /// <summary>The closed loop, if the segment is one.</summary>
    public ClosedLoop? Closed { get; set; }

    public RequestTally CountedBy => Closed?.Tally ?? Tally;

    public LatencyHistogram MeasuredBy => Closed?.Latency ?? Latency;

    public SegmentReport Report() => new()
    {
        Name = Segment.Name,
        From = From.TotalSeconds,
        Seconds = Segment.Seconds,
        Rate = Segment.Rate,
        Requests = CountedBy.Answered,
        Errors = CountedBy.Errors,
        ErrorTexts = CountedBy.ErrorTexts,
        MeanMs = MeasuredBy.Mean.TotalMilliseconds,
        LatencyMs = MeasuredBy.Summarize(),
        Histogram = MeasuredBy.ToPairs(),
    };
}
