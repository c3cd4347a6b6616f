namespace ActOp.Configuration;

/// <summary>Locality partitioning (paper section 4): grains that talk to each other move onto one silo.</summary>
public sealed class LocalityOptions
{
    /// <summary>Whether edges are counted and exchanges are offered. On by default.</summary>
    public bool Enabled { get; set; } = true;

    /// <summary>How often counted edges are folded into the silo's table. Default 1 s: rates are known within seconds, and a fold costs milliseconds.</summary>
    public TimeSpan FoldPeriod { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>Shortest time between two rounds of one silo, used while the graph changes. Default 2 s.</summary>
    public TimeSpan MinRoundPeriod { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>Longest time between two rounds, used when nothing moves any more. Default 30 s.</summary>
    public TimeSpan MaxRoundPeriod { get; set; } = TimeSpan.FromSeconds(30);

    internal void Validate()
    {
        Check(FoldPeriod > TimeSpan.Zero, nameof(FoldPeriod), "must be positive");
        Check(MinRoundPeriod > TimeSpan.Zero, nameof(MinRoundPeriod), "must be positive");
        Check(MaxRoundPeriod >= MinRoundPeriod, nameof(MaxRoundPeriod), "must not be less than MinRoundPeriod");
    }

    private static void Check(bool valid, string option, string rule)
    {
        if (!valid)
            throw new Orleans.Runtime.OrleansConfigurationException("LocalityOptions." + option + " " + rule + ".");
    }
}
