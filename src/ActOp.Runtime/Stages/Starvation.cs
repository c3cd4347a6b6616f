using System.Globalization;
using ActOp.Staging.Measuring;
using ActOp.Staging.Model;

namespace ActOp.Runtime.Stages;

/// <summary>Adds the processor time lost to other processes to the demand of the stages, from the best available statistics.</summary>
/// <remarks><see cref="Sample"/> is called by one timer, the rest belongs to the control stage.</remarks>
/// <param name="stages">The stages.</param>
/// <param name="processors">Processors that the process may use.</param>
internal sealed class Starvation(IReadOnlyList<SizedStage> stages, double processors)
{
    private readonly ForeignCpuShare _foreign = ForeignCpuShare.OfThisProcess(processors);
    private readonly RunnableThreads _runnable = new();
    private readonly RunDelay _delay = new();
    private readonly StarvationEstimate _estimate = new(Environment.ProcessorCount);
    private readonly StarvationGuess[] _guesses = [.. stages.Select(static _ => new StarvationGuess())];

    internal void Sample() => _runnable.Sample();

    /// <summary>The demand, with the time lost to other processes as blocked time.</summary>
    internal IReadOnlyList<StageDemand> AddTo(IReadOnlyList<StageDemand> demands, StageUsage[] begin, StageUsage[] end, double seconds)
    {
        var (share, foreign) = _foreign.TakeShare(seconds);
        if (_delay.TakeTimes() is not { } own)
        {
            return [.. demands.Select((demand, i) => demand with
            {
                Blocked = demand.Blocked
                    + _guesses[i].PerEvent(demand, begin[i], end[i], stages[i].Threads(), stages[i].TakeLeastQueued(), seconds, share),
            })];
        }

        var used = demands.Select((demand, i) => demand.Compute * (end[i].Executed - begin[i].Executed)).Sum() / seconds;
        var (ran, waited) = (own.Ran / seconds, own.Waited / seconds);
        // Work outside of the stages, such as garbage collections and callers in this process, needs processors too.
        var needed = demands.Sum(static demand => demand.Processors) + Math.Max(0, ran - used);
        var stretch = _estimate.Stretch(needed, foreign, ran, waited, _runnable.TakeMean());
        return [.. demands.Select(demand => demand with { Blocked = demand.Blocked + (demand.Compute * (stretch - 1)) })];
    }
}

/// <summary>
/// By how much the wall-clock time of an event must be longer than its compute time so that, beside other processes, the stages still get
/// the processors that they need. The model counts the difference like a wait: a stage that gets a share of the processors per thread needs
/// more threads.
/// </summary>
/// <remarks>
/// <para>A fair scheduler gives N of our runnable threads, beside M of other processes on P processors, N P/(N + M) processors. The stages
/// need c, so N = c M/(P - c) threads must be runnable on average, each event S = M/(P - c) times as long as it computes. With S below 1
/// there is enough for all. Neither c nor M depends on the present number of threads, so there is no feedback, and neither contains the
/// time that our threads wait for each other.</para>
/// <para>M is taken from the time that our threads were ready without a processor (their run delay, which contains the wait after a
/// wake-up). A process that waits D for each C of processor time competes with (C + D)/C runnable threads per processor. If the same holds
/// for the others, their f used processors correspond to M = f (C + D)/C threads. For processes in a group with its own share this is too
/// large: more threads of ours then only wait more. So M is at most the number of threads counted as runnable.</para>
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
    /// By period. Decay per period: half after 69 periods. More threads end most of our waiting but not the load of others, so the stages
    /// must not reduce their threads every minute. The use and number of other processes' threads do not decay.
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
    /// By period with processors to spare. Decay per period with idle processors. The demand of others is their recent maximum: while all
    /// processors are in use, they may get less than they need, so it does not decay.
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
    /// <param name="runnable">Threads of all processes that were running or ready, on average; null if unknown.</param>
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
        // Only waits beside other processes are kept.
        if (stretch > 1)
            _remembered = remembered;
        return Math.Max(1, stretch);
    }
}

/// <summary>
/// The same, per event, if the system does not provide run delays: the share of the ready time in the samples that is due to other
/// processes, and, if the queue of a stage never became short, all the time of its threads that the samples do not explain. That is the
/// wait for a processor after a wake-up, which busy time does not contain.
/// </summary>
/// <remarks>Belongs to the control stage.</remarks>
internal sealed class StarvationGuess
{
    /// <summary>Below this share of the processors, other processes are ignored.</summary>
    private const double LeastShare = 0.1;

    /// <summary>A queue of so many events for each thread is empty once in as many events (M/M/1 at 98 %).</summary>
    private const int LongQueue = 50;

    /// <summary>
    /// By period. Decay per period: half after 69 periods. More threads end the backlog, and so the evidence, but not the load of others.
    /// </summary>
    private const double Fading = 0.99;

    private const double NanosecondsPerSecond = 1e9;

    private double _starved;

