using ActOp.Staging.Model;

namespace ActOp.Staging.Measuring;

/// <summary>Says what an event of each stage costs in processor time and in blocked time (paper section 5.4).</summary>
public interface IDemandSource : IDisposable
{
    /// <summary>Its name, for logs.</summary>
    string Name { get; }

    /// <summary>Estimates the demand of a period.</summary>
    /// <param name="stages">For each stage its usage at the beginning and at the end, always in the same order.</param>
    /// <param name="seconds">The length of the period.</param>
    /// <returns>
    /// The demand of each stage; one without a measured event has its last known costs, or no arrivals when there are none.
    /// </returns>
    IReadOnlyList<StageDemand> Estimate(IReadOnlyList<(StageUsage Begin, StageUsage End)> stages, double seconds);
}
