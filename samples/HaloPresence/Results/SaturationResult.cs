namespace HaloPresence.Results;

/// <summary>The outcome of the closed loop.</summary>
/// <param name="RequestsPerSecond">Peak throughput.</param>
/// <param name="Concurrency">Requests in flight.</param>
/// <param name="RemoteShare">Share of grain messages that crossed silos meanwhile.</param>
public sealed record SaturationResult(double RequestsPerSecond, int Concurrency, double RemoteShare);
