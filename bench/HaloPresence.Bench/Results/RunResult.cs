using System.Text.Json.Serialization;
using ActOp.Harness.Load;
using HaloPresence.Bench.Load;
using HaloPresence.Bench.Silos;

namespace HaloPresence.Bench.Results;

/// <summary>The outcome of one run, as written to JSON.</summary>
public sealed record RunResult
{
    /// <summary>What was optimised: "off" or "partition".</summary>
    public required string Optimize { get; init; }

    /// <summary>Silo processes.</summary>
    public required int Silos { get; init; }

    /// <summary>Concurrent players.</summary>
    public required int Players { get; init; }

    /// <summary>Requested status requests per second.</summary>
    public required double Rate { get; init; }

    /// <summary>Percent of the players that regroup per minute.</summary>
    public required double ChurnPerMinute { get; init; }

    /// <summary>Seed of the load.</summary>
    public required int Seed { get; init; }

    /// <summary>Whether this was a rehearsal without grains.</summary>
    public required bool Rehearsal { get; init; }

    /// <summary>Share of the grain messages of the measured phase that crossed silos, 0 to 1, as the runtime counts.</summary>
    public required double RemoteShare { get; init; }

    /// <summary>The same as the places of sampled games and players say it.</summary>
    public required double CheckedRemoteShare { get; init; }

    /// <summary>Latency since the intended start, in ms.</summary>
    public required LatencySummary LatencyMs { get; init; }

    /// <summary>Requests answered in the measured phase.</summary>
    public required long Requests { get; init; }

    /// <summary>Requests of the measured phase that found their player without a game.</summary>
    public required long AloneRequests { get; init; }

    /// <summary>Grain messages per answered request (18 in games of 8).</summary>
    public required double MessagesPerRequest { get; init; }

    /// <summary>Failed requests and game changes of all phases.</summary>
    public required long Errors { get; init; }

    /// <summary>The first distinct error texts.</summary>
    public required string[] ErrorTexts { get; init; }

    /// <summary>Requests answered per second of the measured phase.</summary>
    public required double AchievedRate { get; init; }

    /// <summary>The furthest that the load client was behind an intended start, in ms.</summary>
    public required double ClientMaxLagMs { get; init; }

    /// <summary>Processor use of every silo in the measured phase; 100 is one core.</summary>
    public required double[] CpuPercentPerSilo { get; init; }

    /// <summary>Processor time of all silos per answered request, in microseconds.</summary>
    public required double CpuMicrosPerRequest { get; init; }

    /// <summary>Bytes allocated by all silos per answered request.</summary>
    public required double AllocatedBytesPerRequest { get; init; }

    /// <summary>Grains migrated over the whole run.</summary>
    public required long Migrations { get; init; }

    /// <summary>Remote share and moves, second by second.</summary>
    public required ConvergencePoint[] Convergence { get; init; }

    /// <summary>Activations on every silo at the end.</summary>
    public required long[] ActivationsPerSilo { get; init; }

    /// <summary>The closed loop, when there was one.</summary>
    public SaturationResult? Saturation { get; init; }

    /// <summary>Cumulative distribution of the latency of requests.</summary>
    public DistributionPoint[] Distribution => DistributionPoint.Of(Latency);

    /// <summary>Cumulative distribution of the latency of calls from games to players; none unless asked for.</summary>
    public DistributionPoint[] ActorDistribution { get; init; } = [];

    /// <summary>The latency distribution, for the report.</summary>
    [JsonIgnore]
    public LatencyHistogram Latency { get; init; } = new();
}

/// <summary>A point of a cumulative distribution.</summary>
/// <param name="Ms">A latency in ms.</param>
/// <param name="Share">The share of all that did not take longer, 0 to 1.</param>
public sealed record DistributionPoint(double Ms, double Share)
{
    private const double Step = 0.005;

    /// <summary>The points that are a two hundredth of the share, or more, apart.</summary>
    public static DistributionPoint[] Of(LatencyHistogram latency) =>
        Thin(latency.Distribution().Select(static point => new DistributionPoint(point.Milliseconds, point.Share)));

    /// <summary>The distribution of counts between bounds.</summary>
    public static DistributionPoint[] Of(IReadOnlyList<double> boundsMs, IReadOnlyList<double> counts)
    {
        var (all, seen) = (counts.Sum(), 0.0);
        return all > 0 ? Thin(boundsMs.Zip(counts, (bound, count) => new DistributionPoint(bound, (seen += count) / all))) : [];
    }

