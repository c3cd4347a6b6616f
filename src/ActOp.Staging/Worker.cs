#pragma warning disable RS0030 // The worker is the sanctioned owner of a thread and of the batch clock.
using System.Diagnostics;
using ActOp.Staging.Measuring;

namespace ActOp.Staging;

/// <summary>One thread of a <see cref="Stage"/> with its own queue.</summary>
/// <remarks>
/// The owner (the worker's thread, or whoever borrows it while that is parked) has everything here to itself except: <see cref="Queue"/> and <see cref="_next"/> may be emptied by thieves, and
/// <see cref="Unpark"/> may be called by anyone. An item posted by the owner goes to <see cref="_next"/> and runs
/// as soon as the present one ends, while its data is still in this core's cache; at most <see cref="MaxNextRuns"/> times
/// in a row, then the queue is served, so that two items that post each other cannot starve the rest.
/// </remarks>
internal sealed class Worker
{
    /// <summary>Long enough to keep a call and its answer on the core, short enough that a waiting item waits microseconds.</summary>
    private const int MaxNextRuns = 16;

    /// <summary>Every so many items the shared queue is served first: local work must not starve what comes from outside. Prime, so that it does not beat with periodic work.</summary>
    private const int SharedInterval = 61;

    /// <summary>What gathers for a pause waits no longer than about this.</summary>
    private const double PauseMicroseconds = 200;

    /// <summary>The longest run without a pause.</summary>
    private const int BatchItems = 64;

    /// <summary>A thread is worth waking for this much waiting work: about what the wake itself costs both sides.</summary>
    internal const double WakeWorthMicroseconds = 60;

    [ThreadStatic]
    private static Worker? t_current;

    internal readonly RunQueue Queue = new();
    private readonly Stage _stage;
    private readonly object _park = new();
    private IStageItem? _next;
    private bool _woken;
    private int _nextRuns;
    private uint _tick;
    private long _batchStart;
    private int _batchCount;
    private int _pauseInterval = BatchItems;
    private double _itemMicroseconds = 1;

    internal Worker(Stage stage, int index)
    {
        _stage = stage;
        Index = index;
        Meter = new BusyMeter(stage.Name);
    }

    internal static Worker? Current => t_current;

    internal Stage Stage => _stage;

    internal int Index { get; }

    /// <summary>Set by the stage when it shrinks; the worker hands its queue over and ends.</summary>
    internal volatile bool Retired;

    /// <summary>The thread has looked for work for the last time and runs nothing until it is woken.</summary>
    internal volatile bool IsParked;

    /// <summary>Items run; written by this thread, read by the watchdog to see progress.</summary>
    internal long Executed;

    internal long Steals;

    internal BusyMeter Meter { get; }

    /// <summary>The value of <see cref="Executed"/> at the last look of the watchdog.</summary>
    internal long SeenExecuted;

    internal bool HasWaiting => Queue.Count > 0 || Volatile.Read(ref _next) is not null;

    internal void Start()
    {
        var thread = new Thread(Loop) { IsBackground = true, Name = "actop-" + _stage.Name + "-" + Index };
        thread.UnsafeStart();
    }

    /// <summary>Own thread only: an item that this thread made ready.</summary>
    internal void PostLocal(IStageItem item)
    {
        var displaced = Interlocked.Exchange(ref _next, item);
        if (displaced is null)
            return;
        Enqueue(displaced);
        if (_stage.HasIdle && Queue.Count * _itemMicroseconds > WakeWorthMicroseconds)
            _stage.WakeOne();
    }

    internal IStageItem? Steal(bool all)
    {
        if (Queue.TryTake() is { } item)
            return item;
        return all ? Interlocked.Exchange(ref _next, null) : null;
    }

    internal void Unpark()
    {
        lock (_park)
        {
            _woken = true;
            Monitor.Pulse(_park);
        }
    }

    /// <summary>The calling thread becomes the owner.</summary>
    internal void Enter() => t_current = this;

    /// <summary>The calling thread is the owner no more; somebody must get the worker at once.</summary>
    internal void Leave() => t_current = null;

