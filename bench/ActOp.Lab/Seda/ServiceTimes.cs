using MathNet.Numerics.Distributions;

namespace ActOp.Lab.Seda;

/// <summary>Draws the times of one stage.</summary>
/// <param name="shape">How they scatter.</param>
/// <param name="random">Their own source, so that the n-th time is the same whatever the threads are.</param>
internal sealed class ServiceTimes(ServiceShape shape, Random random)
{
    // Sigma of the logarithm, and the squared coefficient of variation of the mixture; the mixture has balanced means.
    private const double Sigma = 1.5;
    private const double Mixed = 4;
    private static readonly double Short = (1 + Math.Sqrt((Mixed - 1) / (Mixed + 1))) / 2;

    /// <summary>The squared coefficient of variation: variance over squared mean.</summary>
    public static double SquaredVariation(ServiceShape shape) => shape switch
    {
        ServiceShape.Deterministic => 0,
        ServiceShape.Lognormal => Math.Exp(Sigma * Sigma) - 1,
        ServiceShape.Hyperexponential => Mixed,
        _ => 1,
    };

    /// <summary>The next time with this mean.</summary>
    public double Next(double mean) => mean == 0 ? 0 : mean * shape switch
    {
        ServiceShape.Deterministic => 1,
        ServiceShape.Lognormal => LogNormal.Sample(random, -Sigma * Sigma / 2, Sigma),
        ServiceShape.Hyperexponential => Exponential.Sample(random, 2 * (random.NextDouble() < Short ? Short : 1 - Short)),
        _ => Exponential.Sample(random, 1),
    };
}
