namespace Harness.Load;

/// <summary>Quantiles of a latency in milliseconds.</summary>
public sealed record LatencySummary(double P50, double P95, double P99, double P999, double Max);
