#pragma warning disable RS0030 // The stage is the sanctioned user of the thread pool (its ThreadPool mode).
using System.Collections.Concurrent;
using ActOp.Staging.Groups;
using ActOp.Staging.Measuring;

namespace ActOp.Staging;

/// <summary>
/// A queue and the threads that serve it. Each thread also has a queue of its own. Items that a thread of the stage posts go to that queue;
/// idle threads steal from it.
/// </summary>
/// <remarks>
/// <para>Any thread may post. The number of threads may change at any time (<see cref="SetThreads"/>). Idle threads park. A post wakes at
/// most one thread, and none while another one searches for work. <see cref="Roster"/> assigns each <see cref="Worker"/> to at most one
/// thread and shows why no wake-up is lost. A worker is run by its own thread or, while that is parked, by a thread that has borrowed it
/// (<see cref="BorrowedWorkers"/>, <see cref="InlineRuns"/>). So at most <see cref="Threads"/> threads run items.</para>
/// <para>While any thread of the stage runs, the <see cref="StageMonitor"/> samples the stage every few milliseconds and finds items that
/// take long (<see cref="RescueStuckItems"/>).</para>
/// </remarks>
public sealed class Stage : IDisposable, ISampled
{
    private readonly ConcurrentQueue<IStageItem> _shared = new();
    private readonly Roster _roster;
    private readonly BorrowedWorkers _borrowing;
    private readonly InlineRuns _inline;
    private readonly Action<Exception> _onError;
    private readonly Action? _onPause;
    private readonly StageDriver? _driver;
    private readonly Worker? _driven;
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _held;
    private long _posted;
    private long _wakes;
    private long _emptyWakes;
    private long _pooled;

    /// <summary>Creates a stage and starts its threads.</summary>
    /// <param name="name">Name of the stage; its threads are called <c>actop-name-i</c>.</param>
    /// <param name="threads">How many threads, at least 1. Ignored in <see cref="StageMode.ThreadPool"/>.</param>
    /// <param name="mode">Which threads run the items.</param>
    /// <param name="onError">Called with each exception that an item throws; an item that throws is a defect.</param>
    /// <param name="onPause">
    /// Called by each thread of the stage when it has no more items, and at intervals while it has: for work that is collected per thread
    /// and done in batches. Not called in <see cref="StageMode.ThreadPool"/>.
    /// </param>
    public Stage(string name, int threads, StageMode mode, Action<Exception> onError, Action? onPause = null)
        : this(name, threads, mode, onError, onPause, null)
    {
    }

