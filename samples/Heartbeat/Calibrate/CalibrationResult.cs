using Heartbeat.Runs;

namespace Heartbeat.Calibrate;

/// <summary>A calibration, as written to JSON. Times in microseconds.</summary>
public sealed record CalibrationResult
{
    /// <summary>Requests per second.</summary>
    public required double Rate { get; init; }

    /// <summary>Processors of the silo.</summary>
    public required int Processors { get; init; }

    /// <summary>The price of a thread to configure.</summary>
    public required double EtaMicros { get; init; }

    /// <summary>Any price from here on gives the same suggestion.</summary>
    public required double EtaFromMicros { get; init; }

    /// <summary>Up to here.</summary>
    public required double EtaToMicros { get; init; }

    /// <summary>The threads that measuring found best, receive/work/client send.</summary>
    public required string Best { get; init; }

    /// <summary>What the model suggests with the price.</summary>
    public required string Suggestion { get; init; }

    /// <summary>Whether the price that was configured explains the best as well as any: then it stays.</summary>
    public required bool KeepsConfigured { get; init; }

    /// <summary>Threads by which they differ.</summary>
    public required int Distance { get; init; }

    /// <summary>What a silo with the price chose.</summary>
    public required ThreadNumbers ModelThreads { get; init; }

    /// <summary>What the stages had to do: receive, work, client send.</summary>
    public required MeasuredDemand[] Demands { get; init; }

    /// <summary>Median latency in ms of every point that was measured.</summary>
    public required IReadOnlyDictionary<string, double> MeasuredMs { get; init; }

    /// <summary>The line to paste into a silo's configuration.</summary>
    public string OptionLine => FormattableString.Invariant($"silo.Configure<StageOptions>(options => options.ThreadPenalty = TimeSpan.FromMicroseconds({EtaMicros:0.##}));");
}
