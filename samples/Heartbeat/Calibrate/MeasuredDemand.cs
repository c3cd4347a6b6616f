using ActOp.Staging.Model;

namespace Heartbeat.Calibrate;

/// <summary>What one stage had to do, as written to JSON.</summary>
/// <param name="EventsPerSecond">Its events, lambda.</param>
/// <param name="ComputeMicros">Processor time of an event, x.</param>
/// <param name="BlockedMicros">Time an event was blocked, w.</param>
public sealed record MeasuredDemand(double EventsPerSecond, double ComputeMicros, double BlockedMicros)
{
    /// <summary>From the model's words.</summary>
    public static MeasuredDemand Of(StageDemand demand) => new(demand.Arrivals, 1e6 * demand.Compute, 1e6 * demand.Blocked);
}
