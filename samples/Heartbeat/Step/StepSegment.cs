using Harness.Load;
using Heartbeat.Runs;

namespace Heartbeat.Step;

/// <summary>A segment of the load between two steps.</summary>
public sealed record StepSegment
{
    /// <summary>Its name.</summary>
    public required string Name { get; init; }

    /// <summary>Seconds from the begin of the load to its begin.</summary>
    public required double From { get; init; }

    /// <summary>Its length in seconds.</summary>
    public required double Seconds { get; init; }

    /// <summary>Requests per second asked for.</summary>
    public required double Rate { get; init; }

    /// <summary>Requests answered.</summary>
    public required long Requests { get; init; }

    /// <summary>Requests that failed.</summary>
    public required long Errors { get; init; }

    /// <summary>Latency in ms.</summary>
    public required LatencySummary LatencyMs { get; init; }

    /// <summary>Processor use of the silo; 100 is one core.</summary>
    public required double CpuPercent { get; init; }

    /// <summary>Threads at its end.</summary>
    public required ThreadNumbers Threads { get; init; }

    /// <summary>Changes of the stages' threads in it, as the samples show them.</summary>
    public required int Changes { get; init; }

    /// <summary>Seconds from its begin to the last of them; 0 without any.</summary>
    public required double SecondsToLastChange { get; init; }
}
