using Heartbeat.Bench.Load;

namespace Heartbeat.Bench.Runs;

/// <summary>
/// The rates that loads mean: shares of the baseline's peak. There is one for each cost of a request; it is searched for when first needed.
/// </summary>
/// <param name="runner">Runs the searches.</param>
/// <param name="given">Peaks that need no search, by the microseconds that a request computes; 0 is none.</param>
public sealed class Peaks(CellRunner runner, IEnumerable<(double ComputeUs, double Peak)> given)
{
    /// <summary>With blocking calls loads are shares of so many times what as many workers as cores can answer.</summary>
    public const double BlockingFactor = 2;

    private const double WarmupSeconds = 2;
    private const int WarmupConcurrency = 64;
    private readonly Dictionary<double, double> _baselines =
        given.Where(one => one.Peak > 0).ToDictionary(one => one.ComputeUs, one => one.Peak);

    /// <summary>Requests per second of a load.</summary>
    public async Task<double> RateAsync(LoadLevel load, double computeUs, double blockingPercent)
    {
        var baseline = await BaselineAsync(computeUs).ConfigureAwait(false);
        return Rate(load, baseline, Limit(Environment.ProcessorCount, blockingPercent, runner.Options.BlockingMs));
    }

    /// <summary>
    /// A share of the baseline's peak. With blocking calls that would be many times what its workers can answer, so that its latency would
    /// say nothing but how many requests may be in flight: then it is a share of <see cref="BlockingFactor"/> times that limit, from the
    /// limit itself to well above it, where processors suffice for everybody who has the threads.
    /// </summary>
    public static double Rate(LoadLevel load, double baseline, double limit) =>
        LoadShare.Of(load) * Math.Min(baseline, BlockingFactor * limit);

    /// <summary>Requests per second that some workers can answer if calls did nothing but block; infinite when none does.</summary>
    public static double Limit(int workers, double blockingPercent, double blockingMs) =>
        workers / (blockingPercent / 100 * blockingMs / 1000);

    /// <summary>The peak of the baseline (threads = cores) without blocking calls.</summary>
    private async Task<double> BaselineAsync(double computeUs)
    {
        if (_baselines.TryGetValue(computeUs, out var known))
            return known;
        var title = FormattableString.Invariant($"peak of cores, {computeUs:0.##} us");
        return _baselines[computeUs] = await SearchAsync(runner, Allocation.Cores, computeUs, title).ConfigureAwait(false);
    }

    /// <summary>Searches for the peak of an allocation, in requests per second, and prints it with the rates that were tried.</summary>
    /// <exception cref="InvalidOperationException">Nothing was found.</exception>
    public static async Task<double> SearchAsync(CellRunner runner, Allocation allocation, double computeUs, string title)
    {
        var run = await runner.RunAsync(title, new CellOptions
        {
            Allocation = allocation,
            ComputeUs = computeUs,
            Schedule = Schedule.Print(new Segment(SegmentNames.Warmup, WarmupSeconds, 0, WarmupConcurrency)),
            FindPeak = true,
        }).ConfigureAwait(false);
        var steps = run.Report?.PeakSteps ?? [];
        var peak = PeakSearch.Peak(steps);
        if (peak <= 0)
            throw new InvalidOperationException($"{title}: the search found nothing. {run.Failure}");
        Console.WriteLine($"{title}: {peak:N0} requests/s (kept up: {string.Join(", ", steps.Select(step => $"{step.Rate:N0} {(step.KeptUp ? "yes" : "no")}"))})");
        return peak;
    }
}
