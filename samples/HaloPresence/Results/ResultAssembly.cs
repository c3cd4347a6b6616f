using HaloPresence.Load;
using HaloPresence.Options;
using HaloPresence.Supervision;
using Harness.Load;

namespace HaloPresence.Results;

/// <summary>Turns what the processes said into the result of the run.</summary>
public static class ResultAssembly
{
    /// <summary>The result of a run whose load is done.</summary>
    /// <exception cref="InvalidOperationException">The load has not ended.</exception>
    public static RunResult Assemble(HaloOptions options, RunTimeline timeline)
    {
        if (timeline.Load is not { Phase: LoadPhase.Done, Histogram: not null } load)
            throw new InvalidOperationException("The load has not ended: there is nothing to assemble.");
        bool open = options.Measure > 0;
        double from = Begin(load, open ? LoadPhase.Measure : LoadPhase.Saturate);
        // The silos' last sample may be a second old; the phases are bounded by what was planned, not by draining.
        double seconds = open ? options.Measure : load.ClosedLoopSeconds;
        double to = from + seconds;
        long requests = open ? load.Requests : load.ClosedLoopRequests;
        double perRequest = requests > 0 ? 1.0 / requests : 0;
        LatencyHistogram latency = LatencyHistogram.FromPairs(load.Histogram);
        int[] silos = [.. Enumerable.Range(0, timeline.SiloCount)];
        return new RunResult
        {
            Optimize = options.Optimize.ToString().ToLowerInvariant(),
            Silos = options.Silos,
            Players = options.Players,
            Rate = options.Rate,
            ChurnPerMinute = options.Churn,
            Seed = options.Seed,
            Rehearsal = options.Rehearse,
            RemoteShare = timeline.RemoteShare(from, to),
            CheckedRemoteShare = timeline.CheckedRemoteShare(from, to),
            LatencyMs = latency.Summarize(),
            Requests = requests,
            AloneRequests = load.Alone,
            MessagesPerRequest = load.Requests > 0 ? (double)load.Messages / load.Requests : 0,
            Errors = load.Errors,
            ErrorTexts = load.ErrorTexts,
            AchievedRate = seconds > 0 ? requests / seconds : 0,
            ClientMaxLagMs = load.MaxLagMs,
            CpuPercentPerSilo = [.. silos.Select(i => 100 * (timeline.At(i, to, s => s.CpuSeconds) - timeline.At(i, from, s => s.CpuSeconds)) / seconds)],
            CpuMicrosPerRequest = 1e6 * timeline.Growth(from, to, s => s.CpuSeconds) * perRequest,
            AllocatedBytesPerRequest = timeline.Growth(from, to, s => s.AllocatedBytes) * perRequest,
            Migrations = (long)timeline.Growth(0, load.T, s => s.Moves),
            Convergence = Converge(timeline, load),
            ActivationsPerSilo = [.. silos.Select(i => (long)timeline.At(i, load.T, s => s.Activations))],
            Saturation = Saturate(options, timeline, load),
            Latency = latency,
        };
    }

    private static SaturationResult? Saturate(HaloOptions options, RunTimeline timeline, LoadReport load)
    {
        if (load.ClosedLoopSeconds <= 0)
            return null;
        double from = Begin(load, LoadPhase.Saturate);
        double share = timeline.RemoteShare(from, from + load.ClosedLoopSeconds);
        return new SaturationResult(load.ClosedLoopRequests / load.ClosedLoopSeconds, options.Concurrency, share);
    }

    private static ConvergencePoint[] Converge(RunTimeline timeline, LoadReport load)
    {
        double begin = Begin(load, LoadPhase.Warmup);
        double end = Begin(load, LoadPhase.Done);
        var points = new List<ConvergencePoint>();
        for (double t = begin; t + 1 <= end; t++)
        {
            points.Add(new ConvergencePoint(
                Math.Round(t - begin, 3),
                timeline.RemoteShare(t, t + 1),
                timeline.Growth(t, t + 1, s => s.Moves),
                timeline.Growth(t, t + 1, s => s.CpuSeconds)));
        }
        return [.. points];
    }

    private static double Begin(LoadReport load, LoadPhase phase) => load.PhaseStarts[(int)phase];
}
