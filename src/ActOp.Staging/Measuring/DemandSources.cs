namespace ActOp.Staging.Measuring;

/// <summary>How the cost of a stage's events is measured.</summary>
public enum DemandSourceKind
{
    /// <summary>The best one that is available: the scheduler, else the trace, else the ratio.</summary>
    Best,

    /// <summary>Statistics of the system's scheduler (Linux): they tell the ready time of each thread.</summary>
    Scheduler,

    /// <summary>An event trace of the own process; needs the package ActOp.Staging.Tracing.</summary>
    Trace,

    /// <summary>The paper's estimate (section 5.4), which needs neither.</summary>
    Ratio,
}

/// <summary>
/// Opens an event trace of the own process. The package ActOp.Staging.Tracing implements it; it is apart because of the packages that it
/// needs.
/// </summary>
public interface IStageTracing
{
    /// <summary>Begins to trace.</summary>
    /// <param name="stages">Names of the stages, in the order of <see cref="IDemandSource.Estimate"/>.</param>
    /// <param name="reason">Why there is a source, or none, for the log.</param>
    /// <returns>The source, or null if the process cannot be traced.</returns>
    IDemandSource? Open(IReadOnlyList<string> stages, out string reason);
}

/// <summary>Chooses how demand is measured.</summary>
public static class DemandSources
{
    private const string NoReadyTimes = "the system tells no ready times";

    /// <summary>Whether a kind can be had at all; that a trace can be opened is known only when it is.</summary>
    /// <param name="kind">What is asked for.</param>
    /// <param name="tracing">The event trace, if its package is in use.</param>
    /// <returns>Null if it can, else the reason why not.</returns>
    public static string? Obstacle(DemandSourceKind kind, IStageTracing? tracing) => kind switch
    {
        DemandSourceKind.Scheduler when !SchedulerSource.IsSupported => NoReadyTimes,
        DemandSourceKind.Trace when tracing is null =>
            "the event trace is missing: reference the package ActOp.Staging.Tracing and call AddStageTracing() on the services of the silo",
        _ => null,
    };

    /// <summary>The source of a kind.</summary>
    /// <param name="kind">What is asked for.</param>
    /// <param name="tracing">The event trace, if its package is in use.</param>
    /// <param name="stages">Names of the stages and whether their events never block.</param>
    /// <param name="reason">Why this one, or why none, for the log.</param>
    /// <returns>The source; null if there is an <see cref="Obstacle"/>, or the process cannot be traced and a trace was asked for.</returns>
    public static IDemandSource? Choose(
        DemandSourceKind kind, IStageTracing? tracing, IReadOnlyList<(string Name, bool NeverBlocks)> stages, out string reason)
    {
        if (Obstacle(kind, tracing) is { } obstacle)
        {
            reason = obstacle;
            return null;
        }

        reason = "it was asked for";
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
            reason = "the system's scheduler tells the ready time of each thread";
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

    private static RatioSource Ratio(IReadOnlyList<(string Name, bool NeverBlocks)> stages) => new([.. stages.Select(static stage => stage.NeverBlocks)]);
}
