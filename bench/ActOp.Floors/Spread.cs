namespace ActOp.Floors;

/// <summary>Several runs of one measurement.</summary>
/// <param name="Min">The smallest.</param>
/// <param name="Median">The median.</param>
/// <param name="Max">The largest.</param>
public readonly record struct Spread(double Min, double Median, double Max)
{
    /// <summary>The spread of <paramref name="values"/>, at least one.</summary>
    public static Spread Of(IEnumerable<double> values)
    {
        double[] sorted = [.. values.Order()];
        return new Spread(sorted[0], sorted[sorted.Length / 2], sorted[^1]);
    }
}