    /// <summary>Seconds that an event of the period lost.</summary>
    /// <param name="demand">The sampled demand of the period.</param>
    /// <param name="begin">The stage's work until the period.</param>
    /// <param name="end">Until its end.</param>
    /// <param name="threads">The stage's threads.</param>
    /// <param name="leastQueued">The shortest queue in the period.</param>
    /// <param name="seconds">Its length.</param>
    /// <param name="share">The share of ready time that is due to other processes.</param>
    internal double PerEvent(StageDemand demand, StageUsage begin, StageUsage end, int threads, int leastQueued, double seconds,
        double share)
    {
        var (busy, executed) = (end.Busy - begin.Busy, end.Executed - begin.Executed);
        var ready = busy.Items > 0 ? share * busy.Ready / NanosecondsPerSecond / busy.Items : 0;
        _starved *= Fading;
        if (share > LeastShare && executed > 0 && leastQueued > LongQueue * threads)
            _starved = Math.Max(_starved, (threads * seconds / executed) - demand.Compute - demand.Blocked);
        return Math.Max(ready, _starved);
    }
}

/// <summary>
/// How much processor time other processes use, and which share of the ready time of our threads is due to them.
/// The paper's servers have no other processes (section 5.2), so there ready time is caused by our own threads, and more threads increase
/// it.
/// </summary>
/// <remarks>One thread at a time.</remarks>
/// <param name="processors">Processors that the process may use, p: with a quota, a fraction.</param>
/// <param name="ownTime">Reads the processor time that the process has used, in seconds.</param>
/// <param name="machineTime">Reads the processor time that all have used, in seconds; null if the system does not provide it; then the
/// share is 0.</param>
internal sealed class ForeignCpuShare(double processors, Func<double> ownTime, Func<double?> machineTime)
{
    private const string Statistics = "/proc/stat";
    private const double TicksPerSecond = 100;

    /// <summary>Columns of the first line of /proc/stat, after the name: user, nice, system, idle, iowait, irq, softirq.</summary>
    private const int Idle = 3;
    private const int Waiting = 4;
    private const int Columns = 7;

    private double _own = ownTime();
    private double? _machine = machineTime();

    /// <summary>Of this process and this machine.</summary>
    internal static ForeignCpuShare OfThisProcess(double processors) =>
        new(processors, static () => Environment.CpuUsage.TotalTime.TotalSeconds, static () => ParseBusy(SystemFile.FirstLine(Statistics)));

    /// <summary>
    /// The share of the ready time since the last call that is due to other processes, 0 to 1, and how many processors they used.
    /// </summary>
    /// <param name="seconds">Seconds since the last call.</param>
    internal (double Share, double Processors) TakeShare(double seconds)
    {
        var (own, machine) = (ownTime(), machineTime());
        var (usedByUs, usedByAll) = (own - _own, machine - _machine);
        (_own, _machine) = (own, machine);
        if (usedByAll is not > 0)
            return (0, 0);
        // With a quota, threads may wait on an idle machine: a process that has used its quota waits for itself.
        var share = Math.Clamp(1 - Math.Max(usedByUs / usedByAll.Value, usedByUs / (processors * seconds)), 0, 1);
        return (share, share * usedByAll.Value / seconds);
    }

    /// <summary>Processor time that all have used, in seconds, from the first line of /proc/stat; null when it is not understood.</summary>
    internal static double? ParseBusy(string line)
    {
        var words = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        if (words.Length <= Columns || words[0] != "cpu")
            return null;
        double ticks = 0;
        for (var column = 0; column < Columns; column++)
        {
            if (!double.TryParse(words[column + 1], NumberStyles.None, CultureInfo.InvariantCulture, out var value))
                return null;
            if (column is not (Idle or Waiting))
                ticks += value;
        }

        return ticks / TicksPerSecond;
    }
}

/// <summary>How many threads of the machine are running or ready, by samples (<c>/proc/loadavg</c>).</summary>
/// <remarks>Sampled by one timer, taken by the control stage.</remarks>
internal sealed class RunnableThreads
{
    private const string Load = "/proc/loadavg";

    /// <summary>The fourth word: "runnable/all".</summary>
    private const int Word = 3;

    private readonly Lock _gate = new();
    private int _samples;
    private long _sum;

    internal void Sample() => Add(Parse(SystemFile.FirstLine(Load)));

    /// <summary>A sample; null if it is not available.</summary>
    internal void Add(int? runnable)
    {
        if (runnable is not { } count)
            return;
        lock (_gate)
        {
            _samples++;
            // The sampling thread itself is running.
            _sum += Math.Max(0, count - 1);
        }
    }

    /// <summary>The mean of the samples since the last call; null without any.</summary>
    internal double? TakeMean()
    {
        lock (_gate)
        {
            double? mean = _samples == 0 ? null : (double)_sum / _samples;
            (_samples, _sum) = (0, 0);
            return mean;
        }
    }

    internal static int? Parse(string line)
    {
        var words = line.Split(' ');
        return words.Length > Word && int.TryParse(words[Word].Split('/')[0], out var count) && count >= 0 ? count : null;
    }
}
