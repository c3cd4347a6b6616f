namespace ActOp.Staging.Measuring;

/// <summary>Sums over the measured sample of a stage's busy times (paper Figure 9), times in nanoseconds.</summary>
/// <param name="Items">Events that ran in them.</param>
/// <param name="Wall">z: wall-clock time.</param>
/// <param name="Cpu">x: processor time.</param>
/// <param name="Ready">r: time ready to run without a processor; 0 where the system does not say.</param>
public readonly record struct BusyTime(long Items, long Wall, long Cpu, long Ready)
{
    /// <summary>Adds two samples.</summary>
    public static BusyTime operator +(BusyTime left, BusyTime right) => new(left.Items + right.Items, left.Wall + right.Wall, left.Cpu + right.Cpu, left.Ready + right.Ready);

    /// <summary>What came since <paramref name="right"/>.</summary>
    public static BusyTime operator -(BusyTime left, BusyTime right) => new(left.Items - right.Items, left.Wall - right.Wall, left.Cpu - right.Cpu, left.Ready - right.Ready);
}
