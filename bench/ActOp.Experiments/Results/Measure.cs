using System.Globalization;
using ActOp.Floors;

namespace ActOp.Experiments.Results;

/// <summary>One number of an experiment.</summary>
/// <param name="Name">What was measured.</param>
/// <param name="Value">The median of the rounds.</param>
/// <param name="Unit">Its unit; empty for a ratio.</param>
/// <param name="Bar">What it must reach, in words; null without a bar.</param>
/// <param name="Holds">Whether it does; null without a bar.</param>
/// <param name="Spread">The rounds.</param>
/// <param name="Rounds">How many of them.</param>
/// <param name="Paper">What the paper reports; null if it gives no number.</param>
internal sealed record Measure(
    string Name, double Value, string Unit, string? Bar, bool? Holds, Spread Spread, int Rounds, string? Paper)
{
    /// <summary>A number without a bar.</summary>
    internal static Measure Of(string name, string unit, IReadOnlyCollection<double> rounds, string? paper = null) =>
        New(name, unit, rounds, null, null, paper);

    /// <summary>A number whose median must not be above a bar.</summary>
    internal static Measure AtMost(double bar, string name, string unit, IReadOnlyCollection<double> rounds, string? paper = null) =>
        New(name, unit, rounds, "at most " + Text(bar), Spread.Of(rounds).Median <= bar, paper);

    /// <summary>A number whose median must not be below a bar.</summary>
    internal static Measure AtLeast(double bar, string name, string unit, IReadOnlyCollection<double> rounds, string? paper = null) =>
        New(name, unit, rounds, "at least " + Text(bar), Spread.Of(rounds).Median >= bar, paper);

    /// <summary>The costs of one setting over those of another, round by round: it must not be worse in all rounds.</summary>
    internal static Measure NotWorse(string name, IReadOnlyCollection<double> ratios, string? paper = null) =>
        New(name, "", ratios, "not above 1 beyond noise", Spread.Of(ratios).Min <= 1, paper);

    /// <summary>Whether a ratio of two settings is on the same side of 1 in all rounds; null if it is no ratio of several rounds.</summary>
    internal bool? IsWithinNoise => Unit.Length > 0 || Rounds < 2 ? null : Spread.Min <= 1 && Spread.Max >= 1;

    /// <summary>The value and the range of the rounds.</summary>
    internal string Range =>
        Spread.Min == Spread.Max ? Text(Value) : $"{Text(Value)} ({Text(Spread.Min)} to {Text(Spread.Max)})" + (IsWithinNoise == true ? ", within noise" : "");

    internal static string Text(double value) => value.ToString(
        Math.Abs(value) >= 1000 ? "N0" : Math.Abs(value) >= 10 ? "0.0" : Math.Abs(value) >= 0.1 ? "0.00" : "0.####", CultureInfo.InvariantCulture);

    private static Measure New(
        string name, string unit, IReadOnlyCollection<double> rounds, string? bar, bool? holds, string? paper)
    {
        // A number that is none is a failure of the experiment, and must not pass for a bar that holds.
        if (rounds.Count == 0 || rounds.Any(static value => !double.IsFinite(value)))
            throw new InvalidOperationException($"'{name}' has no number: {string.Join(", ", rounds)}.");
        var spread = Spread.Of(rounds);
        return new Measure(name, spread.Median, unit, bar, holds, spread, rounds.Count, paper);
    }
}
