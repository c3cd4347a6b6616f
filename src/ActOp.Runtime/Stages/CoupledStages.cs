using ActOp.Configuration;
using ActOp.Staging.Control;
using ActOp.Staging.Model;

namespace ActOp.Runtime.Stages;

/// <summary>
/// While the threads of the receive stage run most turns themselves, in the places of parked workers, the two stages are one: each of its
/// threads reads, runs and writes. A controller then sees them as one stage, whose threads are the threads of work. The number of readers
/// follows the share of reading, because a thread that runs a long turn does not read meanwhile.
/// </summary>
internal sealed class CoupledStages
{
    private const double CouplingShare = 0.6;
    private const double UncouplingShare = 0.3;

    /// <summary>
    /// The share of their time for which the reading threads are expected to read. Half: where reading takes as long as running, all
    /// threads read.
    /// </summary>
    private const double ReadingShare = 0.5;

    /// <summary>Hysteresis of the number of readers, as a part of a thread.</summary>
    private const double Slack = 0.2;

    private double _reading = 1;
    private int _readers;

    /// <summary>Whether the two stages are coupled at present.</summary>
    internal bool IsCoupled { get; private set; }

    /// <summary>Sets the share of turns that threads of the receive stage ran in the last period.</summary>
    internal void Note(double share) => IsCoupled = IsCoupled ? share > UncouplingShare : share > CouplingShare;

    /// <summary>What the controller sees of receive, work and the rest.</summary>
    internal IReadOnlyList<StagePeriod> Join(IReadOnlyList<StagePeriod> stages)
    {
        if (!IsCoupled)
            return stages;
        var (receive, joined) = (stages[0].Demand, Join(stages[0], stages[1]));
        _reading = joined.Demand.BusyThreads > 0 ? receive.BusyThreads / joined.Demand.BusyThreads : 1;
        return [joined, .. stages.Skip(2)];
    }

    /// <summary>
    /// What its decision means for receive, work and the rest: all threads read when reading is at least half of what they do, fewer when
    /// it is less.
    /// </summary>
    internal IReadOnlyList<int> Split(IReadOnlyList<int> threads) => IsCoupled ? [Readers(threads[0]), .. threads] : threads;

    private int Readers(int threads)
    {
        var wanted = threads * _reading / ReadingShare;
        if (wanted > _readers + Slack || wanted < _readers - 1 - Slack)
            _readers = (int)Math.Ceiling(wanted);
        // More than there are processors read no faster.
        return Math.Clamp(_readers, 1, Math.Min(threads, StageOptions.DefaultThreads));
    }

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