    /// <summary>As the other constructor, for a stage that divides its time among groups; only with threads of its own.</summary>
    internal Stage(string name, int threads, StageMode mode, Action<Exception> onError, Action? onPause, StageGroups? groups)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(threads, 1);
        Name = name;
        Mode = mode;
        Groups = mode == StageMode.OwnThreads ? groups : null;
        Groups?.Connect(WakeOne);
        _onError = onError;
        _onPause = onPause;
        _roster = new Roster(OnEnded);
        _borrowing = new BorrowedWorkers(this, _roster);
        _inline = new InlineRuns(this, _roster, _borrowing);
        if (mode == StageMode.OwnThreads)
        {
            SetThreads(threads);
            StageMonitor.Shared.Add(this);
        }
    }

    /// <summary>
    /// Creates a stage without threads; <paramref name="driver"/> runs its items one by one (<see cref="RunDriven"/>). It lends no workers.
    /// </summary>
    internal Stage(string name, StageDriver driver, Action<Exception> onError, Action? onPause = null)
    {
        Name = name;
        _driver = driver;
        _onError = onError;
        _onPause = onPause;
        // Retired, so that its posts are treated as posts of a foreign thread.
        _driven = new Worker(this, 0) { IsRetired = true };
        _roster = new Roster(OnEnded);
        _borrowing = new BorrowedWorkers(this, _roster);
        _inline = new InlineRuns(this, _roster, _borrowing);
    }

    /// <summary>The stage's name.</summary>
    public string Name { get; }

    /// <summary>Which threads run the items.</summary>
    public StageMode Mode { get; }

    /// <summary>
    /// How many threads serve the stage; 0 in <see cref="StageMode.ThreadPool"/>. Threads beyond that number complete the item that they
    /// run, move their other items to the shared queue and park.
    /// </summary>
    public int Threads => _roster.Threads;

    /// <summary>What the stage has done so far.</summary>
    public StageCounters Counters
    {
        get
        {
            var executed = Interlocked.Read(ref _pooled);
            long steals = 0;
            var queued = _shared.Count + (Groups?.Waiting ?? 0);
            foreach (var worker in Workers)
            {
                executed += worker.Executed;
                steals += Volatile.Read(ref worker.Steals);
                queued += worker.Queue.Count;
            }

            var wakes = Interlocked.Read(ref _wakes);
            return new StageCounters(executed, Interlocked.Read(ref _posted), wakes, Interlocked.Read(ref _emptyWakes), steals, queued);
        }
    }

    /// <summary>
    /// What the stage has done so far and the times measured for a sample of it; no sample in <see cref="StageMode.ThreadPool"/>.
    /// </summary>
    public StageUsage Usage
    {
        get
        {
            var counters = Counters;
            var busy = Workers.Aggregate(default(BusyTime), static (sum, worker) => sum + worker.Meter.Total);
            return new(counters.Executed, counters.Queued, busy, Volatile.Read(ref _held));
        }
    }

    /// <summary>
    /// Whether a sample of the items is measured for <see cref="Usage"/>. Default true. It costs less than 1 % of the throughput.
    /// </summary>
    public bool IsMeasured { get; init; } = true;

    /// <summary>
    /// Called when an item has been found to take long, and once more at the next sample, because work that earlier items of its thread
    /// left to the pause action is delayed. Called on the thread of the runtime's timers: it must only post.
    /// </summary>
    public Action? OnHeld { get; init; }

    /// <summary>
    /// True on a thread that runs items of a stage and will call the stage's pause action soon. False inside an item that has been found to
    /// take long.
    /// </summary>
    public static bool WillPause => Worker.Current is { Stage._onPause: not null, IsHeld: false };

    /// <summary>True when all threads of the stage are parked, so that a post would have to wake one; a racy snapshot.</summary>
    public bool IsAsleep => _driver is null ? Mode == StageMode.OwnThreads && _roster.Idle == _roster.Threads : _driver.IsAsleep(this);

    /// <summary>Items that borrowers have run (<see cref="Borrow"/>).</summary>
    public long Borrowed => _borrowing.Items;

    internal Roster Roster => _roster;

    internal BorrowedWorkers BorrowedWorkers => _borrowing;

    internal Worker[] Workers => _roster.Workers;

    internal bool HasIdle => _roster.Idle > 0;

    /// <summary>The groups that share the time of the threads; null for none, the usual case.</summary>
    internal StageGroups? Groups { get; }

    internal bool HasShared => Groups is null ? !_shared.IsEmpty : Groups.HasRunnable;

    /// <summary>Makes <paramref name="item"/> ready to run. Never blocks.</summary>
    public void Post(IStageItem item)
    {
        if (Worker.Current is { IsRetired: false } worker && worker.Stage == this)
        {
            worker.PostLocal(item);
            return;
        }

        if (_driver is not null)
        {
            _driver.Post(this, item);
            return;
        }

        if (Mode == StageMode.ThreadPool)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static state => state.stage.RunPooled(state.item), (stage: this, item), preferLocal: true);
            return;
        }

        PostShared(item);
    }

    /// <summary>
    /// As <see cref="Post"/>, for an item that gives way: it runs behind all items that wait already, also if the calling thread is one of
    /// the stage.
    /// </summary>
    public void PostBehind(IStageItem item)
    {
        if (_driver is not null)
            _driver.Post(this, item);
        else if (Mode == StageMode.ThreadPool)
            ThreadPool.UnsafeQueueUserWorkItem(static state => state.stage.RunPooled(state.item), (stage: this, item), preferLocal: false);
        else
            PostShared(item);
    }

    /// <summary>
    /// Makes the calling thread a thread of the stage until the scope ends, if one is parked: <c>using var run = stage.Borrow();</c>. Items
    /// that it posts meanwhile run at the end of the scope, with what follows from them, up to a limit of items and time.
    /// </summary>
    /// <returns>
    /// An empty scope when the thread runs items of a stage already, when no thread of this stage is parked, or when its items have
    /// recently taken long.
    /// </returns>
    public BorrowedRun Borrow() => new(_borrowing.TryBorrow());

    /// <summary>
    /// Changes the number of threads, at least 1. No item is lost. Has no effect after <see cref="StopAsync"/>.
    /// </summary>
    public void SetThreads(int threads)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(threads, 1);
        if (Mode == StageMode.ThreadPool || _driver is not null)
            return;
        var resumed = _roster.SetThreads(threads, index => new Worker(this, index), out var started);
        foreach (var worker in resumed)
            worker.Unpark();
        foreach (var worker in started)
            worker.Start();
        StageMonitor.Shared.Arm();
    }

    /// <summary>
    /// Runs an item that was passed to the driver, and the pause action, on the calling thread. Only for a stage that has a driver.
    /// </summary>
    internal void RunDriven(IStageItem item)
    {
        if (Worker.Current is not null)
            throw new InvalidOperationException("The thread already runs an item of the stage " + Worker.Current.Stage.Name + ".");
        _driven!.Enter();
        RunPooled(item);
        Pause();
        if (Invariant.AreChecked)
            Invariant.Holds(Worker.Current == _driven);
        _driven.Leave();
    }

    /// <summary>Stops the threads once their queues are empty. The task completes when the last thread has ended.</summary>
    public Task StopAsync()
    {
        Groups?.Release();
        foreach (var worker in _roster.Stop())
            worker.Unpark();
        return _ended.Task;
    }

    /// <inheritdoc/>
    public void Dispose() => _ = StopAsync();

    internal void PostShared(IStageItem item)
    {
        if (Groups is null)
            _shared.Enqueue(item);
        else
            Groups.Enqueue(item);
        // Also the full fence between the write of the item and the read of the roster's state.
        Interlocked.Increment(ref _posted);
        if (_roster.MayWake && !_inline.TryQueue())
            WakeOne();
    }

    internal IStageItem? TryTakeShared() => _shared.TryDequeue(out var item) ? item : null;

    internal void Run(IStageItem item)
    {
        try
        {
            item.Execute();
        }
        catch (Exception exception)
        {
            _onError(exception);
        }
    }

    internal void Pause()
    {
        try
        {
            _onPause?.Invoke();
        }
        catch (Exception exception)
        {
            _onError(exception);
        }
    }

    /// <summary>
    /// Called by the worker's thread when it has found no item: waits until there is work, or until the worker is in service again. False
    /// when the thread must end.
    /// </summary>
    internal bool WaitForWork(Worker worker)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(worker.Stage == this && Worker.Current == worker);
        worker.Queue.ClearTaken();
        if (_roster.IsStopping)
        {
            if (worker.IsSearching)
                _roster.EndSearch(worker);
            // Also what only the owner takes: it may have been retired when the stage stopped.
            if (HasWork() || worker.HasWaiting)
                return true;
            _roster.End();
            return false;
        }

        if (worker.IsRetired)
        {
            worker.MoveToShared();
            if (worker.IsSearching)
                EndSearch(worker);
            // What it has left to itself in the queues of other groups.
            if (Groups is { HasRunnable: true })
                WakeOne();
            if (_roster.TryRetire(worker))
                worker.Park();
            return true;
        }

        if (!_roster.TryGoIdle(worker))
            return true;
        if (HasWork())
        {
            if (_roster.TryTakeBack(worker))
                return true;
            WakeOne();
        }

        worker.Park();
        return true;
    }

    internal void BeginSearch(Worker worker) => _roster.BeginSearch(worker);

    /// <summary>
    /// The worker has found an item, or retires. The next post may wake another worker; if items wait already, one is woken.
    /// </summary>
    internal void EndSearch(Worker worker)
    {
        _roster.EndSearch(worker);
        if (_roster.MayWake && NeedsHelp())
            WakeOne();
    }

    internal void WakeOne()
    {
        if (_roster.TryTakeToWake() is not { } worker)
            return;
        Wake(worker);
    }

    /// <summary>Wakes the thread of a worker whose state the roster has changed to running.</summary>
    internal void Wake(Worker worker)
    {
        Interlocked.Increment(ref _wakes);
        worker.Unpark();
        StageMonitor.Shared.Arm();
    }

    internal void CountEmptyWake() => Interlocked.Increment(ref _emptyWakes);

    /// <summary>An item waits that a worker which searches now would find.</summary>
    internal bool HasWork()
    {
        if (HasShared)
            return true;
        foreach (var worker in Workers)
        {
            if (worker.HasStealable)
                return true;
        }

        return false;
    }

    /// <summary>More items wait than would be run before another thread is awake.</summary>
    private bool NeedsHelp()
    {
        if (HasShared)
            return true;
        foreach (var worker in Workers)
        {
            if (worker.NeedsHelp)
                return true;
        }

        return false;
    }

    /// <inheritdoc/>
    StageActivity ISampled.Sample(int microseconds) => RescueStuckItems(microseconds);

    /// <summary>
    /// Called every few milliseconds while threads of the stage run. Marks items that have not ended since the last call, so that other
    /// workers steal what waits behind them (<see cref="Worker.IsHeld"/>), and wakes a worker if items would wait too long.
    /// </summary>
    internal StageActivity RescueStuckItems(int microseconds)
    {
        var (activity, isLate, isHeld, held) = (StageActivity.None, false, false, 0);
        foreach (var worker in Workers)
        {
            if (worker.State != WorkerState.Running)
            {
                worker.SampledSteps = -1;
                continue;
            }

            var samples = worker.Sample(microseconds, out var waits);
            if (worker.IsSampledInside)
                activity = StageActivity.InsideItem;
            else if (activity == StageActivity.None)
                activity = StageActivity.Running;
            // An item that takes long may have posted to other groups, whose queues nobody looks at then.
            isLate |= waits || (samples > 0 && Groups is { HasRunnable: true });
            isHeld |= samples is 1 or 2;
            held += worker.HeldMicroseconds >= StageMonitor.HeldMicroseconds ? 1 : 0;
        }

        Volatile.Write(ref _held, held);
        var inline = _inline.Sample();
        if ((isLate || inline.Pending) && _roster.MayWake)
            WakeOne();
        if (isHeld)
            OnHeld?.Invoke();
        return inline.Any ? StageActivity.InlineRuns : activity;
    }

    /// <summary>
    /// Called in equal periods by one thread at a time: for how many calls a thread has been inside the same item. 0 if there is none, and
    /// in the mode of the thread pool.
    /// </summary>
    internal int LongestItem()
    {
        var longest = 0;
        foreach (var worker in Workers)
            longest = Math.Max(longest, worker.CountInSameItem());
        return longest;
    }

    private void OnEnded()
    {
        StageMonitor.Shared.Remove(this);
        _ended.TrySetResult();
    }

    private void RunPooled(IStageItem item)
    {
        Run(item);
        Interlocked.Increment(ref _pooled);
    }
}

