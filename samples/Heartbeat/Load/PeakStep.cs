namespace Heartbeat.Load;

/// <summary>One step of the search for the peak: an open loop for some seconds.</summary>
/// <param name="Rate">Requests per second asked for.</param>
/// <param name="Answered">Requests answered per second.</param>
/// <param name="InFlight">Requests in flight when the last one had been sent.</param>
public sealed record PeakStep(double Rate, double Answered, long InFlight)
{
    private const double LeastAnswered = 0.98;

    /// <summary>Seconds of arrivals that may be in flight at the end: two seconds at a rate that is too high by 1 % leave four times as many. A hiccup in between, which a rate below the peak makes up for, does not count.</summary>
    private const double MostBehind = 0.005;

    /// <summary>Whether silo and load client kept up with the rate.</summary>
    public bool KeptUp => Answered >= LeastAnswered * Rate && InFlight <= MostBehind * Rate;
}
