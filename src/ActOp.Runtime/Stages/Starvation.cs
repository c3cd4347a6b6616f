using ActOp.Staging.Measuring;
using ActOp.Staging.Model;

namespace ActOp.Runtime.Stages;

/// <summary>Adds to the demand of the stages what other processes take from them, by the best that the system tells.</summary>
/// <remarks><see cref="Look"/> is called by one timer, the rest belongs to the control stage.</remarks>
/// <param name="stages">The stages.</param>
/// <param name="processors">Processors that the process may use.</param>
internal sealed class Starvation(IReadOnlyList<SizedStage> stages, double processors)
{
    private readonly ForeignCpuShare _foreign = ForeignCpuShare.OfThisProcess(processors);
    private readonly RunnableThreads _runnable = new();
    private readonly RunDelay _delay = new();
    private readonly StarvationEstimate _estimate = new(Environment.ProcessorCount);
    private readonly StarvationGuess[] _guesses = [.. stages.Select(static _ => new StarvationGuess())];

    internal void Look() => _runnable.Sample();

    /// <summary>The demand with the time that is lost to others as a wait.</summary>
    internal IReadOnlyList<StageDemand> AddTo(IReadOnlyList<StageDemand> demands, StageUsage[] begin, StageUsage[] end, double seconds)
    {
        var (share, foreign) = _foreign.Take(seconds);
        if (_delay.Take() is not { } own)
        {
            return [.. demands.Select((demand, i) => demand with
            {
                Blocked = demand.Blocked
                    + _guesses[i].PerEvent(demand, begin[i], end[i], stages[i].Threads(), stages[i].TakeLeastQueued(), seconds, share),
            })];
        }

        var used = demands.Select((demand, i) => demand.Compute * (end[i].Executed - begin[i].Executed)).Sum() / seconds;
        var (ran, waited) = (own.Ran / seconds, own.Waited / seconds);
        // What ran outside of the stages, such as collections and callers in this process, needs its processors too.
        var needed = demands.Sum(static demand => demand.Processors) + Math.Max(0, ran - used);
        var starved = _estimate.Stretch(needed, foreign, ran, waited, _runnable.Take());
        var busy = BusyProcessors.Stretch(needed + foreign, processors);
        return [.. demands.Select(demand => demand with
        {
            Blocked = demand.Blocked + Math.Max(demand.Compute * (starved - 1), BusyProcessors.Wait(demand, busy)),
        })];
    }
}

/// <summary>
/// How long an event waits for a processor that others are using, by the load of the machine. A thread that only computes and waits for a
/// processor is no reason for another thread, which would wait as well. But a thread whose event also blocks holds its place all that time,
/// and a stage with too few places leaves processors idle while its events block.
/// </summary>
/// <remarks>
/// The load is what is needed, not what was waited, so the number of threads does not feed on itself: more threads change neither.
/// </remarks>
internal static class BusyProcessors
{
    /// <summary>The highest use of the processors that is believed: beyond it the wait grows without bounds, and threads do not help.</summary>
    private const double MostUse = 0.9;

    /// <summary>
    /// How many times longer than it computes an event takes on processors that are shared: 1/(1 - rho^P), exact for Poisson arrivals and
    /// exponential times on one or two processors (M/M/1, M/M/2), a little too short for more.
    /// </summary>
    /// <param name="used">Processors that all processes need.</param>
    /// <param name="processors">Processors that there are, P; a quota may be a fraction.</param>
    internal static double Stretch(double used, double processors) => 1 / (1 - Math.Pow(Math.Min(used / processors, MostUse), Math.Max(1, processors)));

    /// <summary>Seconds of it that count for an event: all when it mostly blocks, none when it never does.</summary>
    internal static double Wait(StageDemand demand, double stretch) =>
        demand.Blocked > 0 ? demand.Compute * (stretch - 1) * (1 - demand.ProcessorShare) : 0;
}
