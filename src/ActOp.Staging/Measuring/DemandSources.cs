using ActOp.Staging.Model;

namespace ActOp.Staging.Measuring;

/// <summary>How the cost of a stage's events is measured.</summary>
public enum DemandSourceKind
{
    /// <summary>The best available source: the scheduler, else the trace, else the ratio.</summary>
    Best,

    /// <summary>Statistics of the operating system's scheduler (Linux), which contain the ready time of each thread.</summary>
    Scheduler,

    /// <summary>An event trace of this process; needs the package ActOp.Staging.Tracing.</summary>
    Trace,

    /// <summary>The paper's estimate (section 5.4). Requires neither.</summary>
    Ratio,
}

/// <summary>
/// Opens an event trace of this process. Implemented by the package ActOp.Staging.Tracing, which is separate because of its dependencies.
/// </summary>
public interface IStageTracing
{
    /// <summary>Starts the trace.</summary>
    /// <param name="stages">Names of the stages, in the order of <see cref="IDemandSource.Estimate"/>.</param>
    /// <param name="reason">Why a source was opened or not, for the log.</param>
    /// <returns>The source, or null if the process cannot be traced.</returns>
    IDemandSource? Open(IReadOnlyList<string> stages, out string reason);
}

/// <summary>Chooses how demand is measured.</summary>
public static class DemandSources
{
    private const string NoReadyTimes = "the system does not report ready times";

    /// <summary>Whether a kind is available. Whether a trace can be opened is known only when it is opened.</summary>
    /// <param name="kind">The configured kind.</param>
    /// <param name="tracing">The event trace, if its package is in use.</param>
    /// <returns>Null if it is available, else the reason why not.</returns>
    public static string? Obstacle(DemandSourceKind kind, IStageTracing? tracing) => kind switch
    {
        DemandSourceKind.Scheduler when !SchedulerSource.IsSupported => NoReadyTimes,
        DemandSourceKind.Trace when tracing is null =>
            "the event trace is missing: reference the package ActOp.Staging.Tracing "
            + "and call AddStageTracing() on the services of the silo",
        _ => null,
    };

    /// <summary>Creates the source of a kind.</summary>
    /// <param name="kind">The configured kind.</param>
    /// <param name="tracing">The event trace, if its package is in use.</param>
    /// <param name="stages">Names of the stages and whether their events never block.</param>
    /// <param name="reason">Why this source was chosen, or why none, for the log.</param>
    /// <returns>The source. Null if there is an <see cref="Obstacle"/>, or if a trace was configured and cannot be opened.</returns>
    public static IDemandSource? Choose(
        DemandSourceKind kind, IStageTracing? tracing, IReadOnlyList<(string Name, bool NeverBlocks)> stages, out string reason)
    {
        if (Obstacle(kind, tracing) is { } obstacle)
        {
            reason = obstacle;
            return null;
        }

        reason = "it was configured";
        switch (kind)
        {
            case DemandSourceKind.Scheduler:
                return new SchedulerSource();
            case DemandSourceKind.Trace:
                return tracing!.Open(Names(stages), out reason);
            case DemandSourceKind.Ratio:
                return Ratio(stages);
            default:
                return Best(tracing, stages, out reason);
        }
    }

    private static IDemandSource Best(IStageTracing? tracing, IReadOnlyList<(string Name, bool NeverBlocks)> stages, out string reason)
    {
        if (SchedulerSource.IsSupported)
        {
            reason = "the system's scheduler reports the ready time of each thread";
            return new SchedulerSource();
        }

        var untraced = "the package ActOp.Staging.Tracing is not in use";
        if (tracing?.Open(Names(stages), out untraced) is { } trace)
        {
            reason = NoReadyTimes + ", so " + untraced;
            return trace;
        }

        reason = NoReadyTimes + " and " + untraced + ", so ready time is estimated";
        return Ratio(stages);
    }

    private static string[] Names(IReadOnlyList<(string Name, bool NeverBlocks)> stages) => [.. stages.Select(static stage => stage.Name)];

    private static RatioSource Ratio(IReadOnlyList<(string Name, bool NeverBlocks)> stages)
        => new([.. stages.Select(static stage => stage.NeverBlocks)]);
}

