namespace Heartbeat.Load;

/// <summary>One step of the search for the peak: an open loop for a second.</summary>
/// <param name="Rate">Requests per second asked for.</param>
/// <param name="Answered">Requests answered per second.</param>
/// <param name="P95Ms">95th percentile of the latency in ms.</param>
public sealed record PeakStep(double Rate, double Answered, double P95Ms)
{
    private const double LeastAnswered = 0.98;

    /// <summary>A second at a rate that is too high by a hundredth ends with requests that have waited so long.</summary>
    private const double MostP95Ms = 10;

    /// <summary>Whether silo and load client kept up with the rate.</summary>
    public bool KeptUp => Answered >= LeastAnswered * Rate && P95Ms <= MostP95Ms;
}
