#pragma warning disable RS0030 // The worker is the sanctioned owner of a thread and of the batch clock.
using System.Diagnostics;
using System.Runtime.CompilerServices;
using ActOp.Staging.Groups;
using ActOp.Staging.Measuring;

namespace ActOp.Staging;

/// <summary>One thread of a <see cref="Stage"/> with its own queue.</summary>
/// <remarks>
/// <para>The owner runs the worker: its own thread or, while that is parked, the thread that has borrowed it (see <see cref="Roster"/>).
/// All state belongs to the owner except: thieves take from <see cref="Queue"/> and <see cref="_lifoSlot"/>, the monitor writes <see
/// cref="_heldAt"/> and the fields of <see cref="Sample"/>, and <see cref="Unpark"/> is called by the thread that has taken the worker from
/// the roster.</para>
/// <para>An item that the owner posts goes to <see cref="_lifoSlot"/> and runs next, while its data is still in the core's cache. After
/// <see cref="Tuning.MaxLifoRuns"/> such runs in a row the queue is served, so that two items that post each other cannot starve the rest.
/// Thieves take from <see cref="_lifoSlot"/> only when the current item takes long.</para>
/// <para>With groups, the worker runs items of one group at a time, for a slice (<see cref="StageGroups"/>). Its own queue has items of
/// that group only.</para>
/// </remarks>
internal sealed class Worker
{
    /// <summary>The pause action runs about this often while items run.</summary>
    private const double PauseMicroseconds = 200;

    /// <summary>The longest run without a pause.</summary>
    private const int BatchItems = 64;

    [ThreadStatic]
    private static Worker? t_current;

    internal readonly RunQueue Queue = new();

    /// <summary>Changed under the gate of the roster.</summary>
    internal volatile WorkerState State;

    private readonly Stage _stage;
    private readonly StageGroups? _groups;
    private readonly Permit _permit = new();
    private IStageItem? _lifoSlot;
    private bool _isRetired;

    /// <summary>Items begun plus items ended: odd inside an item. Written by the owner.</summary>
    private long _steps;

    /// <summary>The value of <see cref="_steps"/> inside an item that takes long.</summary>
    private long _heldAt = -1;
    private bool _isWoken;
    private int _sameSamples;
    private long _lookedAt;
    private int _looks;
    private long _heldMicroseconds;
    private long _pauses;
    private long _sampledPauses;
    private int _lifoRuns;
    private uint _tick;
    private long _batchStart;
    private int _batchCount;
    private int _pauseInterval = BatchItems;
    private double _itemMicroseconds = 1;

    /// <summary>The group of the slice, or null: then the own queue is empty.</summary>
    private StageGroup? _serving;
    private long _sliceStart;
    private int _sliceItems;
    private int _untilCheck;
    private bool _isSliceOver;

    /// <summary>What has begun in the slice was known to cost.</summary>
    private double _reserved;

    internal Worker(Stage stage, int index)
    {
        _stage = stage;
        _groups = stage.Groups;
        Index = index;
        Meter = new BusyMeter(stage.Name);
    }

    internal static Worker? Current => t_current;

    /// <summary>The slice of the calling thread has lasted for a quantum: an item that runs several things should stop after one.</summary>
    internal static bool IsSliceOver =>
        t_current is { _serving: not null } worker && Stopwatch.GetTimestamp() - worker._sliceStart >= worker._groups!.QuantumTicks;

    /// <inheritdoc cref="StageGroups.TryReserve"/>
    /// <remarks>True if the calling thread runs no slice of the group: the first turn of a grain that joins it, or no groups.</remarks>
    internal static bool TryReserve(StageGroup group, double cost, IStageItem held)
    {
        if (t_current is not { } worker || !ReferenceEquals(worker._serving, group))
            return true;
        if (!worker._groups!.TryReserve(group, cost, held))
            return false;
        worker._reserved += cost;
        return true;
    }

    internal Stage Stage => _stage;

    internal int Index { get; }

    /// <summary>Out of service, or about to be. Changed under the gate of the roster.</summary>
    internal bool IsRetired
    {
        get => Volatile.Read(ref _isRetired);
        set => Volatile.Write(ref _isRetired, value);
    }

    /// <summary>Counted as searching in the roster. Belongs to the owner.</summary>
    internal bool IsSearching { get; set; }

    /// <summary>The thread waits for its permit.</summary>
    internal bool IsParked => _permit.IsAwaited;

    /// <summary>Items run.</summary>
    internal long Executed => Volatile.Read(ref _steps) / 2;

    internal long Steals;

    internal BusyMeter Meter { get; }

