using Harness.Children;
using Harness.Load;

namespace Heartbeat.Load;

/// <summary>What the load client says once a second, and at the end.</summary>
public sealed record BeatReport : ILoadReport
{
    /// <summary>Seconds on the machine's monotonic clock.</summary>
    public required double T { get; init; }

    /// <summary>The segment that runs.</summary>
    public required string Segment { get; init; }

    /// <summary>Whether the load is over.</summary>
    public required bool IsDone { get; init; }

    /// <summary>Requests answered so far.</summary>
    public long Answered { get; init; }

    /// <summary>Requests that failed so far.</summary>
    public long Errors { get; init; }

    /// <summary>Requests in flight.</summary>
    public long Outstanding { get; init; }

    /// <summary>The furthest that the client itself was behind an intended start, in ms.</summary>
    public double MaxLagMs { get; init; }

    /// <summary>Latency in the segment that runs.</summary>
    public LatencySummary? LatencyMs { get; init; }

    /// <summary>All segments, when done.</summary>
    public SegmentReport[] Segments { get; init; } = [];

    /// <summary>The steps of the search for the peak, when done.</summary>
    public PeakStep[] PeakSteps { get; init; } = [];
}
