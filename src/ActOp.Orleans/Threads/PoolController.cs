using System.Globalization;
using ActOp.Staging.Control;
using ActOp.Staging.Measuring;

namespace ActOp.Orleans.Threads;

/// <summary>The number of threads of a pool from now on.</summary>
/// <param name="Threads">Its minimum.</param>
/// <param name="Reason">The reason, for the log.</param>
internal sealed record PoolDecision(int Threads, string Reason);

/// <summary>What the threads of a pool did since it was first looked at. Times in seconds; sums over all threads.</summary>
/// <param name="Executed">Items that ran.</param>
/// <param name="Waited">Time that items waited (queue length over time).</param>
/// <param name="Wall">Time that threads were inside items.</param>
/// <param name="Cpu">Processor time of the threads.</param>
/// <param name="Ready">Time that threads were ready without a processor.</param>
internal readonly record struct PoolSums(long Executed, double Waited, double Wall, double Cpu, double Ready)
{
    public static PoolSums operator +(PoolSums left, PoolSums right) => new(left.Executed + right.Executed, left.Waited + right.Waited,
        left.Wall + right.Wall, left.Cpu + right.Cpu, left.Ready + right.Ready);
}

/// <summary>What a pool did in a period.</summary>
/// <param name="Threads">Its minimum.</param>
/// <param name="Busy">Threads inside items, on average.</param>
/// <param name="Items">Items that ended, per second.</param>
internal readonly record struct PoolRate(int Threads, double Busy, double Items);

/// <summary>
/// From what a pool did to the number of its threads: it feeds the estimator and the controller that the stages of ActOp have (paper
/// section 5.3) with one stage. The number of busy threads, sampled, gives the wall-clock time of items (Little's law); the clocks of the
/// threads give processor and ready time; the rest was blocked. Pure: no clock, no threads.
/// </summary>
/// <remarks>
/// A thread that did not run in a whole period, though as many were busy all the time, is held by an item that is longer than the period.
/// It is replaced, as the stages do. If items wait all the time while threads are held, the items behind may be as long; then each of them
/// gets a thread, at most <see cref="MostAtOnce"/> in a decision, since the model knows nothing of items that have not ended. More
/// threads are kept only if they run more items.
/// </remarks>
internal sealed class PoolController : IDisposable
{
    /// <summary>If items wait for this time, in seconds, a decision does not wait for the end of the period.</summary>
    internal const double Patience = 0.2;

    /// <summary>The most threads that items without a measured end get in one decision.</summary>
    internal const int MostAtOnce = 64;

    private const double NanosecondsPerSecond = 1e9;

    /// <summary>If less than this share of the processors was used, threads that wait are not what uses them up.</summary>
    private const double MostProcessors = 0.9;

    /// <summary>More threads must run more items by this share. Less is not distinguishable from noise.</summary>
    private const double LeastGain = 0.1;

    /// <summary>Growth is judged when so many times as many threads are busy. If they block, they run half as many items more.</summary>
    private const double JudgedGrowth = 1.5;

    /// <summary>Growth is judged when a thread had the time for so many items: before, what it brings is not known.</summary>
    private const double LeastItems = 5;

    /// <summary>If less than this share of the items is run, the load has become another one.</summary>
    private const double OtherLoad = 0.5;

    /// <summary>No more of a period counts as stopped: of a thousand collections in a second, .NET reports more than there was.</summary>
    private const double MostPaused = 0.5;

    /// <summary>Time for which threads that brought nothing are not tried again, in seconds.</summary>
    private const double TimeToTryAgain = 30;

    private readonly double _period;
    private readonly double _processors;
    private readonly int _floor;
    private readonly int _most;
    private readonly ModelController _model;
    private readonly IDemandSource _source;
    private PoolReading? _first;
    private PoolReading _last;
    private StageUsage _usage;
    private StageUsage _probe;
    private PoolSums _sums;
    private double _seconds;
    private double _backlog;
    private double _busy;
    private double _paused;
    private int _leastQueued = int.MaxValue;
    private int _leastBusy = int.MaxValue;
    private bool _mayHurry = true;
    // The pool before it grew, until it is known what that brought.
    private PoolRate? _before;
    private double _sinceGrowth;
    // More threads than these brought nothing; none are tried for so many seconds.
    private PoolRate? _enough;
    private double _leftToTry;

    /// <param name="options">The options.</param>
    /// <param name="processors">Processors that the process may use.</param>
    /// <param name="floor">The fewest threads.</param>
    /// <param name="knowsReady">Whether the system tells how long threads were ready.</param>
    internal PoolController(ThreadOptions options, double processors, int floor, bool knowsReady)
    {
        _period = options.ModelPeriod.TotalSeconds;
        _processors = processors;
        _floor = Math.Max(1, floor);
        _most = Math.Max(options.MaxThreads, _floor);
        _model = new ModelController(new ModelControllerSettings(processors, options.ThreadPenalty.TotalSeconds)
        {
            Headroom = options.ProcessorHeadroom,
            Minimum = _floor,
            Maximum = _most,
            Period = _period,
            Smoothing = options.Smoothing,
            Hysteresis = options.Hysteresis,
            PeriodsToReverse = (int)Math.Ceiling(60 / _period),
        });
        _source = knowsReady ? new SchedulerSource() : new RatioSource([false, true]);
    }

    /// <summary>How the demand is measured.</summary>
    internal string SourceName => _source.Name;

    /// <summary>All that was measured.</summary>
    internal PoolSums Sums => _sums;

    /// <summary>Items that waited at the last look.</summary>
    internal int Queued => Short(_last.Queued);

    /// <summary>Whether the last look found nothing to do.</summary>
    internal bool IsIdle => _last is { Busy: 0, Queued: 0 };

