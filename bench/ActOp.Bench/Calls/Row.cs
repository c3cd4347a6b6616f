using System.Globalization;
using ActOp.Floors;

namespace ActOp.Bench.Calls;

/// <summary>One line of the results.</summary>
/// <param name="Name">What was measured.</param>
/// <param name="Unit">Unit of <paramref name="Value"/>.</param>
/// <param name="Value">Smallest, median and largest of the runs.</param>
/// <param name="Ratio">Cost as a multiple of the floor's in the same run, or null without a floor.</param>
/// <param name="Bar">What the ratio or the value must reach, in words.</param>
/// <param name="Met">Whether it does; null without a bar.</param>
/// <param name="Line">The line of a figure that this is a point of; null for none.</param>
/// <param name="At">Where on that line.</param>
internal sealed record Row(
    string Name, string Unit, Spread Value, double? Ratio = null, string? Bar = null, bool? Met = null, string? Line = null,
    double? At = null)
{
    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"{Name,-44} {Text(Value.Median),12} ({Text(Value.Min)} to {Text(Value.Max)}) {Unit}{(Ratio is { } ratio ? $"  x{ratio:0.00}" : "")}{(Bar is null ? "" : $"  [{Bar}: {(Met == true ? "met" : "MISSED")}]")}");

    private static string Text(double value) => value.ToString(value >= 1000 ? "N0" : "0.00", CultureInfo.InvariantCulture);
}
