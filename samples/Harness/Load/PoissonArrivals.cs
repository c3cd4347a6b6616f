namespace Harness.Load;

/// <summary>
/// The intended starts of an open-loop load: a Poisson process from a seed. A request's latency counts from its intended start,
/// so that a stall of the server or of the load client shows up in every request it delays (no coordinated omission).
/// </summary>
public sealed class PoissonArrivals
{
    private readonly Random _random;
    private readonly double _perSecond;
    private double _next;

    /// <summary>Creates the process beginning at <paramref name="start"/> with <paramref name="perSecond"/> arrivals per second.</summary>
    public PoissonArrivals(double perSecond, TimeSpan start, int seed)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(perSecond);
        _random = new Random(seed);
        _perSecond = perSecond;
        _next = start.TotalSeconds;
        Pass();
    }

    /// <summary>The next intended start.</summary>
    public TimeSpan Next => TimeSpan.FromTicks((long)(_next * TimeSpan.TicksPerSecond));

    /// <summary>Goes on to the arrival after <see cref="Next"/>.</summary>
    public void Pass() => _next -= Math.Log(1 - _random.NextDouble()) / _perSecond;
}
