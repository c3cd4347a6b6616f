namespace ActOp.Partitioning;

/// <summary>What the balance constraint counts.</summary>
public enum BalanceMeasure
{
    /// <summary>Every vertex counts 1, as in the paper.</summary>
    Count,

    /// <summary>A vertex counts its size.</summary>
    Size,
}