    /// <summary>The steps at the last <see cref="Sample"/>; negative when the worker did not run. Belongs to the monitor.</summary>
    internal long SampledSteps { get; set; } = -1;

    /// <summary>How long samples have seen the same item run. Belongs to the monitor.</summary>
    internal long HeldMicroseconds => _heldMicroseconds;

    /// <summary>The last <see cref="Sample"/> was inside an item. Belongs to the monitor.</summary>
    internal bool IsSampledInside => SampledSteps % 2 == 1;

    /// <summary>Inside an item that has been found to take long: other workers steal what waits behind it.</summary>
    internal bool IsHeld => Volatile.Read(ref _heldAt) == Volatile.Read(ref _steps);

    /// <summary>A thief that searches now would find an item.</summary>
    internal bool HasStealable => Queue.Count > 0 || (Volatile.Read(ref _lifoSlot) is not null && IsHeld);

    /// <summary>The waiting items would take longer than waking a thief.</summary>
    internal bool NeedsHelp => Queue.Count * _itemMicroseconds > Tuning.WakeWorthMicroseconds || (IsHeld && HasWaiting);

    /// <summary>The mean run time of the last few hundred items. Belongs to the owner.</summary>
    internal double ItemMicroseconds => _itemMicroseconds;

    /// <summary>Items wait in the queue, or in the place of the next item, which thieves take only from a worker that is held.</summary>
    internal bool HasWaiting => Queue.Count > 0 || Volatile.Read(ref _lifoSlot) is not null;

    /// <summary>
    /// Monitor only, for a worker that runs. Returns how many samples in a row have seen the same item. <paramref name="waits"/> tells
    /// whether items wait longer than a wake-up takes, by the number of items that the owner has run since the last sample. (The mean run
    /// time would not show a burst of long items.)
    /// </summary>
    internal int Sample(int microseconds, out bool waits)
    {
        var steps = Volatile.Read(ref _steps);
        var ran = (steps - SampledSteps) / 2;
        var isNew = SampledSteps < 0;
        var isSame = steps == SampledSteps && steps % 2 != 0;
        SampledSteps = steps;
        _sameSamples = isSame ? _sameSamples + 1 : 0;
        _heldMicroseconds = isSame ? _heldMicroseconds + microseconds : 0;
        if (_sameSamples == 1)
            Volatile.Write(ref _heldAt, steps);
        // No pause since the last sample although items end: the owner pauses after the current item.
        var pauses = Volatile.Read(ref _pauses);
        if (pauses == _sampledPauses && !isNew)
            Volatile.Write(ref _pauseInterval, 1);
        _sampledPauses = pauses;
        waits = isSame ? HasWaiting : !isNew && Queue.Count * (double)microseconds > Tuning.WakeWorthMicroseconds * ran;
        return _sameSamples;
    }

    /// <summary>
    /// Called in equal periods by one thread at a time: for how many calls the owner has been inside the same item. Only that thread
    /// touches what it writes.
    /// </summary>
    internal int CountInSameItem()
    {
        var steps = Volatile.Read(ref _steps);
        _looks = steps == _lookedAt && steps % 2 != 0 ? _looks + 1 : 0;
        _lookedAt = steps;
        return _looks;
    }

    internal void Start()
    {
        var thread = new Thread(Loop) { IsBackground = true, Name = "actop-" + _stage.Name + "-" + Index };
        thread.UnsafeStart();
    }

    /// <summary>Owner only: posts an item.</summary>
    internal void PostLocal(IStageItem item)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(t_current == this);
        if (IsHeld)
        {
            _stage.PostShared(item);
            return;
        }

        if (_groups is not null && !ReferenceEquals(_groups.GroupOf(item), _serving))
        {
            PostToOther(_groups, item);
            return;
        }

