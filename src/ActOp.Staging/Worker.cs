#pragma warning disable RS0030 // The worker is the sanctioned owner of a thread and of the batch clock.
using System.Diagnostics;
using ActOp.Staging.Measuring;

namespace ActOp.Staging;

/// <summary>One thread of a <see cref="Stage"/> with its own queue.</summary>
/// <remarks>
/// Who runs the worker (its thread, or whoever borrows it while that is parked; see <see cref="Roster"/>) has everything here to itself
/// except: <see cref="Queue"/> and <see cref="_next"/> may be emptied by
/// thieves, <see cref="_heldAt"/> is written by the monitor, and <see cref="Unpark"/> may be called by who has taken the worker. An item
/// posted by the owner goes to <see cref="_next"/> and runs
/// as soon as the present one ends, while its data is still in this core's cache; at most <see cref="Tuning.MaxNextRuns"/> times
/// in a row, then the queue is served, so that two items that post each other cannot starve the rest. Thieves leave <see cref="_next"/>
/// alone unless the present item takes long.
/// </remarks>
internal sealed class Worker
{
    /// <summary>What gathers for a pause waits no longer than about this.</summary>
    private const double PauseMicroseconds = 200;

    /// <summary>The longest run without a pause.</summary>
    private const int BatchItems = 64;

    [ThreadStatic]
    private static Worker? t_current;

    internal readonly RunQueue Queue = new();

    /// <summary>Changed under the gate of the roster.</summary>
    internal volatile Place Place;

    private readonly Stage _stage;
    private readonly Permit _permit = new();
    private IStageItem? _next;
    private bool _isRetired;

    /// <summary>Items begun and ended, together: odd inside an item. Written by the owner.</summary>
    private long _steps;

    /// <summary>The value of <see cref="_steps"/> inside an item that takes long.</summary>
    private long _heldAt = -1;
    private bool _isWoken;
    private int _looks;
    private long _keptMicroseconds;
    private long _pauses;
    private long _seenPauses;
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

    /// <summary>Out of service, or soon. Changed under the gate of the roster.</summary>
    internal bool IsRetired
    {
        get => Volatile.Read(ref _isRetired);
        set => Volatile.Write(ref _isRetired, value);
    }

    /// <summary>Counted as searching in the roster. Belongs to who runs the worker.</summary>
    internal bool IsSearching { get; set; }

    /// <summary>The thread has looked for work for the last time and runs nothing until it gets its permit.</summary>
    internal bool IsParked => _permit.IsAwaited;

    /// <summary>Items run.</summary>
    internal long Executed => Volatile.Read(ref _steps) / 2;

    internal long Steals;

    internal BusyMeter Meter { get; }

    /// <summary>What <see cref="Look"/> saw last; negative when the worker did not run. Belongs to the monitor.</summary>
    internal long SeenSteps { get; set; } = -1;

    /// <summary>For how long looks have seen one and the same item. Belongs to the monitor.</summary>
    internal long KeptMicroseconds => _keptMicroseconds;

    /// <summary>What the last <see cref="Look"/> saw was inside an item. Belongs to the monitor.</summary>
    internal bool IsSeenInside => SeenSteps % 2 == 1;

    /// <summary>Inside an item that has been found to take long: what waits behind it is for others.</summary>
    internal bool IsHeld => Volatile.Read(ref _heldAt) == Volatile.Read(ref _steps);

    /// <summary>A thief that looks now would find something.</summary>
    internal bool HasForThieves => Queue.Count > 0 || (Volatile.Read(ref _next) is not null && IsHeld);

    /// <summary>What waits would not be run before a thief is awake.</summary>
    internal bool NeedsHelp => Queue.Count * _itemMicroseconds > Tuning.WakeWorthMicroseconds || (IsHeld && HasWaiting);

    /// <summary>What an item takes, the mean of the last few hundred. Belongs to who runs the worker.</summary>
    internal double ItemMicroseconds => _itemMicroseconds;

    private bool HasWaiting => Queue.Count > 0 || Volatile.Read(ref _next) is not null;

    /// <summary>
    /// Monitor only, for a worker that runs: how many times it has seen one and the same item now, and whether what waits would wait
    /// longer than a wake-up costs, by what the owner
    /// has run since the last look. (The mean time of items says nothing of a burst of long ones.)
    /// </summary>
    internal int Look(int microseconds, out bool waits)
    {
        var steps = Volatile.Read(ref _steps);
        var ran = (steps - SeenSteps) / 2;
        var isNew = SeenSteps < 0;
        var isSame = steps == SeenSteps && steps % 2 != 0;
        SeenSteps = steps;
        _looks = isSame ? _looks + 1 : 0;
        _keptMicroseconds = isSame ? _keptMicroseconds + microseconds : 0;
        if (_looks == 1)
            Volatile.Write(ref _heldAt, steps);
        // No pause for so long, but items that end: the owner is to pause after the present one.
        var pauses = Volatile.Read(ref _pauses);
        if (pauses == _seenPauses && !isNew)
            Volatile.Write(ref _pauseInterval, 1);
        _seenPauses = pauses;
        waits = isSame ? HasWaiting : !isNew && Queue.Count * (double)microseconds > Tuning.WakeWorthMicroseconds * ran;
        return _looks;
    }

