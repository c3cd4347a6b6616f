using System.Numerics;

namespace ActOp.Harness.Load;

/// <summary>
/// Counts latencies in log-linear buckets: exact counts, values within 1/128 of the truth, from 1 ns to over an hour.
/// Safe for concurrent recording; mergeable across processes.
/// </summary>
public sealed class LatencyHistogram
{
    private const int SubBits = 7;
    private const int SubCount = 1 << SubBits;
    private const int MaxBits = 42;
    private const long MaxValue = (1L << MaxBits) - 1;
    private readonly long[] _counts = new long[(MaxBits - SubBits - 1) * SubCount + 2 * SubCount];
    private long _max;

    /// <summary>Number of values recorded.</summary>
    public long Count
    {
        get
        {
            long sum = 0;
            foreach (var count in _counts)
                sum += count;
            return sum;
        }
    }

    /// <summary>The largest value recorded, exact up to 73 minutes.</summary>
    public TimeSpan Max => TimeSpan.FromMicroseconds(Volatile.Read(ref _max) / 1000.0);

    /// <summary>The mean, within 1/128; zero when empty.</summary>
    public TimeSpan Mean
    {
        get
        {
            double sum = 0;
            long count = 0;
            for (var i = 0; i < _counts.Length; i++)
            {
                count += _counts[i];
                sum += (double)_counts[i] * Math.Min(UpperEnd(i), _max);
            }
            return count == 0 ? TimeSpan.Zero : TimeSpan.FromMicroseconds(sum / count / 1000);
        }
    }

    /// <summary>Records one latency; negative ones count as 0 and those above 73 minutes as 73 minutes.</summary>
    public void Record(TimeSpan latency)
    {
        var value = Math.Clamp(latency.Ticks, 0, MaxValue / 100) * 100;
        Interlocked.Increment(ref _counts[BucketOf(value)]);
        var max = Volatile.Read(ref _max);
        while (value > max)
        {
            var seen = Interlocked.CompareExchange(ref _max, value, max);
            if (seen == max)
                break;
            max = seen;
        }
    }

    /// <summary>The latency that the share <paramref name="quantile"/> (0 to 1) of all values does not exceed; zero when empty.</summary>
    public TimeSpan Quantile(double quantile)
    {
        var total = Count;
        var rank = Math.Max(1, (long)Math.Ceiling(quantile * total));
        long seen = 0;
        for (var i = 0; total > 0 && i < _counts.Length; i++)
        {
            seen += _counts[i];
            if (seen >= rank)
                return TimeSpan.FromMicroseconds(Math.Min(UpperEnd(i), _max) / 1000.0);
        }
        return TimeSpan.Zero;
    }

    /// <summary>Adds all counts of <paramref name="other"/>.</summary>
    public void Merge(LatencyHistogram other)
    {
        for (var i = 0; i < _counts.Length; i++)
            _counts[i] += other._counts[i];
        _max = Math.Max(_max, other._max);
    }

    /// <summary>The usual quantiles in milliseconds.</summary>
    public LatencySummary Summarize() => new(
        Quantile(0.5).TotalMilliseconds,
        Quantile(0.95).TotalMilliseconds,
        Quantile(0.99).TotalMilliseconds,
        Quantile(0.999).TotalMilliseconds,
        Max.TotalMilliseconds);

    /// <summary>
    /// The buckets that hold something, as pairs (bucket, count), with the maximum in nanoseconds as the last pair's count at bucket -1.
    /// </summary>
    public long[][] ToPairs()
    {
        var pairs = new List<long[]>();
        for (var i = 0; i < _counts.Length; i++)
        {
            if (_counts[i] > 0)
                pairs.Add([i, _counts[i]]);
        }
        pairs.Add([-1, _max]);
        return [.. pairs];
    }

    /// <summary>Reads what <see cref="ToPairs"/> wrote.</summary>
    /// <exception cref="FormatException">A pair is not one of a histogram.</exception>
    public static LatencyHistogram FromPairs(IEnumerable<long[]> pairs)
    {
        var histogram = new LatencyHistogram();
        foreach (var pair in pairs)
        {
            if (pair.Length != 2 || pair[0] < -1 || pair[0] >= histogram._counts.Length || pair[1] < 0)
                throw new FormatException("A latency histogram consists of pairs (bucket, count).");
            if (pair[0] < 0)
                histogram._max = pair[1];
            else
                histogram._counts[pair[0]] += pair[1];
        }
        return histogram;
    }

    /// <summary>Points of the cumulative distribution: (latency in ms, share of values not above it).</summary>
    public IReadOnlyList<(double Milliseconds, double Share)> Distribution()
    {
        var points = new List<(double, double)>();
        double total = Count;
        long seen = 0;
        for (var i = 0; i < _counts.Length; i++)
        {
            if (_counts[i] == 0)
                continue;
            seen += _counts[i];
            points.Add((Math.Min(UpperEnd(i), _max) / 1e6, seen / total));
        }
        return points;
    }

    private static int BucketOf(long value)
    {
        if (value < 2 * SubCount)
            return (int)value;
        var shift = BitOperations.Log2((ulong)value) - SubBits;
        return shift * SubCount + (int)(value >> shift);
    }

    private static long UpperEnd(int bucket)
    {
        if (bucket < 2 * SubCount)
            return bucket;
        var shift = bucket / SubCount - 1;
        return ((long)(bucket - shift * SubCount + 1) << shift) - 1;
    }
}

/// <summary>Quantiles of a latency in milliseconds.</summary>
public sealed record LatencySummary(double P50, double P95, double P99, double P999, double Max);
