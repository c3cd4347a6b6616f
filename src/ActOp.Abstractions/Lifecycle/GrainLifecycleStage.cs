namespace Orleans.Runtime;

/// <summary>Stages of an activation's start, in ascending order; it ends in descending order.</summary>
public static class GrainLifecycleStage
{
    /// <summary>Before all others.</summary>
    public const int First = int.MinValue;

    /// <summary>State is read.</summary>
    public const int SetupState = 1000;

    /// <summary>The grain gets ready.</summary>
    public const int Activate = 2000;

    /// <summary>After all others.</summary>
    public const int Last = int.MaxValue;
}
