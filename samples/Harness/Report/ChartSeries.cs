namespace Harness.Report;

/// <summary>One line of a chart.</summary>
/// <param name="Name">Its name in the legend.</param>
/// <param name="Points">Its points, with ascending X.</param>
public sealed record ChartSeries(string Name, IReadOnlyList<(double X, double Y)> Points);