    /// <summary>A period has ended, or the pool needs threads at once.</summary>
    internal bool IsDue => _seconds >= _period || (_mayHurry && _backlog >= Patience);

    public void Dispose() => _source.Dispose();

    /// <summary>Takes a sample.</summary>
    /// <param name="reading">The counts of the pool.</param>
    /// <param name="seconds">The time since the last sample.</param>
    internal void Sample(PoolReading reading, double seconds)
    {
        var last = _last;
        _last = reading;
        if (_first is null)
        {
            _first = reading;
            _usage = new StageUsage(0, Short(reading.Queued), default);
            return;
        }

        _seconds += seconds;
        _busy += reading.Busy * seconds;
        _sums = _sums with
        {
            Executed = reading.Completed - _first.Value.Completed,
            Waited = _sums.Waited + (reading.Queued * seconds),
        };
        _paused += Math.Clamp(reading.Paused - last.Paused, 0, MostPaused * seconds);
        _leastQueued = Math.Min(_leastQueued, Short(reading.Queued));
        _leastBusy = Math.Min(_leastBusy, reading.Busy);
        _backlog = reading.Queued > 0 ? _backlog + seconds : 0;
    }

    /// <summary>Decides, and begins a new period.</summary>
    /// <param name="times">What the threads of the pool did in the period. Without a number of active threads, none counts as held.</param>
    /// <param name="probe">What work that never blocks did since the beginning, for the estimate without ready times.</param>
    /// <param name="threads">The pool's minimum now.</param>
    /// <returns>Never less than the floor, and more than the most only if there are more already.</returns>
    internal PoolDecision Decide(RunTimes times, BusyTime probe, int threads)
    {
        var seconds = Math.Max(_seconds, double.Epsilon);
        var isShort = _seconds < _period;
        var held = times.Active < 0 || _leastBusy == int.MaxValue ? 0 : Math.Max(0, _leastBusy - times.Active);
        var waiting = _leastQueued == int.MaxValue ? 0 : _leastQueued;
        var before = (Usage: _usage, Probe: _probe);
        Add(times, held);
        (_usage, _probe) = (UsageNow(held), new StageUsage(probe.Items, 0, probe));
        var demand = _source.Estimate([(before.Usage, _usage), (before.Probe, _probe)], seconds)[0];
        var decision = _model.Decide([new StagePeriod(threads, _usage.Queued, demand, held)]);
        var wanted = Math.Clamp(decision.Threads[0], _floor, Math.Max(_most, threads));
        var reason = decision.Reason;
        if (held > 0 && waiting > 0 && times.Ran < MostProcessors * _processors * seconds)
        {
            var needed = Math.Min(_last.Busy + Math.Min(waiting, MostAtOnce), _most);
            if (needed > wanted)
                (wanted, reason) = (needed, "held; " + reason);
        }

        var seen = new PoolRate(threads, _busy / seconds, (_usage.Executed - before.Usage.Executed) / seconds);
        LearnFromGrowth(seen, waiting > 0, seconds);
        if (_enough is { } enough && enough.Threads < wanted)
            (wanted, reason) = (Math.Max(enough.Threads, _floor), "more brought nothing; " + reason);
        if (wanted > threads && waiting > 0 && _before is null)
            (_before, _sinceGrowth) = (seen, 0);

        // One that brought nothing is not repeated before the period ends: the processors, not the threads, may be what is missing.
        _mayHurry = !isShort || wanted > threads;
        reason = string.Create(CultureInfo.InvariantCulture,
            $"{reason}, {held} held, {waiting} waited throughout, stopped by collections for {_paused:0.###} s");
        (_seconds, _backlog, _busy, _paused, _leastQueued, _leastBusy) = (0, 0, 0, 0, int.MaxValue, int.MaxValue);
        return new(wanted, reason);
    }

    /// <summary>
    /// Threads that wait for each other look as if something else blocked them, and the model replaces them by more threads, which wait,
    /// too. So where items wait all the time, and half as many busy threads more did not run more of them, there were enough before. If no
    /// item waits, the rate is that of their arrival and says nothing.
    /// </summary>
    private void LearnFromGrowth(PoolRate now, bool isBehind, double seconds)
    {
        _leftToTry -= seconds;
        _sinceGrowth += seconds;
        if (!isBehind || _leftToTry <= 0 || now.Items < _enough?.Items * OtherLoad)
            _enough = null;
        if (!isBehind)
            _before = null;
        if (_before is not { } before || now.Busy < before.Busy * JudgedGrowth || _sinceGrowth * before.Items < before.Busy * LeastItems)
            return;
        if (now.Items < before.Items * (1 + LeastGain))
            (_enough, _leftToTry) = (before, TimeToTryAgain);
        _before = null;
    }

    private void Add(RunTimes times, int held)
    {
        // To the clocks of the threads the time of a collection is blocked time; but it stops however many there are.
        var running = 1 - (_paused / Math.Max(_seconds, double.Epsilon));
        var wall = Math.Max(0, _busy - (held * _seconds)) * running;
        // Threads run and wait beside items, too, when they look for the next one.
        var ready = Math.Clamp(times.Waited, 0, Math.Max(0, wall - times.Ran));
        _sums = _sums with { Wall = _sums.Wall + wall, Cpu = _sums.Cpu + times.Ran, Ready = _sums.Ready + ready };
    }

    private StageUsage UsageNow(int held) => new(
        _sums.Executed, Short(_last.Queued),
        new BusyTime(_sums.Executed, Nanoseconds(_sums.Wall), Nanoseconds(_sums.Cpu), Nanoseconds(_sums.Ready)), held);

    private static long Nanoseconds(double seconds) => (long)(seconds * NanosecondsPerSecond);

    private static int Short(long count) => (int)Math.Min(count, int.MaxValue);
}
