using ActOp.Harness.Reports;

namespace HaloPresence.Tests;

public sealed class ChartTests
{
    [Theory]
    [InlineData(0, 1, new[] { 0, 0.2, 0.4, 0.6, 0.8, 1 })]
    [InlineData(0, 73.4, new[] { 0.0, 20, 40, 60 })]
    [InlineData(0, 6, new[] { 0.0, 1, 2, 3, 4, 5, 6 })]
    [InlineData(0, 0.0031, new[] { 0, 0.001, 0.002, 0.003 })]
    [InlineData(12.3, 61.9, new[] { 20.0, 30, 40, 50, 60 })]
    [InlineData(0, 12_345, new[] { 0.0, 5000, 10_000 })]
    public void An_axis_has_round_ticks_within_its_range(double from, double to, double[] expected) =>
        Assert.Equal(expected, AxisTicks.Linear(from, to, 6));

    [Fact]
    public void Ticks_are_one_two_or_five_times_a_power_of_ten_apart_whatever_the_range()
    {
        var random = new Random(1);
        for (var i = 0; i < 1000; i++)
        {
            var from = random.Next(2) == 0 ? 0 : Math.Pow(10, (8 * random.NextDouble()) - 4);
            var to = from + Math.Pow(10, (12 * random.NextDouble()) - 6);
            var ticks = AxisTicks.Linear(from, to, 6);
            Assert.InRange(ticks.Count, 2, 7);
            Assert.InRange(ticks[0], from - (1e-6 * (to - from)), to);
            var step = (ticks[^1] - ticks[0]) / (ticks.Count - 1);
            var digit = step / Math.Pow(10, Math.Floor(Math.Log10(step) + 1e-6));
            Assert.Contains(Math.Round(digit, 4), new double[] { 1, 2, 5 });
        }
    }

    [Theory]
    [InlineData(0.3, 40, new[] { 0.5, 1, 2, 5, 10, 20 })]
    [InlineData(0.01, 1000, new[] { 0.01, 0.1, 1, 10, 100, 1000 })]
    [InlineData(3, 4, new[] { 3, 3.2, 3.4, 3.6, 3.8, 4 })]
    public void A_logarithmic_axis_has_round_ticks(double from, double to, double[] expected) =>
        Assert.Equal(expected, AxisTicks.Logarithmic(from, to, 12));

    [Fact]
    public void A_range_without_length_has_one_tick() => Assert.Equal([5], AxisTicks.Linear(5, 5, 6));
}
