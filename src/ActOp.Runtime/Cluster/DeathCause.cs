namespace ActOp.Runtime.Cluster;

/// <summary>Why a silo is dead. It decides whether others must wait out its lease before they run its grains again.</summary>
internal enum DeathCause : byte
{
    /// <summary>The silo is not dead.</summary>
    None = 0,

    /// <summary>The silo left by itself, its turns had ended: nothing to wait for.</summary>
    Graceful = 1,

    /// <summary>A newer generation bound the same endpoint: the old process no longer has it.</summary>
    Replaced = 2,

    /// <summary>Every voter was refused by the silo's host: the process is gone (kill -9, crash).</summary>
    Refused = 3,

    /// <summary>The silo stopped answering. It may still run, cut off from the others, until its lease ends.</summary>
    Silent = 4,
}
