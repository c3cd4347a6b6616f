using ActOp.Staging.Measuring;
using ActOp.Staging.Model;

namespace ActOp.Runtime.Stages;

/// <summary>
/// By how much the wall-clock time of an event must be longer than its compute time so that, beside other processes, the stages still get
/// the processors that they need. The model counts the difference like a wait: a stage that gets a share of the processors per thread needs
/// more threads.
/// </summary>
/// <remarks>
/// <para>A fair scheduler gives N of our runnable threads, beside M of other processes on P processors, N P/(N + M) processors. The stages
/// need c, so N = c M/(P - c) threads must be runnable on average, each event S = M/(P - c) times as long as it computes. With S below 1
/// there is enough for all. Neither c nor M depends on the threads that we have now, so the estimate does not feed on its own outcome; time
/// that our threads wait for each other is in neither.</para>
/// <para>M is taken from the time that our threads were ready without a processor (their run delay, which contains the wait after a
/// wake-up). Who waits D for every C of processor time meets (C + D)/C runnable threads for each processor that it could have. If others
/// fare the same, those of theirs that used f processors are M = f (C + D)/C. A group of processes with a share of its own makes this too
/// large: there more threads of ours wait more and gain nothing. So no more are assumed than were counted as runnable.</para>
/// <para>Belongs to the control stage.</para>
/// </remarks>
/// <param name="processors">Processors that the process may run on, P.</param>
internal sealed class StarvationEstimate(int processors)
{
    /// <summary>
    /// The largest share of the processors that threads are added for: four for each runnable thread of other processes. Beyond it the
    /// number of threads grows without bounds, and an overloaded stage would never have enough.
    /// </summary>
    private const double MostShare = 0.8;

    /// <summary>
    /// By period. More threads end most of our waiting, but not the load of others: half of it is remembered after 69 periods, so that the
    /// stages do not try fewer threads every minute. What others use and how many they are is never remembered.
    /// </summary>
    private const double Fading = 0.99;

    /// <summary>Weight of the last period in the counts of others' runnable threads, which are a few samples each.</summary>
    private const double Smoothing = 0.3;

    /// <summary>
    /// While what we need and what others use is less than this share of the processors, there is enough for all: a stage that works a
    /// backlog off waits for its own threads then, and so do the others.
    /// </summary>
    private const double EnoughForAll = 0.95;

    /// <summary>
    /// By period with processors to spare. What others would use is what they used at most, lately: while all processors are in use, as
    /// when a backlog is worked off, they may get less than they want, and nothing fades.
    /// </summary>
    private const double ForeignFading = 0.9;

    private double _remembered = 1;
    private double _mostForeign;
    private double? _others;

    /// <summary>S of the last period, at least 1.</summary>
    /// <param name="needed">Processors that the process needs, c.</param>
    /// <param name="foreign">Processors that others used, f.</param>
    /// <param name="ran">Processors that our threads used, C.</param>
    /// <param name="waited">How many of our threads were ready without a processor, on average, D.</param>
    /// <param name="runnable">Threads of all processes that were running or ready, on average; null when nobody knows.</param>
    internal double Stretch(double needed, double foreign, double ran, double waited, double? runnable)
    {
        if (runnable - ran - waited is { } others)
            _others = _others is { } before ? before + (Smoothing * (others - before)) : others;
        var isFull = ran + foreign >= EnoughForAll * processors;
        _mostForeign = Math.Max(foreign, isFull ? _mostForeign : ForeignFading * _mostForeign);
        if (needed + _mostForeign < EnoughForAll * processors)
            return 1;
        var most = Math.Max(foreign, _others ?? double.PositiveInfinity);
        var spare = processors - Math.Min(needed, MostShare * processors);
        var now = ran > 0 ? 1 + (waited / ran) : 1;
        var remembered = Math.Max(now, 1 + (Fading * (_remembered - 1)));
        var stretch = Math.Min(foreign * remembered, most) / spare;
        // Only what was waited beside others is worth remembering.
        if (stretch > 1)
            _remembered = remembered;
        return Math.Max(1, stretch);
    }
}

/// <summary>
/// The same, per event, where the system does not tell run delays: the share of the ready time in the samples that is due to other
/// processes, and, when the queue of a stage never got short, all the time of its threads that the samples do not account for. The latter
/// is what a thread waits for a processor after it was woken, which no busy time contains.
/// </summary>
/// <remarks>Belongs to the control stage.</remarks>
internal sealed class StarvationGuess
{
    /// <summary>Processes that use less than this share of the processors starve nobody.</summary>
    private const double LeastShare = 0.1;

    /// <summary>A queue of so many events for each thread is empty once in as many events (M/M/1 at 98 %).</summary>
    private const int LongQueue = 50;

    /// <summary>
    /// By period. More threads end the backlog, and with it the evidence, but not the load of others: half of it is left after 69 periods,
    /// so that the stage does not try fewer every minute.
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
    /// <param name="share">The share of ready time that is due to other processes.</param>
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
