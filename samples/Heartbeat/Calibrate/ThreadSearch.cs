namespace Heartbeat.Calibrate;

/// <summary>Finds the fewest threads with the least latency by measuring: one stage after the other, then the neighbourhood.</summary>
/// <param name="stages">The stages to vary: those with something to do.</param>
/// <param name="measure">Measures the latency of a point; asked once for each.</param>
public sealed class ThreadSearch(IReadOnlyList<int> stages, Func<ThreadPoint, Task<double>> measure)
{
    /// <summary>What is better by less than this share is not better: it cannot be told from noise.</summary>
    public const double LeastGain = 0.05;

    private const int MaxRounds = 3;
    private readonly Dictionary<ThreadPoint, double> _measured = [];

    /// <summary>All points measured so far.</summary>
    public IReadOnlyDictionary<ThreadPoint, double> Measured => _measured;

    /// <summary>Of all points measured that are as good as the best one, that with the fewest threads.</summary>
    public ThreadPoint Fewest()
    {
        double least = _measured.Values.Min();
        return _measured.Where(pair => pair.Value <= least / (1 - LeastGain)).OrderBy(pair => pair.Key.Total).ThenBy(pair => pair.Value).First().Key;
    }

    /// <summary>Varies one stage at a time over <paramref name="values"/>, from <paramref name="start"/> on, until nothing is better.</summary>
    public async Task<ThreadPoint> VaryAsync(ThreadPoint start, IReadOnlyList<int> values)
    {
        ThreadPoint best = start;
        for (int round = 0; round < MaxRounds; round++)
        {
            ThreadPoint before = best;
            foreach (int stage in stages)
                best = await BestAsync(best, values.Select(value => best.With(stage, value)).ToList()).ConfigureAwait(false);
            if (best == before)
                break;
        }
        return Fewest();
    }

    /// <summary>Moves to the best neighbour until none is better.</summary>
    public async Task<ThreadPoint> DescendAsync(ThreadPoint start)
    {
        ThreadPoint best = start;
        for (int round = 0; round < MaxRounds; round++)
        {
            ThreadPoint before = best;
            best = await BestAsync(best, [.. best.Neighbours(stages)]).ConfigureAwait(false);
            if (best == before)
                break;
        }
        return Fewest();
    }

    /// <summary>The best of a point and some others; a tie goes to the first.</summary>
    public async Task<ThreadPoint> BestAsync(ThreadPoint first, IReadOnlyList<ThreadPoint> others)
    {
        ThreadPoint best = first;
        double least = await AskAsync(first).ConfigureAwait(false);
        foreach (ThreadPoint other in others)
        {
            double latency = await AskAsync(other).ConfigureAwait(false);
            if (latency < least * (1 - LeastGain))
                (best, least) = (other, latency);
        }
        return best;
    }

    private async Task<double> AskAsync(ThreadPoint point)
    {
        if (!_measured.TryGetValue(point, out double latency))
        {
            latency = await measure(point).ConfigureAwait(false);
            _measured.Add(point, latency);
        }
        return latency;
    }
}