    internal void Start()
    {
        var thread = new Thread(Loop) { IsBackground = true, Name = "actop-" + _stage.Name + "-" + Index };
        thread.UnsafeStart();
    }

    /// <summary>Own thread only: an item that this thread made ready.</summary>
    internal void PostLocal(IStageItem item)
    {
        if (IsHeld)
        {
            _stage.PostShared(item);
            return;
        }

        var displaced = Interlocked.Exchange(ref _next, item);
        if (displaced is null)
            return;
        Enqueue(displaced);
        if (_stage.HasIdle && Queue.Count * _itemMicroseconds > Tuning.WakeWorthMicroseconds)
            _stage.WakeOne();
    }

    internal IStageItem? Steal(bool all)
    {
        if (Queue.TryTake() is { } item)
            return item;
        return all ? Interlocked.Exchange(ref _next, null) : null;
    }

    /// <summary>The thread goes on, once: called by who has taken the worker out of its place.</summary>
    internal void Unpark() => _permit.Give();

    /// <summary>Own thread only, after it has given the worker up: waits until it has it again.</summary>
    internal void Park()
    {
        Leave();
        _permit.Take();
        Enter();
        _isWoken = IsSearching;
    }

    /// <summary>The calling thread becomes the owner.</summary>
    internal void Enter() => t_current = this;

    /// <summary>The calling thread is the owner no more; somebody must get the worker at once.</summary>
    internal void Leave() => t_current = null;

    /// <summary>
    /// Runs up to <paramref name="most"/> items, none after the first pause beyond <paramref name="ticks"/>; false when some are left in
    /// the worker's own queue.
    /// </summary>
    internal bool RunBorrowed(int most, long ticks, out int items)
    {
        BeginBatch();
        var end = _batchStart + ticks;
        for (items = 0; items < most && _batchStart < end; items++)
        {
            if (IsRetired || (TakeOwn() ?? StealFromOthers()) is not { } item)
                break;
            RunItem(item);
        }

        EndBatch();
        Queue.EmptySlots();
        return !HasWaiting;
    }

    internal void HandOver()
    {
        while (Steal(all: true) is { } item)
            _stage.PostShared(item);
        Queue.EmptySlots();
    }

    private void Loop()
    {
        Enter();
        BeginBatch();
        while (true)
        {
            if (!IsRetired && (TakeOwn() ?? Search()) is { } item)
            {
                _isWoken = false;
                if (IsSearching)
                    _stage.EndSearch(this);
                RunItem(item);
                continue;
            }

            EndBatch();
            // The pause action may have posted.
            if (IsRetired || !HasWaiting)
            {
                if (_isWoken)
                    _stage.CountEmptyWake();
                _isWoken = false;
                if (!_stage.Rest(this))
                    break;
            }

            BeginBatch();
        }

        Leave();
    }

    private void RunItem(IStageItem item)
    {
        Volatile.Write(ref _steps, _steps + 1);
        _stage.Run(item);
        Volatile.Write(ref _steps, _steps + 1);
        _tick++;
        if (++_batchCount < Volatile.Read(ref _pauseInterval))
            return;
        EndBatch();
        BeginBatch();
    }

    private IStageItem? TakeOwn()
    {
        if (_tick % Tuning.SharedInterval == 0 && _stage.TryTakeShared() is { } shared)
            return shared;
        if (_nextRuns < Tuning.MaxNextRuns)
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

    /// <summary>Counted as searching from the first look on, so that nobody is woken for what this thread will find.</summary>
    private IStageItem? Search()
    {
        if (_stage.Workers.Length == 1)
            return null;
        if (!IsSearching)
            _stage.BeginSearch(this);
        return StealFromOthers();
    }

    private IStageItem? StealFromOthers()
    {
        var workers = _stage.Workers;
        for (var i = 1; i < workers.Length; i++)
        {
            var victim = workers[(Index + i) % workers.Length];
            if (victim.Steal(all: victim.IsHeld) is not { } item)
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
        Volatile.Write(ref _pauses, _pauses + 1);
        if (items > 0)
        {
            var microseconds = (Stopwatch.GetTimestamp() - _batchStart) * 1e6 / Stopwatch.Frequency / items;
            _itemMicroseconds += (Math.Min(microseconds, 1000) - _itemMicroseconds) * items / (4 * BatchItems);
            Volatile.Write(ref _pauseInterval, Math.Clamp((int)(PauseMicroseconds / _itemMicroseconds), 1, BatchItems));
        }

        _stage.Pause();
        Meter.End(items);
    }
}
