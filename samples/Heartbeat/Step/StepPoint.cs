using Heartbeat.Runs;

namespace Heartbeat.Step;

/// <summary>The threads at a time.</summary>
/// <param name="T">Seconds since the load began.</param>
/// <param name="Rate">Requests per second asked for.</param>
/// <param name="Threads">Threads of the stages.</param>
public sealed record StepPoint(double T, double Rate, ThreadNumbers Threads);
