namespace ActOp.Staging.Measuring;

/// <summary>
/// The system's scheduler says how long a thread was ready without a processor, so that what is left of the wall-clock time was blocked: w
/// = z - x - r.
/// </summary>
public sealed class SchedulerSource : SampledSource
{
    /// <inheritdoc/>
    public override string Name => "scheduler";

    /// <summary>Whether the system keeps the statistics.</summary>
    public static bool IsSupported => ThreadClock.KnowsReady;

    /// <inheritdoc/>
    protected override double[] Blocked(BusyTime[] busy) => Array.ConvertAll(busy, static stage => (double)(stage.Wall - stage.Cpu - stage.Ready));
}
