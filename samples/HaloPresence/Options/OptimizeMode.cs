namespace HaloPresence.Options;

/// <summary>Which of ActOp's optimisations a run uses.</summary>
public enum OptimizeMode
{
    /// <summary>Random placement, no migrations, as many threads per stage as cores: the paper's baseline.</summary>
    Off,

    /// <summary>Locality partitioning (paper section 4); threads as in the baseline.</summary>
    Partition,

    /// <summary>Stages sized by the queueing model (paper section 5); placement as in the baseline.</summary>
    Threads,

    /// <summary>Both.</summary>
    All,
}