    /// <summary>Runs up to <paramref name="most"/> items, none after the first pause beyond <paramref name="ticks"/>; false when some are left in the worker's own queue.</summary>
    internal bool RunBorrowed(int most, long ticks, out int items)
    {
        BeginBatch();
        var end = _batchStart + ticks;
        for (items = 0; items < most && _batchStart < end; items++)
        {
            if (Retired || (TakeOwn() ?? StealFromOthers()) is not { } item)
                break;
            RunItem(item);
        }

        EndBatch();
        return !HasWaiting;
    }

    private void Loop()
    {
        Enter();
        BeginBatch();
        var woken = false;
        while (true)
        {
            var item = Retired ? null : TakeOwn() ?? StealFromOthers();
            if (item is null)
            {
                EndBatch();
                if (woken)
                    _stage.CountEmptyWake();
                if (Retired || _stage.Stopping)
                    break;
                woken = Park();
                continue;
            }

            if (woken)
            {
                woken = false;
                _stage.EndSearch();
            }

            RunItem(item);
        }

        HandOver();
        t_current = null;
        _stage.OnWorkerEnded(this);
    }

    private void RunItem(IStageItem item)
    {
        _stage.Run(item);
        Executed++;
        _tick++;
        if (++_batchCount < _pauseInterval)
            return;
        EndBatch();
        BeginBatch();
    }

    private IStageItem? TakeOwn()
    {
        if (_tick % SharedInterval == 0 && _stage.TryTakeShared() is { } shared)
            return shared;
        if (_nextRuns < MaxNextRuns)
        {
            if (_next is not null && Interlocked.Exchange(ref _next, null) is { } next)
            {
                _nextRuns++;
                return next;
            }
        }
        else if (_next is not null && Interlocked.Exchange(ref _next, null) is { } turnedBack)
        {
            Enqueue(turnedBack);
        }

        _nextRuns = 0;
        return Queue.TryTake() ?? _stage.TryTakeShared();
    }

    private IStageItem? StealFromOthers()
    {
        var workers = _stage.Workers;
        for (var i = 1; i < workers.Length; i++)
        {
            var victim = workers[(Index + i) % workers.Length];
            if (victim == this || victim.Steal(all: false) is not { } item)
                continue;
            Steals++;
            for (var more = victim.Queue.Count / 2; more > 0 && victim.Steal(all: false) is { } another; more--)
            {
                Steals++;
                Enqueue(another);
            }

            return item;
        }

        return null;
    }

    /// <summary>
    /// Waits for work; true when woken by somebody. Announces itself idle first and looks again, so that a post between
    /// look and wait is not missed. While the thread waits, somebody may borrow the worker; who wakes the thread gives it back.
    /// </summary>
    private bool Park()
    {
        if (!_stage.TryEnterIdle(this))
            return false;
        if (_stage.HasWork() && _stage.TryLeaveIdle(this))
        {
            BeginBatch();
            return false;
        }

        Leave();
        lock (_park)
        {
            IsParked = true;
            while (!_woken)
                Monitor.Wait(_park);
            IsParked = _woken = false;
        }

        Enter();
        BeginBatch();
        return true;
    }

    private void Enqueue(IStageItem item)
    {
        if (!Queue.TryPush(item))
            _stage.PostShared(item);
    }

    private void BeginBatch()
    {
        if (_stage.IsMeasured)
            Meter.Begin();
        _batchStart = Stopwatch.GetTimestamp();
    }

    private void EndBatch()
    {
        var items = _batchCount;
        _batchCount = 0;
        if (items > 0)
        {
            var microseconds = (Stopwatch.GetTimestamp() - _batchStart) * 1e6 / Stopwatch.Frequency / items;
            _itemMicroseconds += (Math.Min(microseconds, 1000) - _itemMicroseconds) * items / (4 * BatchItems);
            _pauseInterval = Math.Clamp((int)(PauseMicroseconds / _itemMicroseconds), 1, BatchItems);
        }

        _stage.Pause();
        Meter.End(items);
    }

    private void HandOver()
    {
        while (Steal(all: true) is { } item)
            _stage.Post(item);
    }
}
