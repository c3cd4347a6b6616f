namespace HaloPresence.Results;

/// <summary>The state of a run in one second.</summary>
/// <param name="T">Seconds since the load began.</param>
/// <param name="RemoteShare">Share of that second's grain messages that crossed silos.</param>
/// <param name="Moves">Grains migrated in that second.</param>
/// <param name="CpuCores">Processor cores used by all silos.</param>
public sealed record ConvergencePoint(double T, double RemoteShare, double Moves, double CpuCores);
