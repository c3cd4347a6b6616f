namespace ActOp.Staging.Measuring;

/// <summary>What a stage has done since it was created, for estimates of its demand.</summary>
/// <param name="Executed">Events run.</param>
/// <param name="Queued">Events that wait now.</param>
/// <param name="Busy">The times measured for a sample of the events.</param>
/// <param name="Held">Threads that run one event for so long that its cost is not known yet.</param>
public readonly record struct StageUsage(long Executed, int Queued, BusyTime Busy, int Held = 0)
{
    /// <summary>Events that have arrived: those that ran and those that wait.</summary>
    public long Arrived => Executed + Queued;
}

/// <summary>Sums over the measured sample of a stage's busy times (paper Figure 9), times in nanoseconds.</summary>
/// <param name="Items">Events that ran in them.</param>
/// <param name="Wall">z: wall-clock time.</param>
/// <param name="Cpu">x: processor time.</param>
/// <param name="Ready">r: time ready to run without a processor; 0 where the system does not report it.</param>
public readonly record struct BusyTime(long Items, long Wall, long Cpu, long Ready)
{
    /// <summary>Adds two samples.</summary>
    public static BusyTime operator +(BusyTime left, BusyTime right)
        => new(left.Items + right.Items, left.Wall + right.Wall, left.Cpu + right.Cpu, left.Ready + right.Ready);

    /// <summary>The difference since <paramref name="right"/>.</summary>
    public static BusyTime operator -(BusyTime left, BusyTime right)
        => new(left.Items - right.Items, left.Wall - right.Wall, left.Cpu - right.Cpu, left.Ready - right.Ready);
}
