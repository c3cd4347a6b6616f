using ActOp.Staging.Measuring;
using ActOp.Staging.Model;

namespace ActOp.Runtime.Stages;

/// <summary>
/// What neighbours take from a stage, per event, to be counted like a wait: the time that its events were ready without a processor, and,
/// when its queue never got short, all the time of its threads that the samples do not account for. The latter is what a thread waits for a
/// processor after it was woken, which no busy time contains.
/// </summary>
/// <remarks>Belongs to the control stage.</remarks>
internal sealed class LostTime
{
    /// <summary>Neighbours that use less than this share of the processors starve nobody.</summary>
    private const double LeastShare = 0.1;

    /// <summary>A queue of so many events for each thread is empty once in as many events (M/M/1 at 98 %).</summary>
    private const int LongQueue = 50;

    /// <summary>
    /// By period. More threads end the backlog, and with it the evidence, but not the neighbours: half of it is left after 69 periods, so
    /// that the stage does not try fewer every minute.
    /// </summary>
    private const double Fading = 0.99;

    private const double NanosecondsPerSecond = 1e9;

    private double _starved;

    /// <summary>Seconds that an event of the period lost.</summary>
    /// <param name="demand">What the samples say of the period.</param>
    /// <param name="begin">The stage's work until the period.</param>
    /// <param name="end">Until its end.</param>
    /// <param name="threads">The stage's threads.</param>
    /// <param name="leastQueued">The shortest queue in the period.</param>
    /// <param name="seconds">Its length.</param>
    /// <param name="share">The share of ready time that is due to neighbours.</param>
    internal double PerEvent(StageDemand demand, StageUsage begin, StageUsage end, int threads, int leastQueued, double seconds, double share)
    {
        var (busy, executed) = (end.Busy - begin.Busy, end.Executed - begin.Executed);
        var ready = busy.Items > 0 ? share * busy.Ready / NanosecondsPerSecond / busy.Items : 0;
        _starved *= Fading;
        if (share > LeastShare && executed > 0 && leastQueued > LongQueue * threads)
            _starved = Math.Max(_starved, (threads * seconds / executed) - demand.Compute - demand.Blocked);
        return Math.Max(ready, _starved);
    }
}
