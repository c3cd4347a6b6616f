using System.Numerics;

namespace ActOp.Staging.Groups;

/// <summary>
/// The distribution of how long something waited, of the last some thousand times: old ones lose weight. One writer at a time; any thread
/// reads.
/// </summary>
internal sealed class WaitTimes
{
    /// <summary>Buckets for each power of two: a quantile is exact to a quarter.</summary>
    private const int PerDoubling = 4;
    private const int Doublings = 26;

    /// <summary>After so many entries all counts are halved.</summary>
    private const int Window = 4096;

    /// <summary>Made with the first entry: most of many groups never wait.</summary>
    private int[]? _counts;
    private int _entries;

    /// <summary>Adds a wait in microseconds.</summary>
    internal void Add(double microseconds)
    {
        var counts = _counts ??= new int[PerDoubling * Doublings];
        counts[BucketOf(microseconds)]++;
        if (++_entries < Window)
            return;
        _entries = 0;
        for (var i = 0; i < counts.Length; i++)
        {
            counts[i] /= 2;
            _entries += counts[i];
        }
    }

    /// <summary>The time in microseconds that a share of the waits did not exceed; 0 without any. A racy snapshot.</summary>
    internal double At(double share)
    {
        if (Volatile.Read(ref _counts) is not { } counts)
            return 0;
        var rank = share * counts.Sum();
        var passed = 0;
        for (var i = 0; i < counts.Length; i++)
        {
            passed += counts[i];
            if (counts[i] > 0 && passed >= rank)
                return EndOf(i);
        }

        return 0;
    }

    /// <summary>Linear within a power of two; below one microsecond all are the same.</summary>
    private static int BucketOf(double microseconds)
    {
        var quarters = (uint)Math.Clamp(microseconds * PerDoubling, PerDoubling, (double)(1 << (Doublings + 1)));
        var doubling = BitOperations.Log2(quarters) - 2;
        return Math.Min((PerDoubling * doubling) + (int)((quarters >> doubling) - PerDoubling), (PerDoubling * Doublings) - 1);
    }

    private static double EndOf(int bucket)
    {
        var (doubling, part) = Math.DivRem(bucket, PerDoubling);
        return (1 << doubling) * (1 + ((part + 1.0) / PerDoubling));
    }
}
