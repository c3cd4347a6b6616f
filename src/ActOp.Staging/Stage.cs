#pragma warning disable RS0030 // The stage is the sanctioned user of the thread pool (its ThreadPool mode).
using System.Collections.Concurrent;
using ActOp.Staging.Measuring;

namespace ActOp.Staging;

/// <summary>
/// A queue and the threads that serve it. Each thread has its own queue too; items that a thread of the stage posts stay
/// with it until they would wait, then another thread takes them.
/// </summary>
/// <remarks>
/// Any thread may post. The number of threads may change at any time (<see cref="SetThreads"/>): a thread that ends hands
/// its queue back, so no item is lost. Idle threads park; a post wakes at most one, and none while a woken one is still
/// looking for work.
/// <para>A <see cref="Worker"/> belongs to one thread at a time: its own, or, while that one is parked, one of another stage
/// that has borrowed it (<c>Stage.Borrowing.cs</c>). Parked workers that nobody has borrowed are in <see cref="_idle"/>; who
/// takes one out of there, under the gate, owns it. So at most <see cref="Threads"/> threads run items, whoever they are.</para>
/// </remarks>
public sealed partial class Stage : IDisposable
{
    private readonly ConcurrentQueue<IStageItem> _shared = new();
    private readonly Lock _gate = new();
    private readonly List<Worker> _idle = [];
    private readonly List<Worker> _retiring = [];
    private readonly Action<Exception> _onError;
    private readonly Action? _onPause;
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly StageDriver? _driver;
    private readonly Worker? _driven;
    private volatile Worker[] _workers = [];
    private volatile int _idleCount;
    private volatile bool _stopping;
    private volatile int _held;
    private int _searching;
    private int _alive;
    private int _nextIndex;
    private long _posted;
    private long _wakes;
    private long _emptyWakes;
    private long _executedByEnded;
    private BusyTime _busyOfEnded;
    private long _pooled;

