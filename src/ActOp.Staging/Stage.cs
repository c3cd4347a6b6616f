#pragma warning disable RS0030 // The stage is the sanctioned user of the thread pool (its ThreadPool mode).
using System.Collections.Concurrent;
using ActOp.Staging.Measuring;

namespace ActOp.Staging;

/// <summary>
/// A queue and the threads that serve it. Each thread has its own queue too; items that a thread of the stage posts stay
/// with it until they would wait, then another thread takes them.
/// </summary>
/// <remarks>
/// Any thread may post. The number of threads may change at any time (<see cref="SetThreads"/>). Idle threads park; a post wakes at most
/// one, and
/// none while another thread is still looking for work. Who runs which <see cref="Worker"/>, and why no wake-up is lost, is told in <see
/// cref="Roster"/>: a worker is run by its own
/// thread or, while that is parked, by one of another stage that has borrowed it (<see cref="Borrow"/>). So at most <see cref="Threads"/>
/// threads run items, whoever they are.
/// <para>Items that take long are found by the <see cref="StageMonitor"/>, every few milliseconds while any thread of the stage runs
/// (<see cref="Look"/>).</para>
/// </remarks>
public sealed partial class Stage : IDisposable, IWatched
{
    private readonly ConcurrentQueue<IStageItem> _shared = new();
    private readonly Roster _roster;
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

