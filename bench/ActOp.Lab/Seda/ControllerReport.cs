namespace ActOp.Lab.Seda;

/// <summary>
/// What a controller made of the server. Latencies in seconds, end to end; samples from the start, all else after the warm-up.
/// </summary>
internal sealed record ControllerReport(
    string Controller, double ChangesPerHour, double MeanLatency, double MedianLatency, double Latency99, double MeanQueued, int MaxQueued, double MeanThreads,
    double BusyProcessors, int Requests, IReadOnlyList<SedaSample> Samples);