        var displaced = Interlocked.Exchange(ref _lifoSlot, item);
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
        return all ? Interlocked.Exchange(ref _lifoSlot, null) : null;
    }

    /// <summary>Ends one <see cref="Park"/>. Called by the thread that has taken the worker from the roster.</summary>
    internal void Unpark() => _permit.Give();

    /// <summary>
    /// Own thread only, after the roster has made the worker idle or retired: waits for <see cref="Unpark"/>. A borrower may own the worker
    /// already, so only what belongs to the thread is touched before that.
    /// </summary>
    internal void Park()
    {
        if (Invariant.AreChecked)
            Invariant.Holds(t_current == this);
        Leave();
        _permit.WaitAndTake();
        Enter();
        _isWoken = IsSearching;
    }

    /// <summary>The calling thread becomes the owner.</summary>
    internal void Enter() => t_current = this;

    /// <summary>The calling thread is no longer the owner; the caller passes the worker on.</summary>
    internal void Leave() => t_current = null;

    /// <summary>
    /// Runs up to <paramref name="most"/> items and stops at the first pause after <paramref name="ticks"/>. False when items are left in
    /// the worker's own queue.
    /// </summary>
    internal bool RunBorrowed(int most, long ticks, out int items)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(t_current == this && !IsSearching && _batchCount == 0);
        BeginBatch();
        var end = _batchStart + ticks;
        for (items = 0; items < most && _batchStart < end; items++)
        {
            if (IsRetired || (TakeOwn() ?? StealFromOthers()) is not { } item)
                break;
            RunItem(item);
        }

        EndBatch();
        Queue.ClearTaken();
        if (HasWaiting)
            return false;
        EndSlice();
        return true;
    }

    /// <summary>A retiring worker moves its items to the shared queue.</summary>
    internal void MoveToShared()
    {
        if (Invariant.AreChecked)
            Invariant.Holds(t_current == this);
        while (Steal(all: true) is { } item)
            _stage.PostShared(item);
        Queue.ClearTaken();
        EndSlice();
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
                if (Invariant.AreChecked)
                    Invariant.Holds(_batchCount == 0);
                if (!_stage.WaitForWork(this))
                    break;
            }

            BeginBatch();
        }

        if (Invariant.AreChecked)
            Invariant.Holds(t_current == this && !HasWaiting);
        Leave();
    }

    private void RunItem(IStageItem item)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(t_current == this && _steps % 2 == 0);
        Volatile.Write(ref _steps, _steps + 1);
        _stage.Run(item);
        if (Invariant.AreChecked)
            Invariant.Holds(t_current == this && _steps % 2 == 1);
        Volatile.Write(ref _steps, _steps + 1);
        _tick++;
        if (_groups is not null)
            CountInSlice();
        if (++_batchCount < Volatile.Read(ref _pauseInterval))
            return;
        EndBatch();
        BeginBatch();
    }

    private IStageItem? TakeOwn()
    {
        if (_groups is not null)
            return TakeOfGroup(_groups);
        if (_tick % Tuning.SharedInterval == 0 && _stage.TryTakeShared() is { } shared)
            return shared;
        return TakeLocal() ?? _stage.TryTakeShared();
    }

    /// <summary>The item posted last, or the oldest of the own queue.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private IStageItem? TakeLocal()
    {
        if (_lifoRuns < Tuning.MaxLifoRuns)
        {
            if (_lifoSlot is not null && Interlocked.Exchange(ref _lifoSlot, null) is { } last)
            {
                _lifoRuns++;
                return last;
            }
        }
        else if (_lifoSlot is not null && Interlocked.Exchange(ref _lifoSlot, null) is { } deferred)
        {
            Enqueue(deferred);
        }

        _lifoRuns = 0;
        return Queue.TryTake();
    }

    /// <summary>
    /// As <see cref="TakeOwn"/>, with groups: an item of the slice's group while the slice lasts, then one of the group whose turn it is.
    /// </summary>
    private IStageItem? TakeOfGroup(StageGroups groups)
    {
        while (true)
        {
            if (_serving is { } serving && !_isSliceOver && TakeOfSlice(groups, serving) is { } item)
                return item;
            var hasOwn = HasWaiting;
            var next = groups.Switch(SliceUntil(Stopwatch.GetTimestamp(), out var now), hasOwn, out var first);
            if (hasOwn && !ReferenceEquals(next, _serving))
                MoveToGroup(groups);
            BeginSlice(next, now);
            if (first is not null || (next is null && !hasOwn))
                return first;
        }
    }

    private IStageItem? TakeOfSlice(StageGroups groups, StageGroup serving)
    {
        if (_tick % Tuning.SharedInterval == 0 && groups.TryTakeMore(serving) is { } waiting)
            return waiting;
        return TakeLocal() ?? groups.TryTakeMore(serving);
    }

    private Slice SliceUntil(long time, out long now)
    {
        now = time;
        return new Slice(_serving, _sliceStart, now, _sliceItems, _reserved);
    }

    private void BeginSlice(StageGroup? group, long now)
    {
        _serving = group;
        _sliceStart = now;
        _sliceItems = 0;
        _reserved = 0;
        _untilCheck = group?.CheckEvery ?? 0;
        _isSliceOver = false;
    }

    /// <summary>Nothing of the slice's group is left in the own queue.</summary>
    private void EndSlice()
    {
        if (_serving is null)
            return;
        _groups!.End(SliceUntil(Stopwatch.GetTimestamp(), out var now));
        BeginSlice(null, now);
    }

    private void CountInSlice()
    {
        _sliceItems++;
        if (--_untilCheck <= 0)
            CheckSlice(Stopwatch.GetTimestamp());
    }

    private void CheckSlice(long now)
    {
        if (_serving is not { } serving)
            return;
        _isSliceOver = now - _sliceStart >= _groups!.QuantumTicks;
        _untilCheck = serving.CheckEvery;
    }

    /// <summary>The slice is over: what waits goes on with the group's next one, on any thread.</summary>
    private void MoveToGroup(StageGroups groups)
    {
        while (Queue.TryTake() is { } item)
            groups.Enqueue(item);
        if (Interlocked.Exchange(ref _lifoSlot, null) is { } last)
            groups.Enqueue(last);
    }

    /// <summary>
    /// Posts an item of another group than that of the slice. This worker looks at it before it becomes idle; another one is woken if the
    /// item would wait for longer than that takes.
    /// </summary>
    private void PostToOther(StageGroups groups, IStageItem item)
    {
        groups.Enqueue(item);
        if (_stage.HasIdle && (Queue.Count + groups.Waiting) * _itemMicroseconds > Tuning.WakeWorthMicroseconds)
            _stage.WakeOne();
    }

    /// <summary>The thread begins a slice with an item that it has stolen, and steals no more: the others may be of other groups.</summary>
    private void BeginStolen(StageGroups groups, IStageItem item)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(_serving is null && !HasWaiting);
        var group = groups.GroupOf(item);
        groups.Begin(group);
        BeginSlice(group, Stopwatch.GetTimestamp());
    }

    /// <summary>The worker counts as searching from here on, so that no other worker is woken for the items that it will find.</summary>
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
            if (_groups is not null)
            {
                BeginStolen(_groups, item);
                return item;
            }

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

        if (Invariant.AreChecked)
            Invariant.Holds(t_current == this);
        _stage.Pause();
        Meter.End(items);
        if (_groups is not null && items > 0)
            CheckSlice(Stopwatch.GetTimestamp());
    }
}

