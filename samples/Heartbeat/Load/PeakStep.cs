namespace Heartbeat.Load;

/// <summary>One step of the search for the peak: an open loop for some seconds.</summary>
/// <param name="Rate">Requests per second asked for.</param>
/// <param name="Answered">Requests answered per second.</param>
/// <param name="BehindMs">
/// How far silo and client were behind at the end, in ms of arrivals: requests not yet sent, and those in flight when they are more than a
/// few.
/// </param>
public sealed record PeakStep(double Rate, double Answered, double BehindMs)
{
    private const double LeastAnswered = 0.98;

    /// <summary>
    /// Two seconds at a rate that is too high by 1 % leave four times as much. A hiccup in between, which a rate below the peak makes up
    /// for, does not count.
    /// </summary>
    private const double MostBehindMs = 5;

    /// <summary>Of slow requests a few milliseconds of arrivals are a handful: so many in flight are no backlog at any rate.</summary>
    private const long NoBacklog = 64;

    /// <summary>A step that has run.</summary>
    /// <param name="rate">Requests per second asked for.</param>
    /// <param name="planned">Seconds that it should have taken.</param>
    /// <param name="taken">Seconds until the last request had been sent.</param>
    /// <param name="answered">Requests answered in the end.</param>
    /// <param name="inFlight">Requests in flight when the last one had been sent.</param>
    public static PeakStep Of(double rate, double planned, double taken, long answered, long inFlight) =>
        new(rate, answered / planned, 1000 * (taken - planned + (inFlight > NoBacklog ? inFlight / rate : 0)));

    /// <summary>Whether silo and load client kept up with the rate.</summary>
    public bool KeptUp => Answered >= LeastAnswered * Rate && BehindMs <= MostBehindMs;
}
