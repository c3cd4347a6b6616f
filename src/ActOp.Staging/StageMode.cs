namespace ActOp.Staging;

/// <summary>Whose threads a stage uses.</summary>
public enum StageMode
{
    /// <summary>The stage owns its threads (the paper's design).</summary>
    OwnThreads,

    /// <summary>The .NET thread pool: the baseline that users of other runtimes know.</summary>
    ThreadPool,
}
