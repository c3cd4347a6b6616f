namespace ActOp.Lab.Seda;

/// <summary>
/// Equation (1) of the paper against the emulated truth for one shape of service times. Latencies in seconds, end to end.
/// </summary>
internal sealed record ProxyReport(
    string Shape, double SquaredVariation, IReadOnlyList<int> Threads, double ProxyLatency, double EmulatedLatency, double Ratio,
    IReadOnlyList<int> BestThreads, double BestLatency, double GapShare, bool IsWithin, int Emulated);
