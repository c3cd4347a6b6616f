using System.Collections.Frozen;
using ActOp.Foundation;
using ActOp.Partitioning;
using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Runtime.Placement;

/// <summary>
/// The silo with the lowest weighted use of processor, memory and activations among a few chosen at random; the requesting silo, if its use
/// is hardly higher.
/// </summary>
/// <remarks>
/// <para>Any thread; the lock guards the own choices. The uses are those that the silos exchange about once a second. Each own choice is
/// added at once, so that a burst does not go to one silo; the next report contains it.</para>
/// <para>Reports are of different times: during a burst the silo with the oldest report looks empty to all, and if each placing silo made
/// up for the whole difference, that silo would get several times as much. So each makes up for its share (<see cref="Follow"/>).</para>
/// <para>The partitioner moves grains to keep the number of activations of each silo within a band around the mean. So that it does not
/// move what was just placed, a silo above its band is chosen only if all are. The band is the partitioner's own
/// (<see cref="SiloLoad.Around"/>), from the same numbers. Without the partitioner there is no band.</para>
/// </remarks>
/// <param name="random">Draws the silos that are compared.</param>
/// <param name="uses">The last known uses of all silos.</param>
/// <param name="options">The weights.</param>
/// <param name="tolerance">Half the width of the partitioner's band; null if the partitioner is off.</param>
internal sealed class ResourceOptimizedDirector(
    SeededRandom random, Func<SiloUses> uses, ResourceOptimizedPlacementOptions options, double? tolerance) : OwnDirector
{
    private const int MaxSlates = 64;

    /// <summary>
    /// A difference has as many shares as there are silos, since all may place; at most so many, so that few reports are enough to follow.
    /// </summary>
    private const int MaxShares = 4;

    private readonly double _weights = options.CpuUsageWeight + options.MemoryUsageWeight + options.AvailableMemoryWeight
        + options.MaxAvailableMemoryWeight + options.ActivationCountWeight;

    private readonly Lock _gate = new();

    /// <summary>Index of each silo in the arrays.</summary>
    private readonly Dictionary<SiloAddress, int> _indexes = [];

    /// <summary>Indexes of the silos of the arrays that were used last.</summary>
    private readonly Dictionary<SiloAddress[], Slate> _slates = new(ReferenceEqualityComparer.Instance);

    private SiloUses _seen = SiloUses.None;
    private Slate? _last;
    private double[] _fixed = [];

    /// <summary>The mean of the fixed scores of all that have reported.</summary>
    private double _meanFixed;

    /// <summary>Activations of each silo: the last reports, followed by shares, and the own choices since.</summary>
    private int[] _counts = [];
    private long _sum;
    private int _most = 1;

    internal override SiloAddress Choose(GrainId grain, SiloAddress[] silos, SiloAddress requester)
    {
        if (silos.Length == 1)
            return silos[0];
        lock (_gate)
        {
            Refresh();
            var slate = _last is { } last && ReferenceEquals(last.Silos, silos) && last.Requester.Equals(requester)
                ? last
                : _last = SlateOf(silos, requester);
            var chosen = Best(slate);
            _sum++;
            _most = Math.Max(_most, ++_counts[slate.Indexes[chosen]]);
            return silos[chosen];
        }
    }

    private void Refresh()
    {
        var current = uses();
        if (ReferenceEquals(current, _seen))
            return;
        var counts = Follow(current);
        _seen = current;
        _last = null;
        _slates.Clear();
        _indexes.Clear();
        _sum = 0;
        _most = 1;
        _meanFixed = current.All.Values.Select(FixedScore).DefaultIfEmpty().Average();
        foreach (var (silo, use) in current.All)
        {
            var index = IndexOf(silo);
            _counts[index] = counts.GetValueOrDefault(silo, use.Activations);
            _most = Math.Max(_most, _counts[index]);
            _sum += _counts[index];
        }
    }

    /// <summary>
    /// The counts of the silos that have reported before, a share of the difference closer to the new reports, and another one for each
    /// report since the last choice: without choices for a while, the counts are those of the reports.
    /// </summary>
    private Dictionary<SiloAddress, int> Follow(SiloUses current)
    {
        KeyValuePair<SiloAddress, SiloUse>[] again = [.. current.All.Where(pair => _indexes.ContainsKey(pair.Key))];
        if (again.Length == 0)
            return [];
        // What all have gained since the last reports is taken over whole: it changes none of the differences.
        var gained = (int)again.Average(pair => pair.Value.Activations - _counts[_indexes[pair.Key]]);
        var shares = Math.Min(again.Length, MaxShares);
        var left = Math.Pow(1 - (1.0 / shares), Math.Max(1, current.Number - _seen.Number));
        return again.ToDictionary(static pair => pair.Key, pair =>
        {
            var followed = _counts[_indexes[pair.Key]] + gained;
            double difference = pair.Value.Activations - followed;
            // Not times the rest of 1: an error of rounding above a whole number would count as one more.
            var part = difference - (difference * left);
            // Away from zero, so that it arrives.
            return Math.Max(0, followed + (int)(part < 0 ? Math.Floor(part) : Math.Ceiling(part)));
        });
    }

    private Slate SlateOf(SiloAddress[] silos, SiloAddress requester)
    {
        if (_slates.TryGetValue(silos, out var found) && found.Requester.Equals(requester))
            return found;
        if (_slates.Count >= MaxSlates)
            _slates.Clear();
        return _slates[silos] = new Slate(silos, [.. silos.Select(IndexOf)], requester, Array.IndexOf(silos, requester));
    }

    /// <summary>
    /// A silo that has not reported yet has no activations, and uses as much else as the mean: nothing would make every silo send all
    /// its new grains there.
    /// </summary>
    private int IndexOf(SiloAddress silo)
    {
        if (_indexes.TryGetValue(silo, out var index))
            return index;
        index = _indexes.Count;
        if (index >= _counts.Length)
        {
            Array.Resize(ref _counts, Math.Max(8, index * 2));
            Array.Resize(ref _fixed, Math.Max(8, index * 2));
        }

        _indexes.Add(silo, index);
        _counts[index] = 0;
        _fixed[index] = _seen.All.TryGetValue(silo, out var use) ? FixedScore(use) : _meanFixed;
        return index;
    }

    /// <summary>The index of the chosen silo.</summary>
    private int Best(Slate slate)
    {
        var count = slate.Silos.Length;
        var limit = Limit();
        var best = -1;
        var least = double.PositiveInfinity;
        // The square root of all, at least two: with more, all placing silos would choose the same one. More if these are above their band.
        var drawn = Math.Max(2, (int)Math.Ceiling(Math.Sqrt(count)));
        var first = random.Next(count);
        for (var i = 0; i < count && (i < drawn || best < 0); i++)
        {
            var index = (first + i) % count;
            if (_counts[slate.Indexes[index]] <= limit && Score(slate.Indexes[index]) is var score && score < least)
                (best, least) = (index, score);
        }

        // All are above.
        for (var index = 0; index < count && best < 0; index++)
            best = _counts[slate.Indexes[index]] == slate.Indexes.Min(index => _counts[index]) ? index : -1;
        var near = slate.Near;
        return near >= 0 && _counts[slate.Indexes[near]] <= limit
            && Score(slate.Indexes[near]) <= least + (options.LocalSiloPreferenceMargin / 100.0) ? near : best;
    }

    /// <summary>The upper end of the partitioner's band.</summary>
    private double Limit()
    {
        if (tolerance is not { } half)
            return double.PositiveInfinity;
        var mean = _sum / (double)_indexes.Count;
        return SiloLoad.Around(mean, mean, half).Upper;
    }

    /// <summary>Between 0 and 1; the lower the better.</summary>
    private double Score(int index) => _fixed[index] + (options.ActivationCountWeight * _counts[index] / (_weights * _most));

    /// <summary>The part of the score that changes only with the reports.</summary>
    private double FixedScore(SiloUse use)
    {
        var score = options.CpuUsageWeight * use.CpuPercent / 100.0;
        if (use.MaxMemory > 0)
        {
            score += (options.MemoryUsageWeight * Math.Min(1, use.UsedMemory / (double)use.MaxMemory))
                + (options.AvailableMemoryWeight * (1 - Math.Min(1, use.AvailableMemory / (double)use.MaxMemory)))
                + (options.MaxAvailableMemoryWeight * (1 - (use.MaxMemory / (double)_seen.MostMemory)));
        }

        return score / _weights;
    }

    /// <summary>The silos that one grain type may be placed on.</summary>
    /// <param name="Silos">The shared array; compared by reference.</param>
    /// <param name="Indexes">The index of each silo.</param>
    /// <param name="Requester">Who asked.</param>
    /// <param name="Near">Its index; -1 if it is not one of them.</param>
    private sealed record Slate(SiloAddress[] Silos, int[] Indexes, SiloAddress Requester, int Near);
}