    /// <summary>Makes a stage and starts its threads.</summary>
    /// <param name="name">Name of the stage; its threads are called <c>actop-name-i</c>.</param>
    /// <param name="threads">How many threads, at least 1. Ignored in <see cref="StageMode.ThreadPool"/>.</param>
    /// <param name="mode">Whose threads.</param>
    /// <param name="onError">Told of what escapes an item: a defect of the item.</param>
    /// <param name="onPause">
    /// Run by each thread of the stage when it has no more items, and now and then while it has: for what gathers per thread and goes better
    /// in bulk. Not called in <see cref="StageMode.ThreadPool"/>.
    /// </param>
    public Stage(string name, int threads, StageMode mode, Action<Exception> onError, Action? onPause = null)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(threads, 1);
        Name = name;
        Mode = mode;
        _onError = onError;
        _onPause = onPause;
        if (mode == StageMode.OwnThreads)
            SetThreads(threads);
    }

    /// <summary>Makes a stage without threads, whose items <paramref name="driver"/> runs one by one (<see cref="RunDriven"/>). Nobody can borrow from it.</summary>
    internal Stage(string name, StageDriver driver, Action<Exception> onError, Action? onPause = null)
    {
        Name = name;
        _driver = driver;
        _onError = onError;
        _onPause = onPause;
        // Retired: what it posts takes the way of a foreign thread.
        _driven = new Worker(this, 0) { Retired = true };
    }

    /// <summary>The stage's name.</summary>
    public string Name { get; }

    /// <summary>Whose threads the stage uses.</summary>
    public StageMode Mode { get; }

    /// <summary>How many threads serve the stage; 0 in <see cref="StageMode.ThreadPool"/>.</summary>
    public int Threads => _workers.Length;

    /// <summary>What the stage has done so far.</summary>
    public StageCounters Counters
    {
        get
        {
            lock (_gate)
            {
                var executed = _executedByEnded + Interlocked.Read(ref _pooled);
                long steals = 0;
                var queued = _shared.Count;
                foreach (var worker in Alive)
                {
                    executed += Volatile.Read(ref worker.Executed);
                    steals += Volatile.Read(ref worker.Steals);
                    queued += worker.Queue.Count;
                }

                return new StageCounters(executed, Interlocked.Read(ref _posted), Interlocked.Read(ref _wakes), Interlocked.Read(ref _emptyWakes), steals, queued);
            }
        }
    }

    /// <summary>What the stage has done so far and what a sample of it took; without a sample in <see cref="StageMode.ThreadPool"/>.</summary>
    public StageUsage Usage
    {
        get
        {
            lock (_gate)
            {
                var counters = Counters;
                return new(counters.Executed, counters.Queued, Alive.Aggregate(_busyOfEnded, static (busy, worker) => busy + worker.Meter.Total), _held);
            }
        }
    }

    /// <summary>Whether a sample of the items is measured for <see cref="Usage"/>. Default true: it costs less than a hundredth of the throughput.</summary>
    public bool IsMeasured { get; init; } = true;

    /// <summary>True on a thread that runs items of a stage and will call the stage's pause action after the present one.</summary>
    public static bool WillPause => Worker.Current is { Stage._onPause: not null };

    /// <summary>True when no thread of the stage is awake, so that a post would have to wake one; a moment's truth.</summary>
    public bool IsAsleep => _driver is null ? Mode == StageMode.OwnThreads && _idleCount == _workers.Length : _driver.IsAsleep(this);

    internal Worker[] Workers => _workers;

    private IEnumerable<Worker> Alive => _workers.Concat(_retiring);

    internal bool HasIdle => _idleCount > 0;

    internal bool Stopping => _stopping;

    /// <summary>Makes <paramref name="item"/> ready to run. Never blocks.</summary>
    public void Post(IStageItem item)
    {
        if (Worker.Current is { Retired: false } worker && worker.Stage == this)
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

    /// <summary>Changes the number of threads, at least 1. Items keep running; none is lost.</summary>
    public void SetThreads(int threads)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(threads, 1);
        if (Mode == StageMode.ThreadPool || _driver is not null)
            return;
        List<Worker> started = [];
        Worker[] retired;
        lock (_gate)
        {
            var workers = _workers.ToList();
            while (workers.Count < threads)
            {
                var worker = new Worker(this, _nextIndex++);
                workers.Add(worker);
                started.Add(worker);
            }

            foreach (var worker in workers.Skip(threads))
                worker.Retired = true;
            // One that is at work sees the mark itself; only the parked ones need to be told.
            retired = [.. _idle.Where(worker => worker.Retired)];
            _idle.RemoveAll(worker => worker.Retired);
            _idleCount = _idle.Count;
            _retiring.AddRange(workers.Skip(threads));
            _alive += started.Count;
            _workers = [.. workers.Take(threads)];
        }

        foreach (var worker in retired)
            worker.Unpark();
        foreach (var worker in started)
            worker.Start();
    }

    /// <summary>Runs an item that the driver was given, and the pause action, on the calling thread. Only for a stage that has a driver.</summary>
    internal void RunDriven(IStageItem item)
    {
        if (Worker.Current is not null)
            throw new InvalidOperationException("The thread is inside an item of the stage " + Worker.Current.Stage.Name + " already.");
        _driven!.Enter();
        RunPooled(item);
        Pause();
        _driven.Leave();
    }

    /// <summary>
    /// Called now and then by a timer: wakes a thread when one that runs a long item keeps others waiting, which its own
    /// posts cannot notice, and counts the threads that one and the same item has held since the last call.
    /// </summary>
    public void Watch()
    {
        var held = 0;
        foreach (var worker in _workers)
        {
            var executed = Volatile.Read(ref worker.Executed);
            if (executed == worker.SeenExecuted && !IsIdle(worker))
            {
                held++;
                if (HasIdle && worker.HasWaiting && worker.Steal(all: true) is { } stuck)
                    PostShared(stuck);
            }

            worker.SeenExecuted = executed;
        }

        _held = held;
    }

    /// <summary>Stops the threads once their queues are empty. The task ends when the last one has.</summary>
    public Task StopAsync()
    {
        Worker[] parked;
        lock (_gate)
        {
            _stopping = true;
            parked = [.. _idle];
            _idle.Clear();
            _idleCount = 0;
            if (_alive == 0)
                _ended.TrySetResult();
        }

        foreach (var worker in parked)
            worker.Unpark();
        return _ended.Task;
    }

    /// <inheritdoc/>
    public void Dispose() => _ = StopAsync();

    internal void PostShared(IStageItem item)
    {
        Interlocked.Increment(ref _posted);
        _shared.Enqueue(item);
        if (_idleCount > 0)
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

    /// <summary>Gives up the worker, which has no work. False when it must end instead. The caller looks for work once more afterwards.</summary>
    internal bool TryEnterIdle(Worker worker)
    {
        lock (_gate)
        {
            if (worker.Retired || _stopping)
                return false;
            _idle.Add(worker);
            _idleCount = _idle.Count;
        }

        Interlocked.MemoryBarrier();
        return true;
    }

    /// <summary>False when somebody has already taken the worker: its thread must wait until it gets it back.</summary>
    internal bool TryLeaveIdle(Worker worker)
    {
        lock (_gate)
        {
            if (!_idle.Remove(worker))
                return false;
            _idleCount = _idle.Count;
            return true;
        }
    }

    internal bool HasWork()
    {
        if (!_shared.IsEmpty)
            return true;
        foreach (var worker in _workers)
        {
            if (worker.Queue.Count > 0)
                return true;
        }

        return false;
    }

    internal void WakeOne()
    {
        if (Interlocked.CompareExchange(ref _searching, 1, 0) != 0)
            return;
        if (TakeIdle() is not { } worker)
        {
            Volatile.Write(ref _searching, 0);
            return;
        }

        Interlocked.Increment(ref _wakes);
        worker.Unpark();
    }

    /// <summary>The worker that became idle last, whose data may still be in a cache; the caller owns it.</summary>
    private Worker? TakeIdle()
    {
        lock (_gate)
        {
            if (_idle.Count == 0)
                return null;
            var worker = _idle[^1];
            _idle.RemoveAt(_idle.Count - 1);
            _idleCount = _idle.Count;
            return worker;
        }
    }

    /// <summary>A woken thread found work: the next post may wake another one, and if more waits, it does so now.</summary>
    internal void EndSearch()
    {
        Volatile.Write(ref _searching, 0);
        Interlocked.MemoryBarrier();
        if (_idleCount > 0 && !_shared.IsEmpty)
            WakeOne();
    }

    internal void CountEmptyWake()
    {
        Interlocked.Increment(ref _emptyWakes);
        Volatile.Write(ref _searching, 0);
    }

    internal void OnWorkerEnded(Worker worker)
    {
        lock (_gate)
        {
            // One that ends because the stage does is still counted itself.
            if (_retiring.Remove(worker))
            {
                _executedByEnded += worker.Executed;
                _busyOfEnded += worker.Meter.Total;
            }

            if (--_alive == 0 && _stopping)
                _ended.TrySetResult();
        }
    }

    private bool IsIdle(Worker worker)
    {
        lock (_gate)
            return _idle.Contains(worker);
    }

    private void RunPooled(IStageItem item)
    {
        Run(item);
        Interlocked.Increment(ref _pooled);
    }
}