/// <summary>
/// A worker's queue: first in, first out, fixed size. The owner pushes at the tail; the owner and thieves take at the head.
/// </summary>
/// <remarks>
/// Only the owner writes <see cref="_tail"/>. <see cref="_head"/> moves by compare-and-swap and only grows: a thief that has read a slot
/// which was reused meanwhile fails the swap. A slot is reused or cleared only after the head has passed it. The owner clears slots before
/// it parks; while it runs, new items overwrite them.
/// </remarks>
internal sealed class RunQueue
{
    internal const int Capacity = Tuning.QueueCapacity;

    private readonly IStageItem?[] _items = new IStageItem?[Capacity];
    private long _head;
    private long _tail;

    /// <summary>Slots before this one are cleared or hold later items. Belongs to the owner.</summary>
    private long _cleared;

    /// <summary>Items in the queue; exact for the owner when no thief takes at the same time.</summary>
    internal int Count => (int)Math.Max(0, Volatile.Read(ref _tail) - Volatile.Read(ref _head));

    /// <summary>Owner only. False when the queue is full.</summary>
    internal bool TryPush(IStageItem item)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(_head <= _tail && _tail - _head <= Capacity);
        var tail = _tail;
        if (tail - Volatile.Read(ref _head) >= Capacity)
            return false;
        Volatile.Write(ref _items[tail & (Capacity - 1)], item);
        Volatile.Write(ref _tail, tail + 1);
        return true;
    }

    /// <summary>Any thread. The oldest item, or null.</summary>
    internal IStageItem? TryTake()
    {
        while (true)
        {
            var head = Volatile.Read(ref _head);
            if (head >= Volatile.Read(ref _tail))
                return null;
            var item = Volatile.Read(ref _items[head & (Capacity - 1)]);
            if (Interlocked.CompareExchange(ref _head, head + 1, head) == head)
                return item;
        }
    }

    /// <summary>Owner only, before it parks: clears the slots of items that were taken, so that they can be collected.</summary>
    internal void ClearTaken()
    {
        if (Invariant.AreChecked)
            Invariant.Holds(_cleared <= _tail && _head <= _tail);
        var head = Volatile.Read(ref _head);
        for (var slot = Math.Max(_cleared, head - Capacity); slot < head; slot++)
        {
            // A slot that was reused holds a waiting item.
            if (slot + Capacity >= _tail)
                _items[slot & (Capacity - 1)] = null;
        }

        _cleared = head;
    }
}
