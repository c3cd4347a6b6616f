namespace ActOp.Configuration;

/// <summary>Who decides how many threads a stage has.</summary>
public enum StageController
{
    /// <summary>The queueing model of the paper (section 5.3), from what the stages measure.</summary>
    Model,

    /// <summary>Queue lengths against two thresholds: the baseline of the paper (section 5.1).</summary>
    QueueLength,

    /// <summary>Nobody: a stage keeps the threads that the options give it, by default as many as the cores.</summary>
    Fixed,
}
