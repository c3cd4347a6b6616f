namespace HaloPresence.Options;

/// <summary>Which of ActOp's optimisations a run uses.</summary>
public enum OptimizeMode
{
    /// <summary>Random placement and no migrations: the paper's baseline.</summary>
    Off,

    /// <summary>Locality partitioning (paper section 4).</summary>
    Partition,
}
