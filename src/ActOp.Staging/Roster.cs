namespace ActOp.Staging;

/// <summary>Records which workers of a stage run, are idle or are out of service, and decides which one is woken for work.</summary>
/// <remarks>
/// <para>A worker keeps its index for the lifetime of its stage. The worker with index i is in service while i is less than
/// <see cref="Threads"/>. Its <see cref="Worker.State"/> changes under the gate only: <b>running</b> (its owner looks for items or runs
/// one), <b>idle</b> (in the list, can be woken or borrowed), <b>retired</b> (parked, not in the list). Only the owner of a worker (its
/// thread or the borrower) starts items with it. So there are never more threads inside items than workers.</para>
/// <para><see cref="_state"/> holds the numbers of idle and of searching workers in one word. The idle count changes under the gate, the
/// searching count anywhere; both by interlocked operations, which are full fences. A worker searches from when it is woken, or has no item
/// of its own left, until it has found an item or stops looking.</para>
/// <para><b>No wake-up is lost</b>: after an item was put into the shared queue, some thread looks at that queue. A poster (1) puts the
/// item into the queue, (2) passes a full fence, (3) reads the word. It wakes a worker if some are idle and none searches. Otherwise one of
/// these holds at (3):</para>
/// <para>(a) No worker is idle. Each worker in service runs; worker 0 is always in service. A worker that becomes idle changes the word and
/// then looks at all queues (<see cref="TryGoIdle"/>; a borrower does the same). That change comes after (3), so it sees the item.</para>
/// <para>(b) A worker searches. Its search ends after (3) by an interlocked change of the word: it found another item
/// (<see cref="EndSearch"/>), became idle (as in a), retires, or its stage stops (<see cref="EndSearch"/>). After each of these it looks at
/// the queues and wakes another worker if an item is left. The last worker to end its search sees that none searches, so (b) does not
/// prevent its wake-up. Removing an idle worker and counting it as searching is one step under the gate: a search that is counted is always
/// made.</para>
/// <para>A worker that became idle, then finds work, but is not in the list any more, was taken by a waker (and will search), was taken by
/// a borrower (who looks at the queues when it returns the worker), or was retired. It wakes another worker; only the last case requires
/// that.</para>
/// <para>Items in a worker's own queue need no wake-up: the owner runs them, or passes the worker on in the running state while some are
/// left. A retiring worker moves them to the shared queue.</para>
/// <para><b>Stopping</b>: after <see cref="Stop"/> no worker becomes idle or retired. A thread ends when it has seen the stop and then
/// found no item. So all items posted before the stop are run. No thread is started afterwards.</para>
/// </remarks>
internal sealed class Roster
{
    private const int OneSearching = 1;
    private const int OneIdle = 1 << 16;

    private readonly Lock _gate = new();
    private readonly List<Worker> _idle = [];
    private readonly Action _ended;
    private Worker[] _workers = [];
    private int _state;
    private int _threads;
    private int _alive;
    private bool _isStopping;

    /// <param name="ended">Called once, when the roster was stopped and the last thread has ended.</param>
    internal Roster(Action ended) => _ended = ended;

    /// <summary>Workers in service.</summary>
    internal int Threads => Volatile.Read(ref _threads);

    /// <summary>All workers by index, also those out of service, whose queues may still hold items.</summary>
    internal Worker[] Workers => Volatile.Read(ref _workers);

    internal int Idle => Volatile.Read(ref _state) / OneIdle;

    internal bool IsStopping => Volatile.Read(ref _isStopping);

    /// <summary>A worker is idle and none searches.</summary>
    internal bool MayWake
    {
        get
        {
            var state = Volatile.Read(ref _state);
            return state >= OneIdle && (state & (OneIdle - 1)) == 0;
        }
    }

    /// <summary>
    /// Takes an idle worker and counts it as searching, unless another one searches already. The caller must unpark it.
    /// </summary>
    internal Worker? TryTakeToWake()
    {
        if (!MayWake)
            return null;
        using (_gate.EnterScope())
            return MayWake ? TakeLast(searching: true) : null;
    }

    /// <summary>Takes an idle worker; the caller becomes its owner.</summary>
    internal Worker? TryTakeToBorrow()
    {
        if (Idle == 0)
            return null;
        using (_gate.EnterScope())
            return _idle.Count == 0 ? null : TakeLast(searching: false);
    }

