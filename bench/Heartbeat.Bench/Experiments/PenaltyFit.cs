using ActOp.Staging.Model;
using Heartbeat.Bench.Load;
using Heartbeat.Bench.Runs;
using Heartbeat.Bench.Silos;

namespace Heartbeat.Bench.Experiments;

/// <summary>
/// Finds the price of a thread, eta, with which the model suggests the threads that measuring found best (paper, section 6.2).
/// </summary>
public static class PenaltyFit
{
    private const double Least = 1e-7;
    private const double Most = 1e-2;
    private const int PerDecade = 40;
    private const int MaxThreads = 64;

    /// <summary>Fits.</summary>
    /// <param name="demands">What the stages have to do, in the order of <see cref="ThreadPoint"/>.</param>
    /// <param name="processors">Processors that the silo's model counts on, with headroom.</param>
    /// <param name="best">The threads that measuring found best.</param>
    /// <param name="configured">The price that is configured now, in seconds; it stays when no other explains the best better.</param>
    /// <returns>Else the middle (of the logarithm) of the longest range of prices whose suggestion is nearest to the best.</returns>
    public static FittedPenalty Fit(IReadOnlyList<StageDemand> demands, double processors, ThreadPoint best, double configured)
    {
        // A stage without events has nothing to say about the price of its threads.
        int[] busy = [.. Enumerable.Range(0, ThreadPoint.Count).Where(stage => demands[stage].Arrivals > 0)];
        var steps = (int)Math.Round(Math.Log10(Most / Least) * PerDecade);
        var distances = new int[steps + 1];
        for (var i = 0; i <= steps; i++)
            distances[i] = Suggest(demands, processors, At(i)).DistanceTo(best, busy);
        var nearest = distances.Min();
        var runs = Runs(distances, nearest);
        (var from, var to) = runs.Find(run => At(run.From) <= configured && configured <= At(run.To)) is { To: > 0 } around
            ? around : runs.MaxBy(run => run.To - run.From);
        var eta = At(from) <= configured && configured <= At(to) ? configured : Math.Sqrt(At(from) * At(to));
        return new FittedPenalty(eta, At(from), At(to), Suggest(demands, processors, eta), nearest);
    }

    /// <summary>The model's threads for a price in seconds.</summary>
    public static ThreadPoint Suggest(IReadOnlyList<StageDemand> demands, double processors, double eta)
    {
        var model = new ThreadModel(processors, eta);
        var threads = new ThreadRounding(model, 1, MaxThreads).Round(demands, model.Solve(demands)).Threads;
        return new ThreadPoint(threads[0], threads[1], threads[2]);
    }

    private static double At(int step) => Least * Math.Pow(10, (double)step / PerDecade);

    private static List<(int From, int To)> Runs(int[] distances, int nearest)
    {
        var runs = new List<(int, int)>();
        for (var i = 0; i < distances.Length; i++)
        {
            var from = i;
            while (i < distances.Length && distances[i] == nearest)
                i++;
            if (i > from)
                runs.Add((from, i - 1));
        }
        return runs;
    }
}

/// <summary>A fitted price of a thread.</summary>
/// <param name="Eta">The price in seconds per thread.</param>
/// <param name="From">The least price with a suggestion as near.</param>
/// <param name="To">The greatest.</param>
/// <param name="Suggestion">What the model suggests with it.</param>
/// <param name="Distance">Threads by which the suggestion differs from what measuring found best.</param>
public sealed record FittedPenalty(double Eta, double From, double To, ThreadPoint Suggestion, int Distance);

/// <summary>What one stage had to do, as written to JSON.</summary>
/// <param name="EventsPerSecond">Its events, lambda.</param>
/// <param name="ComputeMicros">Processor time of an event, x.</param>
/// <param name="BlockedMicros">Time an event was blocked, w.</param>
public sealed record MeasuredDemand(double EventsPerSecond, double ComputeMicros, double BlockedMicros)
{
    /// <summary>From the model's words.</summary>
    public static MeasuredDemand Of(StageDemand demand) => new(demand.Arrivals, 1e6 * demand.Compute, 1e6 * demand.Blocked);
}

/// <summary>Reads what the stages had to do off a run (paper, section 5.4).</summary>
public static class DemandReading
{
    /// <summary>Receive, work and client send, in the measured segment.</summary>
    /// <exception cref="InvalidOperationException">The run failed, or the runtime did not say what its stages take.</exception>
    public static StageDemand[] Of(CellRun run)
    {
        var measured = run.Segment(SegmentNames.Measure);
        StageDemand[] demands = [.. ((int[])[StageNames.Receive, StageNames.Work, StageNames.ClientSend]).Select(stage => Of(run.Timeline,
            measured, stage))];
        if (demands.All(demand => demand.Arrivals == 0))
            throw new InvalidOperationException("The runtime does not say what processor time its stages take: there is nothing to fit.");
        return demands;
    }

    private static StageDemand Of(CellTimeline timeline, SegmentReport measured, int stage)
    {
        double Growth(Func<StageReading, double> counter) =>
            timeline.Growth(measured.From, measured.From + measured.Seconds, sample => counter(sample.Stages[stage]));
        var events = Growth(reading => reading.Executed);
        var compute = events > 0 ? Growth(reading => reading.Cpu) / events : 0;
        // So few events that none was sampled: as the runtime does, as if there were none.
        if (compute <= 0)
            return new StageDemand(0, 0);
        var blocked = Math.Max(0, Growth(reading => reading.Wall - reading.Cpu - reading.Ready) / events);
        return new StageDemand(events / measured.Seconds, compute, blocked);
    }
}
