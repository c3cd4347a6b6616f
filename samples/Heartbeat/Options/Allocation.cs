namespace Heartbeat.Options;

/// <summary>Who gives the silo's stages their threads.</summary>
public enum Allocation
{
    /// <summary>One thread that reads and two that run turns, fixed.</summary>
    OneReader,

    /// <summary>As many threads per stage as cores, fixed: the paper's baseline.</summary>
    Cores,

    /// <summary>Eight threads per stage, fixed: the baseline on the paper's machine.</summary>
    Eight,

    /// <summary>The .NET thread pool.</summary>
    ThreadPool,

    /// <summary>Queue lengths against thresholds (paper section 5.1).</summary>
    QueueLength,

    /// <summary>The queueing model (paper section 5.3).</summary>
    Model,
}
