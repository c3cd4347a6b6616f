using System.Text.Json.Serialization;
using Harness.Load;

namespace HaloPresence.Results;

/// <summary>The outcome of one run, as written to JSON.</summary>
public sealed record RunResult
{
    /// <summary>What was optimised: "off" or "partition".</summary>
    public required string Optimize { get; init; }

    /// <summary>Silo processes.</summary>
    public required int Silos { get; init; }

    /// <summary>Concurrent players.</summary>
    public required int Players { get; init; }

    /// <summary>Requested status requests per second.</summary>
    public required double Rate { get; init; }

    /// <summary>Percent of the players that regroup per minute.</summary>
    public required double ChurnPerMinute { get; init; }

    /// <summary>Seed of the load.</summary>
    public required int Seed { get; init; }

    /// <summary>Whether this was a rehearsal without grains.</summary>
    public required bool Rehearsal { get; init; }

    /// <summary>Share of the grain messages of the measured phase that crossed silos, 0 to 1, as the runtime counts.</summary>
    public required double RemoteShare { get; init; }

    /// <summary>The same as the application sees it in its samples.</summary>
    public required double CheckedRemoteShare { get; init; }

    /// <summary>Latency since the intended start, in ms.</summary>
    public required LatencySummary LatencyMs { get; init; }

    /// <summary>Requests answered in the measured phase.</summary>
    public required long Requests { get; init; }

    /// <summary>Requests of the measured phase that found their player without a game.</summary>
    public required long AloneRequests { get; init; }

    /// <summary>Grain messages per answered request (18 in games of 8).</summary>
    public required double MessagesPerRequest { get; init; }

    /// <summary>Failed requests and game changes of all phases.</summary>
    public required long Errors { get; init; }

    /// <summary>The first distinct error texts.</summary>
    public required string[] ErrorTexts { get; init; }

    /// <summary>Requests answered per second of the measured phase.</summary>
    public required double AchievedRate { get; init; }

    /// <summary>The furthest that the load client was behind an intended start, in ms.</summary>
    public required double ClientMaxLagMs { get; init; }

    /// <summary>Processor use of every silo in the measured phase; 100 is one core.</summary>
    public required double[] CpuPercentPerSilo { get; init; }

    /// <summary>Processor time of all silos per answered request, in microseconds.</summary>
    public required double CpuMicrosPerRequest { get; init; }

    /// <summary>Bytes allocated by all silos per answered request.</summary>
    public required double AllocatedBytesPerRequest { get; init; }

    /// <summary>Grains migrated over the whole run.</summary>
    public required long Migrations { get; init; }

    /// <summary>Remote share and moves, second by second.</summary>
    public required ConvergencePoint[] Convergence { get; init; }

    /// <summary>Activations on every silo at the end.</summary>
    public required long[] ActivationsPerSilo { get; init; }

    /// <summary>The closed loop, when there was one.</summary>
    public SaturationResult? Saturation { get; init; }

    /// <summary>The latency distribution, for the report.</summary>
    [JsonIgnore]
    public LatencyHistogram Latency { get; init; } = new();
}
