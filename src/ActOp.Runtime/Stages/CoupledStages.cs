using ActOp.Configuration;
using ActOp.Staging.Control;
using ActOp.Staging.Model;

namespace ActOp.Runtime.Stages;

/// <summary>
/// While the threads of the receive stage run most turns themselves, in the places of parked workers, the two stages are one: each of its
/// threads reads, runs and writes. A controller then sees them as one stage, and both get its threads.
/// </summary>
internal sealed class CoupledStages
{
    private const double CouplingShare = 0.6;
    private const double UncouplingShare = 0.3;

    /// <summary>Whether the two are one at present.</summary>
    internal bool IsCoupled { get; private set; }

    /// <summary>Says which share of the turns was run by threads of the receive stage in the last period.</summary>
    internal void Note(double share) => IsCoupled = IsCoupled ? share > UncouplingShare : share > CouplingShare;

    /// <summary>What the controller sees of receive, work and the rest.</summary>
    internal IReadOnlyList<StagePeriod> Join(IReadOnlyList<StagePeriod> stages) => IsCoupled ? [Join(stages[0], stages[1]), .. stages.Skip(2)] : stages;

    /// <summary>What its decision means for receive, work and the rest. More receive threads than processors read no faster.</summary>
    internal IReadOnlyList<int> Split(IReadOnlyList<int> threads) =>
        IsCoupled ? [Math.Min(threads[0], StageOptions.DefaultThreads), .. threads] : threads;

    private static StagePeriod Join(StagePeriod receive, StagePeriod work)
    {
        if (work.Demand.Arrivals == 0)
            return work;
        var demand = new StageDemand(
            work.Demand.Arrivals,
            (receive.Demand.Processors + work.Demand.Processors) / work.Demand.Arrivals,
            ((receive.Demand.Arrivals * receive.Demand.Blocked) + (work.Demand.Arrivals * work.Demand.Blocked)) / work.Demand.Arrivals);
        return work with { Demand = demand };
    }
}
