using Harness.Children;
using Harness.Load;

namespace HaloPresence.Load;

/// <summary>What the load client says once a second, cumulative over the measured phase unless noted.</summary>
public sealed record LoadReport : ILoadReport
{
    /// <summary>Seconds on the machine's monotonic clock.</summary>
    public required double T { get; init; }

    /// <summary>The phase at <see cref="T"/>.</summary>
    public required LoadPhase Phase { get; init; }

    /// <summary>When each phase began, on the same clock, indexed by phase; 0 while not reached.</summary>
    public required double[] PhaseStarts { get; init; }

    bool ILoadReport.IsDone => Phase == LoadPhase.Done;

    /// <summary>Requests answered in the measured phase.</summary>
    public long Requests { get; init; }

    /// <summary>Requests answered over the whole load.</summary>
    public long AllRequests { get; init; }

    /// <summary>Requests answered by a player without a game, of <see cref="Requests"/>.</summary>
    public long Alone { get; init; }

    /// <summary>Grain messages of <see cref="Requests"/>.</summary>
    public long Messages { get; init; }

    /// <summary>Requests and game changes that failed, in all phases.</summary>
    public long Errors { get; init; }

    /// <summary>The first distinct error texts.</summary>
    public string[] ErrorTexts { get; init; } = [];

    /// <summary>Requests in flight.</summary>
    public long Outstanding { get; init; }

    /// <summary>
    /// The furthest that the client itself was behind an intended start, in ms. Large values say that the machine is overloaded.
    /// </summary>
    public double MaxLagMs { get; init; }

    /// <summary>Latency since the intended start: of the measured phase once it has begun, of the warm-up before.</summary>
    public LatencySummary? LatencyMs { get; init; }

    /// <summary>Requests answered by the closed loop.</summary>
    public long ClosedLoopRequests { get; init; }

    /// <summary>Seconds that the closed loop ran.</summary>
    public double ClosedLoopSeconds { get; init; }

    /// <summary>The latency histogram of the measured phase (of the closed loop when nothing else was measured); only when done.</summary>
    public long[][]? Histogram { get; init; }
}
