using ActOp.Staging.Model;

namespace ActOp.Lab.Seda;

/// <summary>What one event takes in a stage on average, in seconds.</summary>
/// <param name="Compute">Processor time, x; above zero.</param>
/// <param name="Blocked">Time in synchronous calls after it, w.</param>
internal readonly record struct StageLoad(double Compute, double Blocked = 0)
{
    /// <summary>The same as the model sees it, with this many events a second.</summary>
    public StageDemand Demand(double rate) => new(rate, Compute, Blocked);
}