/// <summary>Estimates the processor time and the blocked time of an event of each stage (paper section 5.4).</summary>
public interface IDemandSource : IDisposable
{
    /// <summary>Its name, for logs.</summary>
    string Name { get; }

    /// <summary>Estimates the demand of a period.</summary>
    /// <param name="stages">For each stage its usage at the beginning and at the end, always in the same order.</param>
    /// <param name="seconds">The length of the period.</param>
    /// <returns>
    /// The demand of each stage; one without a measured event has its last known costs, or no arrivals when there are none.
    /// </returns>
    IReadOnlyList<StageDemand> Estimate(IReadOnlyList<(StageUsage Begin, StageUsage End)> stages, double seconds);
}

/// <summary>
/// Base of the sources: counts arrivals. The cost of an event is the mean over the sample of the period, or the last known mean when the
/// sample is empty.
/// </summary>
public abstract class SampledSource : IDemandSource
{
    private const double NanosecondsPerSecond = 1e9;

    private StageDemand[] _last = [];

    /// <inheritdoc/>
    public abstract string Name { get; }

    /// <inheritdoc/>
    public IReadOnlyList<StageDemand> Estimate(IReadOnlyList<(StageUsage Begin, StageUsage End)> stages, double seconds)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(seconds);
        if (_last.Length != stages.Count)
            _last = new StageDemand[stages.Count];
        BusyTime[] busy = [.. stages.Select(static stage => stage.End.Busy - stage.Begin.Busy)];
        var blocked = Blocked(busy);
        for (var i = 0; i < busy.Length; i++)
        {
            var arrivals = Math.Max(0, stages[i].End.Arrived - stages[i].Begin.Arrived) / seconds;
            if (busy[i] is { Items: > 0, Cpu: > 0 })
                _last[i] = new(arrivals, PerItem(busy[i].Cpu, busy[i]), PerItem(Math.Max(0, blocked[i]), busy[i]));
            else
                _last[i] = _last[i] with { Arrivals = _last[i].Compute > 0 ? arrivals : 0 };
        }

        return [.. _last];
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>The blocked time in each stage's sample, in nanoseconds; below zero counts as zero.</summary>
    /// <param name="busy">The samples of the period.</param>
    /// <returns>For each stage.</returns>
    protected abstract double[] Blocked(BusyTime[] busy);

    /// <summary>Releases the resources of the source.</summary>
    /// <param name="disposing">True when called by <see cref="Dispose()"/>.</param>
    protected virtual void Dispose(bool disposing)
    {
    }

    private static double PerItem(double nanoseconds, BusyTime busy) => nanoseconds / NanosecondsPerSecond / busy.Items;
}

/// <summary>
/// Uses the scheduler's statistics: they report how long a thread was ready without a processor. The rest of the wall-clock time was
/// blocked: w = z - x - r.
/// </summary>
public sealed class SchedulerSource : SampledSource
{
    /// <inheritdoc/>
    public override string Name => "scheduler";

    /// <summary>Whether the system provides the statistics.</summary>
    public static bool IsSupported => ThreadClock.KnowsReady;

    /// <inheritdoc/>
    protected override double[] Blocked(BusyTime[] busy)
        => Array.ConvertAll(busy, static stage => (double)(stage.Wall - stage.Cpu - stage.Ready));
}

/// <summary>
/// The paper's estimate (section 5.4) from wall-clock and processor time alone: the ratio of ready time to processor time, alpha, is the
/// same for all threads and is measured in the stages that never block; elsewhere r = alpha x and w = z - x - r.
/// </summary>
/// <param name="neverBlocks">For each stage whether its events never block; at least one must not.</param>
public sealed class RatioSource(IReadOnlyList<bool> neverBlocks) : SampledSource
{
    private double _alpha;

    /// <inheritdoc/>
    public override string Name => "ratio";

    /// <inheritdoc/>
    protected override double[] Blocked(BusyTime[] busy)
    {
        double[] ratios =
            [.. busy.Where((stage, i) => neverBlocks[i] && stage.Cpu > 0)
                .Select(static stage => (double)(stage.Wall - stage.Cpu) / stage.Cpu)];
        if (ratios.Length > 0)
            _alpha = Math.Max(0, ratios.Average());
        return [.. busy.Select((stage, i) => neverBlocks[i] ? 0 : stage.Wall - ((1 + _alpha) * stage.Cpu))];
    }
}
