using Harness.Load;

namespace Heartbeat.Load;

/// <summary>The outcome of one segment: the requests that were meant to start in it.</summary>
public sealed record SegmentReport
{
    /// <summary>Its name.</summary>
    public required string Name { get; init; }

    /// <summary>Its begin in seconds on the machine's monotonic clock.</summary>
    public required double From { get; init; }

    /// <summary>Its planned length in seconds.</summary>
    public required double Seconds { get; init; }

    /// <summary>The rate that was asked for; 0 in a closed loop.</summary>
    public required double Rate { get; init; }

    /// <summary>Processor time of the load client in it, in seconds.</summary>
    public double CpuSeconds { get; init; }

    /// <summary>Requests answered.</summary>
    public required long Requests { get; init; }

    /// <summary>Requests that failed, were refused for too many in flight, or got no answer.</summary>
    public required long Errors { get; init; }

    /// <summary>The first distinct error texts.</summary>
    public required string[] ErrorTexts { get; init; }

    /// <summary>Mean latency in ms.</summary>
    public required double MeanMs { get; init; }

    /// <summary>Quantiles of the latency since the intended start, of the answered requests.</summary>
    public required LatencySummary LatencyMs { get; init; }

    /// <summary>The distribution.</summary>
    public required long[][] Histogram { get; init; }
}
