using ActOp.Staging.Model;

namespace Heartbeat.Calibrate;

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
        int steps = (int)Math.Round(Math.Log10(Most / Least) * PerDecade);
        var distances = new int[steps + 1];
        for (int i = 0; i <= steps; i++)
            distances[i] = Suggest(demands, processors, At(i)).DistanceTo(best, busy);
        int nearest = distances.Min();
        List<(int From, int To)> runs = Runs(distances, nearest);
        (int from, int to) = runs.Find(run => At(run.From) <= configured && configured <= At(run.To)) is { To: > 0 } around ? around : runs.MaxBy(run => run.To - run.From);
        double eta = At(from) <= configured && configured <= At(to) ? configured : Math.Sqrt(At(from) * At(to));
        return new FittedPenalty(eta, At(from), At(to), Suggest(demands, processors, eta), nearest);
    }

    /// <summary>The model's threads for a price in seconds.</summary>
    public static ThreadPoint Suggest(IReadOnlyList<StageDemand> demands, double processors, double eta)
    {
        var model = new ThreadModel(processors, eta);
        IReadOnlyList<int> threads = new ThreadRounding(model, 1, MaxThreads).Round(demands, model.Solve(demands)).Threads;
        return new ThreadPoint(threads[0], threads[1], threads[2]);
    }

    private static double At(int step) => Least * Math.Pow(10, (double)step / PerDecade);

    private static List<(int From, int To)> Runs(int[] distances, int nearest)
    {
        var runs = new List<(int, int)>();
        for (int i = 0; i < distances.Length; i++)
        {
            int from = i;
            while (i < distances.Length && distances[i] == nearest)
                i++;
            if (i > from)
                runs.Add((from, i - 1));
        }
        return runs;
    }
}