/// <summary>What one silo uses of its resources, as it tells the others.</summary>
/// <param name="Activations">Activations of grains.</param>
/// <param name="CpuPercent">Processor use of the process, 0 to 100, smoothed.</param>
/// <param name="UsedMemory">Bytes in use, smoothed.</param>
/// <param name="AvailableMemory">Bytes that are left, smoothed.</param>
/// <param name="MaxMemory">Bytes that the process may use; 0 for unknown.</param>
[GenerateSerializer]
internal readonly record struct SiloUse(
    [property: Id(0)] int Activations, [property: Id(1)] float CpuPercent, [property: Id(2)] long UsedMemory,
    [property: Id(3)] long AvailableMemory, [property: Id(4)] long MaxMemory);

/// <summary>The uses of all silos as known at one time. Immutable.</summary>
/// <param name="uses">Of each silo that is known.</param>
/// <param name="number">Grows by one each time, about once a second.</param>
internal sealed class SiloUses(KeyValuePair<SiloAddress, SiloUse>[] uses, long number)
{
    private readonly FrozenDictionary<SiloAddress, SiloUse> _uses = uses.ToFrozenDictionary();

    internal static SiloUses None { get; } = new([], 0);

    internal long Number => number;

    /// <summary>All that have reported.</summary>
    internal FrozenDictionary<SiloAddress, SiloUse> All => _uses;

    /// <summary>The largest memory that a silo may use.</summary>
    internal long MostMemory { get; } = uses.Select(static pair => pair.Value.MaxMemory).DefaultIfEmpty().Max();

    internal SiloUse UseOf(SiloAddress silo) => _uses.GetValueOrDefault(silo);
}
