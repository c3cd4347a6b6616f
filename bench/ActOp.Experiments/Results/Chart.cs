using ActOp.Harness.Reports;

namespace ActOp.Experiments.Results;

/// <summary>How a chart is drawn.</summary>
internal enum ChartKind
{
    /// <summary>Lines.</summary>
    Lines,

    /// <summary>Lines over a logarithmic axis.</summary>
    LogLines,

    /// <summary>Shares, 0 to 1, over a logarithmic axis.</summary>
    Distribution,

    /// <summary>Shares, 0 to 1.</summary>
    Shares,

    /// <summary>A row for each curve, named by a number, and a column for each of its points.</summary>
    Heat,

    /// <summary>A bar for each curve, with a part for each of its points.</summary>
    Parts,
}

/// <summary>A chart of an experiment.</summary>
/// <param name="Title">What it shows, with the unit.</param>
/// <param name="Kind">How it is drawn.</param>
/// <param name="XLabel">What the X axis is, with its unit; of a heat map rows and columns with a slash; of parts nothing.</param>
/// <param name="Curves">The curves.</param>
/// <param name="Parts">The names of parts; null for other kinds.</param>
internal sealed record Chart(
    string Title, ChartKind Kind, string XLabel, IReadOnlyList<Curve> Curves, IReadOnlyList<string>? Parts = null)
{
    /// <summary>Draws it.</summary>
    internal string Render() => Kind switch
    {
        ChartKind.Heat => RenderHeat(),
        ChartKind.Parts => StackedBars.Render(Title, [.. Curves.Select(curve => (curve.Name,
            (IReadOnlyList<(string, double)>)[.. curve.Points.Select((point, part) => (Parts![part], point.Y))]))]),
        _ => new SvgChart
        {
            Title = Title,
            XLabel = XLabel,
            LogX = Kind is ChartKind.LogLines or ChartKind.Distribution,
            Percent = Kind is ChartKind.Shares or ChartKind.Distribution,
            Series = [.. Curves.Where(static curve => curve.Points.Count > 0).Select(static curve => new ChartSeries(
                curve.Name, [.. curve.Points.Select(static point => (point.X, point.Y))], curve.IsPaper))],
        }.Render(),
    };

    private string RenderHeat()
    {
        var names = XLabel.Split('/');
        var rows = Curves.Select(static curve => int.Parse(curve.Name, System.Globalization.CultureInfo.InvariantCulture)).ToArray();
        var columns = Curves[0].Points.Select(static point => (int)point.X).ToArray();
        return HeatGrid.Render(Title, names[0].Trim(), rows, names[1].Trim(), columns,
            (row, column) => Curves[Array.IndexOf(rows, row)].Points[Array.IndexOf(columns, column)].Y);
    }
}

/// <summary>A line of a chart.</summary>
/// <param name="Name">Its name in the legend.</param>
/// <param name="Points">Its points.</param>
/// <param name="IsPaper">Whether it is what the paper reports, not what was measured here.</param>
internal sealed record Curve(string Name, IReadOnlyList<Point> Points, bool IsPaper = false)
{
    internal static Curve Of(string name, IEnumerable<(double X, double Y)> points) =>
        new(name, [.. points.Select(static point => new Point(point.X, point.Y))]);

    internal static Curve Paper(string name, params (double X, double Y)[] points) =>
        new("paper: " + name, [.. points.Select(static point => new Point(point.X, point.Y))], true);
}

/// <summary>A point of a line.</summary>
internal sealed record Point(double X, double Y);