    private static DistributionPoint[] Thin(IEnumerable<DistributionPoint> points)
    {
        var kept = new List<DistributionPoint>();
        foreach (var point in points.Where(static point => double.IsFinite(point.Ms)))
        {
            // The far end of the tail is what a reader looks for.
            if (kept.Count == 0 || point.Share - kept[^1].Share >= Step || point.Share > 1 - Step)
                kept.Add(point);
        }

        return [.. kept];
    }
}

/// <summary>The outcome of the closed loop.</summary>
/// <param name="RequestsPerSecond">Peak throughput.</param>
/// <param name="Concurrency">Requests in flight.</param>
/// <param name="RemoteShare">Share of grain messages that crossed silos meanwhile.</param>
public sealed record SaturationResult(double RequestsPerSecond, int Concurrency, double RemoteShare);

/// <summary>The state of a run in one second.</summary>
/// <param name="T">Seconds since the load began.</param>
/// <param name="RemoteShare">Share of that second's grain messages that crossed silos.</param>
/// <param name="Moves">Grains migrated in that second.</param>
/// <param name="CpuCores">Processor cores used by all silos.</param>
public sealed record ConvergencePoint(double T, double RemoteShare, double Moves, double CpuCores);

/// <summary>Turns what the processes said into the result of the run.</summary>
public static class ResultAssembly
{
    /// <summary>The result of a run whose load is done.</summary>
    /// <exception cref="InvalidOperationException">The load has not ended.</exception>
    public static RunResult Assemble(HaloOptions options, RunTimeline timeline)
    {
        if (timeline.Load is not { Phase: LoadPhase.Done, Histogram: not null } load)
            throw new InvalidOperationException("The load has not ended: there is nothing to assemble.");
        var open = options.Measure > 0;
        var from = Begin(load, open ? LoadPhase.Measure : LoadPhase.Saturate);
        // The silos' last sample may be a second old; the phases are bounded by what was planned, not by draining.
        var seconds = open ? options.Measure : load.ClosedLoopSeconds;
        var to = from + seconds;
        var requests = open ? load.Requests : load.ClosedLoopRequests;
        var perRequest = requests > 0 ? 1.0 / requests : 0;
        var latency = LatencyHistogram.FromPairs(load.Histogram);
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
            CpuPercentPerSilo =
                [.. silos.Select(i => 100 * (timeline.At(i, to, s => s.CpuSeconds) - timeline.At(i, from, s => s.CpuSeconds)) / seconds)],
            CpuMicrosPerRequest = 1e6 * timeline.Growth(from, to, s => s.CpuSeconds) * perRequest,
            AllocatedBytesPerRequest = timeline.Growth(from, to, s => s.AllocatedBytes) * perRequest,
            Migrations = (long)timeline.Growth(0, load.T, s => s.Moves),
            Convergence = Converge(timeline, load),
            ActivationsPerSilo = [.. silos.Select(i => (long)timeline.At(i, load.T, s => s.Activations))],
            Saturation = Saturate(options, timeline, load),
            Latency = latency,
            ActorDistribution = options.ActorLatency
                ? DistributionPoint.Of(ActorLatency.BoundsMs, [.. ActorLatency.BoundsMs.Select(
                    (_, bound) => timeline.Growth(from, to, sample => sample.ActorCalls.ElementAtOrDefault(bound)))])
                : [],
        };
    }

    private static SaturationResult? Saturate(HaloOptions options, RunTimeline timeline, LoadReport load)
    {
        if (load.ClosedLoopSeconds <= 0)
            return null;
        var from = Begin(load, LoadPhase.Saturate);
        var share = timeline.RemoteShare(from, from + load.ClosedLoopSeconds);
        return new SaturationResult(load.ClosedLoopRequests / load.ClosedLoopSeconds, options.Concurrency, share);
    }

    private static ConvergencePoint[] Converge(RunTimeline timeline, LoadReport load)
    {
        var begin = Begin(load, LoadPhase.Warmup);
        var end = Begin(load, LoadPhase.Done);
        var points = new List<ConvergencePoint>();
        for (var t = begin; t + 1 <= end; t++)
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
