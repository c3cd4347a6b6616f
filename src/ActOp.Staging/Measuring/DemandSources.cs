using Microsoft.Diagnostics.NETCore.Client;

namespace ActOp.Staging.Measuring;

/// <summary>Chooses how demand is measured.</summary>
public static class DemandSources
{
    /// <summary>The best source that this system has.</summary>
    /// <param name="stages">Names of the stages and whether their events never block.</param>
    /// <param name="reason">Why this one, for the log.</param>
    /// <returns>The scheduler's statistics, else a trace of the own process, else the paper's estimate.</returns>
    public static IDemandSource Choose(IReadOnlyList<(string Name, bool NeverBlocks)> stages, out string reason)
    {
        if (SchedulerSource.IsSupported)
        {
            reason = "the system's scheduler tells the ready time of each thread";
            return new SchedulerSource();
        }

        try
        {
            var trace = new TraceSource([.. stages.Select(static stage => stage.Name)]);
            reason = "the system tells no ready times, so the process traces its own waits";
            return trace;
        }
        catch (Exception exception) when (exception is ServerNotAvailableException or ServerErrorException or IOException or TimeoutException or PlatformNotSupportedException)
        {
            reason = "the system tells no ready times and the process cannot be traced (" + exception.Message + "), so ready time is estimated";
            return new RatioSource([.. stages.Select(static stage => stage.NeverBlocks)]);
        }
    }
}
