using ActOp.Harness.Load;

namespace HaloPresence.Tests;

public sealed class LatencyHistogramTests
{
    [Theory]
    [InlineData(1, 100)]
    [InlineData(2, 10_000)]
    [InlineData(3, 50_000)]
    public void Quantiles_agree_with_a_full_sort_within_one_percent(int seed, int count)
    {
        var random = new Random(seed);
        var histogram = new LatencyHistogram();
        var values = new TimeSpan[count];
        for (var i = 0; i < count; i++)
        {
            // Six orders of magnitude, evenly in the logarithm.
            values[i] = TimeSpan.FromTicks((long)Math.Pow(10, 1 + 6 * random.NextDouble()));
            histogram.Record(values[i]);
        }
        Array.Sort(values);
        foreach (var quantile in (double[])[0, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1])
        {
            var exact = values[Math.Max(0, (int)Math.Ceiling(quantile * count) - 1)];
            Assert.InRange(histogram.Quantile(quantile).TotalMicroseconds, exact.TotalMicroseconds, exact.TotalMicroseconds * 1.01);
        }
        Assert.Equal(count, histogram.Count);
        Assert.Equal(values[^1], histogram.Max);
    }

    [Fact]
    public void Merging_equals_recording_into_one()
    {
        var random = new Random(4);
        LatencyHistogram one = new(), two = new(), all = new();
        for (var i = 0; i < 5000; i++)
        {
            var value = TimeSpan.FromMicroseconds(random.Next(1, 10_000_000));
            (i % 3 == 0 ? one : two).Record(value);
            all.Record(value);
        }
        one.Merge(two);
        Assert.Equal(all.ToPairs(), one.ToPairs());
    }

    [Fact]
    public void Writing_and_reading_keeps_every_count()
    {
        var histogram = new LatencyHistogram();
        for (var i = 1; i < 3000; i++)
            histogram.Record(TimeSpan.FromMicroseconds(i * i));
        var read = LatencyHistogram.FromPairs(histogram.ToPairs());
        Assert.Equal(histogram.ToPairs(), read.ToPairs());
        Assert.Equal(histogram.Summarize(), read.Summarize());
    }

    [Fact]
    public void Damaged_pairs_are_refused()
    {
        Assert.Throws<FormatException>(() => LatencyHistogram.FromPairs([[1]]));
        Assert.Throws<FormatException>(() => LatencyHistogram.FromPairs([[1_000_000, 1]]));
        Assert.Throws<FormatException>(() => LatencyHistogram.FromPairs([[1, -1]]));
    }

    [Fact]
    public void An_empty_histogram_is_zero_and_extremes_are_clamped()
    {
        var histogram = new LatencyHistogram();
        Assert.Equal(TimeSpan.Zero, histogram.Quantile(0.99));
        histogram.Record(TimeSpan.FromSeconds(-1));
        Assert.Equal(TimeSpan.Zero, histogram.Max);
        histogram.Record(TimeSpan.MaxValue);
        Assert.Equal(2, histogram.Count);
        Assert.InRange(histogram.Max.TotalMinutes, 70, 80);
    }
}
