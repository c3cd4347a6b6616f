namespace Heartbeat.Bench.Load;

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
        var bad = double.PositiveInfinity;
        for (var rate = first; steps.Count < MaxSteps && bad > good * Accuracy; rate = Next(rate, good, bad))
        {
            var step = attempt(rate);
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
    public static double Peak(IEnumerable<PeakStep> steps) =>
        steps.Where(step => step.KeptUp).Select(step => step.Rate).DefaultIfEmpty().Max();

    private static double Next(double rate, double good, double bad)
    {
        if (double.IsPositiveInfinity(bad))
            return rate * Factor;
        return good == 0 ? rate / 2 : Math.Sqrt(good * bad);
    }
}

/// <summary>One step of the search for the peak: an open loop for some seconds.</summary>
/// <param name="Rate">Requests per second asked for.</param>
/// <param name="Answered">Requests answered per second.</param>
/// <param name="BehindMs">
/// How far silo and client were behind at the end, in ms of arrivals: requests not yet sent, and those in flight when they are more than a
/// few.
/// </param>
public sealed record PeakStep(double Rate, double Answered, double BehindMs)
{
    private const double LeastAnswered = 0.98;

    /// <summary>
    /// Two seconds at a rate that is too high by 1 % leave four times as much. A hiccup in between, which a rate below the peak makes up
    /// for, does not count.
    /// </summary>
    private const double MostBehindMs = 5;

    /// <summary>Of slow requests a few milliseconds of arrivals are a handful: so many in flight are no backlog at any rate.</summary>
    private const long NoBacklog = 64;

    /// <summary>A step that has run.</summary>
    /// <param name="rate">Requests per second asked for.</param>
    /// <param name="planned">Seconds that it should have taken.</param>
    /// <param name="taken">Seconds until the last request had been sent.</param>
    /// <param name="answered">Requests answered in the end.</param>
    /// <param name="inFlight">Requests in flight when the last one had been sent.</param>
    public static PeakStep Of(double rate, double planned, double taken, long answered, long inFlight) =>
        new(rate, answered / planned, 1000 * (taken - planned + (inFlight > NoBacklog ? inFlight / rate : 0)));

    /// <summary>Whether silo and load client kept up with the rate.</summary>
    public bool KeptUp => Answered >= LeastAnswered * Rate && BehindMs <= MostBehindMs;
}