    internal void BeginSearch(Worker worker)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(!worker.IsSearching);
        worker.IsSearching = true;
        Interlocked.Add(ref _state, OneSearching);
    }

    /// <summary>The caller must look at the queues afterwards (see the remarks of the type).</summary>
    internal void EndSearch(Worker worker)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(worker.IsSearching);
        worker.IsSearching = false;
        Interlocked.Add(ref _state, -OneSearching);
    }

    /// <summary>
    /// Makes a worker that has found no item idle and ends its search. The caller must look at the queues afterwards. False when the worker
    /// has to retire or to end.
    /// </summary>
    internal bool TryGoIdle(Worker worker)
    {
        using (_gate.EnterScope())
        {
            if (Invariant.AreChecked)
                Invariant.Holds(worker.State == WorkerState.Running);
            if (_isStopping || worker.IsRetired)
                return false;
            worker.State = WorkerState.Idle;
            _idle.Add(worker);
            Interlocked.Add(ref _state, worker.IsSearching ? OneIdle - OneSearching : OneIdle);
            worker.IsSearching = false;
            if (Invariant.AreChecked)
                Invariant.Holds(_state / OneIdle == _idle.Count);
            return true;
        }
    }

    /// <summary>
    /// Takes back a worker that has just become idle, to search once more. False when another thread has taken it, or when it is retired:
    /// then its thread must park.
    /// </summary>
    internal bool TryTakeBack(Worker worker)
    {
        using (_gate.EnterScope())
        {
            if (worker.State != WorkerState.Idle)
                return false;
            _idle.Remove(worker);
            Run(worker, searching: true);
            if (Invariant.AreChecked)
            {
                Invariant.Holds(worker.IsSearching && _state / OneIdle == _idle.Count);
                Invariant.Holds(!_idle.Contains(worker));
            }

            return true;
        }
    }

    /// <summary>
    /// Takes a worker with an empty queue out of service; its thread must park. False when it is in service again or its stage stops.
    /// </summary>
    internal bool TryRetire(Worker worker)
    {
        using (_gate.EnterScope())
        {
            if (_isStopping || !worker.IsRetired)
                return false;
            if (Invariant.AreChecked)
                Invariant.Holds(worker.State == WorkerState.Running && !worker.IsSearching);
            worker.State = WorkerState.Retired;
            return true;
        }
    }

    /// <summary>Changes the number of workers in service. A running worker checks itself whether it has to retire.</summary>
    /// <param name="threads">The number of workers in service.</param>
    /// <param name="create">Creates the worker with the given index.</param>
    /// <param name="started">New workers; the caller starts their threads.</param>
    /// <returns>Workers that are no longer retired; the caller unparks them.</returns>
    internal List<Worker> SetThreads(int threads, Func<int, Worker> create, out List<Worker> started)
    {
        List<Worker> resumed = [];
        started = [];
        using (_gate.EnterScope())
        {
            if (_isStopping)
                return resumed;
            Volatile.Write(ref _threads, threads);
            foreach (var worker in _workers)
            {
                worker.IsRetired = worker.Index >= threads;
                if (worker.IsRetired && worker.State == WorkerState.Idle)
                {
                    _idle.Remove(worker);
                    Interlocked.Add(ref _state, -OneIdle);
                    worker.State = WorkerState.Retired;
                }
                else if (!worker.IsRetired && worker.State == WorkerState.Retired)
                {
                    worker.State = WorkerState.Running;
                    resumed.Add(worker);
                }
            }

            for (var index = _workers.Length; index < threads; index++)
                started.Add(create(index));
            _alive += started.Count;
            Volatile.Write(ref _workers, [.. _workers, .. started]);
            if (Invariant.AreChecked)
            {
                Invariant.Holds(_alive == _workers.Length && _workers.Length >= threads);
                Invariant.Holds(_state / OneIdle == _idle.Count && _idle.Count <= threads);
            }
        }

        return resumed;
    }

    /// <summary>Tells all threads to end when they find no more items. Returns the workers that the caller must unpark.</summary>
    internal List<Worker> Stop()
    {
        List<Worker> parked = [];
        using (_gate.EnterScope())
        {
            if (_isStopping)
                return parked;
            Volatile.Write(ref _isStopping, true);
            Interlocked.Add(ref _state, -OneIdle * _idle.Count);
            _idle.Clear();
            foreach (var worker in _workers)
            {
                worker.IsRetired = false;
                if (worker.State == WorkerState.Running)
                    continue;
                worker.State = WorkerState.Running;
                parked.Add(worker);
            }

            if (Invariant.AreChecked)
                Invariant.Holds(_state < OneIdle);
            if (_alive == 0)
                _ended();
        }

        return parked;
    }

    /// <summary>Called by the thread of a worker before it ends: it has seen the stop and found no item after it.</summary>
    internal void End()
    {
        using (_gate.EnterScope())
        {
            if (Invariant.AreChecked)
                Invariant.Holds(_isStopping && _alive > 0);
            if (--_alive == 0)
                _ended();
        }
    }

    /// <summary>Takes the worker that became idle last; its data may still be in a cache.</summary>
    private Worker TakeLast(bool searching)
    {
        Invariant.Held(_gate);
        var worker = _idle[^1];
        _idle.RemoveAt(_idle.Count - 1);
        Run(worker, searching);
        return worker;
    }

    private void Run(Worker worker, bool searching)
    {
        Invariant.Held(_gate);
        if (Invariant.AreChecked)
        {
            Invariant.Holds(worker.State == WorkerState.Idle && !worker.IsSearching);
            Invariant.Holds(worker.Index < _threads);
        }

        worker.State = WorkerState.Running;
        worker.IsSearching = searching;
        Interlocked.Add(ref _state, searching ? OneSearching - OneIdle : -OneIdle);
    }
}

/// <summary>The state of a worker; changed under the gate of its <see cref="Roster"/> only.</summary>
internal enum WorkerState
{
    Running,
    Idle,
    Retired,
}
