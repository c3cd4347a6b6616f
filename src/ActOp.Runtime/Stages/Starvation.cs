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
        var stretch = _estimate.Stretch(needed, foreign, ran, waited, _runnable.Take());
        return [.. demands.Select(demand => demand with { Blocked = demand.Blocked + (demand.Compute * (stretch - 1)) })];
    }
}
