using MathNet.Numerics.Statistics;

namespace Heartbeat.Bench.Experiments;

/// <summary>
/// Finds the fewest threads with the least latency by measuring: one stage after the other, then the neighbourhood, then the best of these
/// again in turns.
/// </summary>
/// <param name="stages">The stages to vary: those with something to do.</param>
/// <param name="measure">Measures the latency of a point; asked once for each, and again in the play-off.</param>
public sealed class ThreadSearch(IReadOnlyList<int> stages, Func<ThreadPoint, Task<double>> measure)
{
    /// <summary>What is better by less than this share is not better: it cannot be told from noise.</summary>
    public const double LeastGain = 0.05;

    private const int MaxRounds = 3;
    private readonly Dictionary<ThreadPoint, List<double>> _measured = [];

    /// <summary>All points measured so far, each with the median of what was measured.</summary>
    public IReadOnlyDictionary<ThreadPoint, double> Measured => _measured.ToDictionary(pair => pair.Key, pair => pair.Value.Median());

    /// <summary>
    /// Measures the best points so far, and <paramref name="seeded"/>, some more times in turns with <paramref name="incumbent"/>: of many
    /// points that were measured once the best was lucky. Returns the fewest threads of those that are as good as the best and beat the
    /// incumbent in every round; else the incumbent.
    /// </summary>
    public async Task<ThreadPoint> PlayOffAsync(ThreadPoint incumbent, int count, int rounds, params ThreadPoint[] seeded)
    {
        ThreadPoint[] finalists =
            [.. Measured.OrderBy(pair => pair.Value).Take(count).Select(pair => pair.Key).Union(seeded).Append(incumbent).Distinct()];
        foreach (var point in finalists)
            await AskAsync(point).ConfigureAwait(false);
        for (var round = 0; round < rounds; round++)
        {
            foreach (var point in finalists)
                _measured[point].Add(await measure(point).ConfigureAwait(false));
        }
        bool Beats(ThreadPoint point) =>
            _measured[point].TakeLast(rounds).Zip(_measured[incumbent].TakeLast(rounds)).All(
                pair => pair.First < pair.Second * (1 - LeastGain));
        ThreadPoint[] better = [.. finalists.Where(Beats)];
        return better.Length == 0 ? incumbent : Fewest(better);
    }

    /// <summary>Of these points that are as good as the best one, that with the fewest threads.</summary>
    private ThreadPoint Fewest(IReadOnlyCollection<ThreadPoint> points)
    {
        var measured = Measured;
        var least = points.Min(point => measured[point]);
        return points.Where(point => measured[point] <= least / (1 - LeastGain)).OrderBy(point => point.Total)
            .ThenBy(point => measured[point]).First();
    }

    /// <summary>
    /// Varies one stage at a time over <paramref name="values"/>, from <paramref name="start"/> on, until nothing is better.
    /// </summary>
    public async Task<ThreadPoint> VaryAsync(ThreadPoint start, IReadOnlyList<int> values)
    {
        var best = start;
        for (var round = 0; round < MaxRounds; round++)
        {
            var before = best;
            foreach (var stage in stages)
                best = await BestAsync(best, values.Select(value => best.With(stage, value)).ToList()).ConfigureAwait(false);
            if (best == before)
                break;
        }
        return Fewest(_measured.Keys);
    }

    /// <summary>Moves to the best neighbour until none is better.</summary>
    public async Task<ThreadPoint> DescendAsync(ThreadPoint start)
    {
        var best = start;
        for (var round = 0; round < MaxRounds; round++)
        {
            var before = best;
            best = await BestAsync(best, [.. best.Neighbours(stages)]).ConfigureAwait(false);
            if (best == before)
                break;
        }
        return Fewest(_measured.Keys);
    }

    /// <summary>The best of a point and some others; a tie goes to the first.</summary>
    public async Task<ThreadPoint> BestAsync(ThreadPoint first, IReadOnlyList<ThreadPoint> others)
    {
        var best = first;
        var least = await AskAsync(first).ConfigureAwait(false);
        foreach (var other in others)
        {
            var latency = await AskAsync(other).ConfigureAwait(false);
            if (latency < least * (1 - LeastGain))
                (best, least) = (other, latency);
        }
        return best;
    }

    private async Task<double> AskAsync(ThreadPoint point)
    {
        if (!_measured.TryGetValue(point, out var latencies))
            _measured.Add(point, latencies = [await measure(point).ConfigureAwait(false)]);
        return latencies.Median();
    }
}

/// <summary>Threads of the stages that a request of a client passes.</summary>
public readonly record struct ThreadPoint(int Receive, int Work, int ClientSend)
{
    /// <summary>Number of stages.</summary>
    public const int Count = 3;

    /// <summary>The threads of a stage, in the order of the names.</summary>
    public int this[int stage] => stage switch { 0 => Receive, 1 => Work, _ => ClientSend };

    /// <summary>The same with other threads in one stage.</summary>
    public ThreadPoint With(int stage, int threads) => stage switch
    {
        0 => this with { Receive = threads },
        1 => this with { Work = threads },
        _ => this with { ClientSend = threads },
    };

    /// <summary>All threads.</summary>
    public int Total => Receive + Work + ClientSend;

    /// <summary>Points with one thread more or fewer in one of these stages, at least one everywhere.</summary>
    public IEnumerable<ThreadPoint> Neighbours(IEnumerable<int> stages)
    {
        foreach (var stage in stages)
        {
            yield return With(stage, this[stage] + 1);
            if (this[stage] > 1)
                yield return With(stage, this[stage] - 1);
        }
    }

    /// <summary>How many threads two points differ by in these stages.</summary>
    public int DistanceTo(ThreadPoint other, IEnumerable<int> stages)
    {
        var sum = 0;
        foreach (var stage in stages)
            sum += Math.Abs(this[stage] - other[stage]);
        return sum;
    }

    /// <summary>As text, in the order of the names.</summary>
    public override string ToString() => $"{Receive}/{Work}/{ClientSend}";
}