    /// <summary>Makes a stage and starts its threads.</summary>
    /// <param name="name">Name of the stage; its threads are called <c>actop-name-i</c>.</param>
    /// <param name="threads">How many threads, at least 1. Ignored in <see cref="StageMode.ThreadPool"/>.</param>
    /// <param name="mode">Whose threads.</param>
    /// <param name="onError">Told of what escapes an item: a defect of the item.</param>
    /// <param name="onPause">
    /// Run by each thread of the stage when it has no more items, and now and then while it has: for what gathers per thread and goes
    /// better
    /// in bulk. Not called in <see cref="StageMode.ThreadPool"/>.
    /// </param>
    public Stage(string name, int threads, StageMode mode, Action<Exception> onError, Action? onPause = null)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(threads, 1);
        Name = name;
        Mode = mode;
        _onError = onError;
        _onPause = onPause;
        _roster = new Roster(OnEnded);
        _visit = new Visit(this);
        if (mode == StageMode.OwnThreads)
        {
            SetThreads(threads);
            StageMonitor.Shared.Add(this);
        }
    }

    /// <summary>
    /// Makes a stage without threads, whose items <paramref name="driver"/> runs one by one (<see cref="RunDriven"/>). Nobody can borrow
    /// from it.
    /// </summary>
    internal Stage(string name, StageDriver driver, Action<Exception> onError, Action? onPause = null)
    {
        Name = name;
        _driver = driver;
        _onError = onError;
        _onPause = onPause;
        // Retired: what it posts takes the way of a foreign thread.
        _driven = new Worker(this, 0) { IsRetired = true };
        _roster = new Roster(OnEnded);
        _visit = new Visit(this);
    }

    /// <summary>The stage's name.</summary>
    public string Name { get; }

    /// <summary>Whose threads the stage uses.</summary>
    public StageMode Mode { get; }

    /// <summary>
    /// How many threads serve the stage; 0 in <see cref="StageMode.ThreadPool"/>. Threads beyond that number end the item that they run,
    /// hand the rest over and sleep.
    /// </summary>
    public int Threads => _roster.Threads;

    /// <summary>What the stage has done so far.</summary>
    public StageCounters Counters
    {
        get
        {
            var executed = Interlocked.Read(ref _pooled);
            long steals = 0;
            var queued = _shared.Count;
            foreach (var worker in Workers)
            {
                executed += worker.Executed;
                steals += Volatile.Read(ref worker.Steals);
                queued += worker.Queue.Count;
            }

            return new StageCounters(executed, Interlocked.Read(ref _posted), Interlocked.Read(ref _wakes), Interlocked.Read(ref _emptyWakes), steals, queued);
        }
    }

    /// <summary>
    /// What the stage has done so far and what a sample of it took; without a sample in <see cref="StageMode.ThreadPool"/>.
    /// </summary>
    public StageUsage Usage
    {
        get
        {
            var counters = Counters;
            return new(counters.Executed, counters.Queued, Workers.Aggregate(default(BusyTime), static (busy, worker) => busy + worker.Meter.Total), Volatile.Read(ref _held));
        }
    }

    /// <summary>
    /// Whether a sample of the items is measured for <see cref="Usage"/>. Default true: it costs less than a hundredth of the throughput.
    /// </summary>
    public bool IsMeasured { get; init; } = true;

    /// <summary>
    /// Called when an item has been found to take long, and once more after that: what earlier items of its thread have left to the pause
    /// action waits. Called on the thread of
    /// runtime timers: it must only post.
    /// </summary>
    public Action? OnHeld { get; init; }

    /// <summary>
    /// True on a thread that runs items of a stage and will call the stage's pause action soon: false inside an item that has been found
    /// to take long.
    /// </summary>
    public static bool WillPause => Worker.Current is { Stage._onPause: not null, IsHeld: false };

    /// <summary>True when no thread of the stage is awake, so that a post would have to wake one; a moment's truth.</summary>
    public bool IsAsleep => _driver is null ? Mode == StageMode.OwnThreads && _roster.Idle == _roster.Threads : _driver.IsAsleep(this);

    internal Roster Roster => _roster;

    internal Worker[] Workers => _roster.Workers;

    internal bool HasIdle => _roster.Idle > 0;

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
    /// Changes the number of threads, at least 1. Items keep running; none is lost. After <see cref="StopAsync"/> nothing changes.
    /// </summary>
    public void SetThreads(int threads)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(threads, 1);
        if (Mode == StageMode.ThreadPool || _driver is not null)
            return;
        var back = _roster.SetThreads(threads, index => new Worker(this, index), out var started);
        foreach (var worker in back)
            worker.Unpark();
        foreach (var worker in started)
            worker.Start();
        StageMonitor.Shared.Arm();
    }

    /// <summary>
    /// Runs an item that the driver was given, and the pause action, on the calling thread. Only for a stage that has a driver.
    /// </summary>
    internal void RunDriven(IStageItem item)
    {
        if (Worker.Current is not null)
            throw new InvalidOperationException("The thread is inside an item of the stage " + Worker.Current.Stage.Name + " already.");
        _driven!.Enter();
        RunPooled(item);
        Pause();
        _driven.Leave();
    }

    /// <summary>Stops the threads once their queues are empty. The task ends when the last one has.</summary>
    public Task StopAsync()
    {
        foreach (var worker in _roster.Stop())
            worker.Unpark();
        return _ended.Task;
    }

    /// <inheritdoc/>
    public void Dispose() => _ = StopAsync();

    internal void PostShared(IStageItem item)
    {
        _shared.Enqueue(item);
        // Also the full fence between the item and the look for idle threads.
        Interlocked.Increment(ref _posted);
        if (_roster.MayWake && !TryVisit())
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
    /// The worker's thread has nothing to do: waits until there is, or until it is in service again. False when it must end.
    /// </summary>
    internal bool Rest(Worker worker)
    {
        worker.Queue.EmptySlots();
        if (_roster.IsStopping)
        {
            if (worker.IsSearching)
                _roster.EndSearch(worker);
            if (HasWork())
                return true;
            _roster.End();
            return false;
        }

        if (worker.IsRetired)
        {
            worker.HandOver();
            if (worker.IsSearching)
                EndSearch(worker);
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

    /// <summary>The worker has found an item, or retires: the next post may wake another one, and if more waits, it does so now.</summary>
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
        Interlocked.Increment(ref _wakes);
        worker.Unpark();
        StageMonitor.Shared.Arm();
    }

    internal void CountEmptyWake() => Interlocked.Increment(ref _emptyWakes);

    /// <summary>Something waits that a worker which looks now would find.</summary>
    private bool HasWork()
    {
        if (!_shared.IsEmpty)
            return true;
        foreach (var worker in Workers)
        {
            if (worker.HasForThieves)
                return true;
        }

        return false;
    }

    /// <summary>More waits than would be run before another thread is awake.</summary>
    private bool NeedsHelp()
    {
        if (!_shared.IsEmpty)
            return true;
        foreach (var worker in Workers)
        {
            if (worker.NeedsHelp)
                return true;
        }

        return false;
    }

    /// <summary>
    /// Called every few milliseconds while threads of the stage run: marks the items that have not ended since the last call, so that
    /// others take what waits behind them
    /// (<see cref="Worker.IsHeld"/>), and wakes a thread for work that waits behind others that are slow.
    /// </summary>
    Sight IWatched.Look(int microseconds) => Look(microseconds);

    internal Sight Look(int microseconds)
    {
        var (sight, isLate, isHeld, held) = (Sight.Asleep, false, false, 0);
        foreach (var worker in Workers)
        {
            if (worker.Place != Place.Running)
            {
                worker.SeenSteps = -1;
                continue;
            }

            var looks = worker.Look(microseconds, out var waits);
            sight = worker.IsSeenInside ? Sight.Inside : sight == Sight.Asleep ? Sight.Awake : sight;
            isLate |= waits;
            isHeld |= looks is 1 or 2;
            held += worker.KeptMicroseconds >= StageMonitor.HeldMicroseconds ? 1 : 0;
        }

        Volatile.Write(ref _held, held);
        var visits = LookAtVisits();
        if ((isLate || visits.Wait) && _roster.MayWake)
            WakeOne();
        if (isHeld)
            OnHeld?.Invoke();
        return visits.Any ? Sight.Left : sight;
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