/// <summary>An item that a stage runs. A stage runs one item on two threads at the same time only if it was posted twice.</summary>
public interface IStageItem
{
    /// <summary>Runs the item on a thread of the stage. Must not throw: the stage reports an exception and continues.</summary>
    void Execute();

    /// <summary>The group whose share of the stage the item uses. Null, the default, for the runtime's own.</summary>
    internal StageGroup? Group => null;
}

/// <summary>Which threads run the items of a stage.</summary>
public enum StageMode
{
    /// <summary>The stage has its own threads (the paper's design).</summary>
    OwnThreads,

    /// <summary>The .NET thread pool: the baseline for comparisons.</summary>
    ThreadPool,
}

/// <summary>What a stage has done since it was created.</summary>
/// <param name="Executed">Items run.</param>
/// <param name="Posted">Items posted by threads outside the stage.</param>
/// <param name="Wakes">Threads woken.</param>
/// <param name="EmptyWakes">Threads that were woken and found no item: unnecessary context switches.</param>
/// <param name="Steals">Items taken from another thread's queue.</param>
/// <param name="Queued">Items waiting now; approximate while threads run.</param>
public readonly record struct StageCounters(long Executed, long Posted, long Wakes, long EmptyWakes, long Steals, int Queued);

/// <summary>
/// Decides when the items of stages without threads run. A simulation uses it to run everything on one thread in an order of its choice.
/// </summary>
/// <remarks>
/// All calls come from the threads that post or change stages; in a simulation that is its one thread. The driver runs items by
/// <see cref="Stage.RunDriven"/> and <see cref="PollStage.StepOnce"/>, never from inside one of its own methods, so that no item runs
/// inside another.
/// </remarks>
internal abstract class StageDriver
{
    /// <summary>An item is ready. The driver runs it once.</summary>
    internal abstract void Post(Stage stage, IStageItem item);

    /// <summary>
    /// A thread of the stage would start now. The driver may make step <paramref name="index"/> until that returns false.
    /// </summary>
    internal abstract void Begin(PollStage stage, int index);

    /// <summary>The value of <see cref="Stage.IsAsleep"/>. Default false.</summary>
    internal virtual bool IsAsleep(Stage stage) => false;
}
