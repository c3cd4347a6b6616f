namespace Heartbeat.Load;

/// <summary>
/// Finds the peak: the highest rate of an open loop that silo and load client keep up with. A closed loop would not do: with many requests
/// in flight it moves several times as many, in batches that no arrivals of independent clients make.
/// </summary>
public static class PeakSearch
{
    private const double Factor = 1.3;
    private const double Accuracy = 1.03;
    private const int MaxSteps = 12;

    /// <summary>The most attempts of a search: a step that failed is tried once more.</summary>
    public const int MaxAttempts = 2 * MaxSteps;

    /// <summary>Tries rates from <paramref name="first"/> on, upwards until one is too high, then between; returns all steps.</summary>
    public static PeakStep[] Run(double first, Func<double, PeakStep> attempt)
    {
        var steps = new List<PeakStep>();
        double good = 0;
        double bad = double.PositiveInfinity;
        for (double rate = first; steps.Count < MaxSteps && bad > good * Accuracy; rate = Next(rate, good, bad))
        {
            PeakStep step = attempt(rate);
            // A hiccup of the machine is no limit.
            if (!step.KeptUp)
                step = attempt(rate);
            steps.Add(step);
            if (step.KeptUp)
                good = Math.Max(good, rate);
            else
                bad = Math.Min(bad, rate);
        }
        return [.. steps];
    }

    /// <summary>The peak of a search; 0 when no rate was kept up with.</summary>
    public static double Peak(IEnumerable<PeakStep> steps) => steps.Where(step => step.KeptUp).Select(step => step.Rate).DefaultIfEmpty().Max();

    private static double Next(double rate, double good, double bad)
    {
        if (double.IsPositiveInfinity(bad))
            return rate * Factor;
        return good == 0 ? rate / 2 : Math.Sqrt(good * bad);
    }
}
