namespace HaloPresence.Results;

/// <summary>
/// What the paper reports for Halo Presence with 100,000 players at 6,000 requests/s on ten 8-core servers (sections 3 and 6.1,
/// Figure 10): absolute values are of other machines; shares and ratios compare.
/// </summary>
public static class PaperFigures
{
    /// <summary>Remote share of random placement.</summary>
    public const double BaselineRemoteShare = 0.90;

    /// <summary>Remote share with locality partitioning.</summary>
    public const double PartitionRemoteShare = 0.12;

    /// <summary>Baseline median latency in ms.</summary>
    public const double BaselineP50Ms = 41;

    /// <summary>Median latency in ms with locality partitioning.</summary>
    public const double PartitionP50Ms = 24;

    /// <summary>Baseline 95th percentile in ms.</summary>
    public const double BaselineP95Ms = 450;

    /// <summary>95th percentile in ms with locality partitioning.</summary>
    public const double PartitionP95Ms = 100;

    /// <summary>Baseline 99th percentile in ms (the text of section 6.1 says 726, that of section 3 says 736).</summary>
    public const double BaselineP99Ms = 726;

    /// <summary>99th percentile in ms with locality partitioning.</summary>
    public const double PartitionP99Ms = 225;

    /// <summary>Processor use that partitioning saves at the highest load.</summary>
    public const double CpuSaved = 0.45;

    /// <summary>Peak throughput relative to random placement.</summary>
    public const double ThroughputRatio = 2.0;
}
