namespace Harness.Load;

/// <summary>
/// The intended starts of an open-loop load: a Poisson process from a seed. A request's latency counts from its intended start,
/// so that a stall of the server or of the load client shows up in every request it delays (no coordinated omission).
/// </summary>
public sealed class PoissonArrivals
{
    private readonly Random _random;
    private readonly double _start;
    private readonly double _perSecond;
    private readonly double _ramp;
    private double _expected;
    private double _next;

    /// <summary>Creates the process beginning at <paramref name="start"/> with <paramref name="perSecond"/> arrivals per second.</summary>
    /// <param name="perSecond">The rate, above zero.</param>
    /// <param name="start">When it begins.</param>
    /// <param name="seed">Of its random choices.</param>
    /// <param name="ramp">Time in which the rate rises from nothing in a straight line; zero for none.</param>
    public PoissonArrivals(double perSecond, TimeSpan start, int seed, TimeSpan ramp = default)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(perSecond);
        ArgumentOutOfRangeException.ThrowIfLessThan(ramp, TimeSpan.Zero);
        _random = new Random(seed);
        _start = start.TotalSeconds;
        _perSecond = perSecond;
        _ramp = ramp.TotalSeconds;
        Pass();
    }

    /// <summary>The next intended start.</summary>
    public TimeSpan Next => TimeSpan.FromTicks((long)(_next * TimeSpan.TicksPerSecond));

    /// <summary>Goes on to the arrival after <see cref="Next"/>.</summary>
    public void Pass()
    {
        _expected -= Math.Log(1 - _random.NextDouble());
        _next = _start + TimeOf(_expected);
    }

    /// <summary>When so many arrivals are to be expected: a process of rate one, on the clock of the mean number of arrivals.</summary>
    private double TimeOf(double arrivals)
    {
        var inRamp = _perSecond * _ramp / 2;
        return arrivals < inRamp ? Math.Sqrt(2 * _ramp * arrivals / _perSecond) : _ramp + ((arrivals - inRamp) / _perSecond);
    }
}
