namespace ActOp.Staging;

/// <summary>Who of a stage's workers runs, who idles, who is out of service; and with that, who is to be woken for work.</summary>
/// <remarks>
/// <para>A worker has one index for as long as its stage lives; the one with index i is in service while i is less than <see
/// cref="Threads"/>. Its <see cref="Worker.Place"/>
/// changes under the gate only: <b>running</b> (its thread, or who has borrowed it, looks for items or runs one), <b>idle</b> (in the
/// list, to be woken or borrowed), <b>retired</b> (parked, in no list).
/// Only who runs a worker may start items with it. So there are never more threads inside items than workers, and a worker that comes
/// back is the one that went.</para>
/// <para><see cref="_state"/> holds the numbers of idle and of searching workers in one word. Idle changes under the gate; searching
/// anywhere; both by interlocked operations, which are full fences.
/// A worker searches from when it is woken, or has nothing of its own left, until it has found an item or gives up.</para>
/// <para><b>No wake-up is lost</b>: an item in the shared queue is always followed by a look of somebody. Who posts one (1) puts it into
/// the queue, (2) passes a full fence, (3) reads the word.
/// It wakes a worker if there are idle ones and none searches. If it does not, one of these holds at (3):
/// (a) none idle. Each worker in service runs. Before its place becomes idle it changes the word and <i>then</i> looks at all queues
/// (<see cref="TryGoIdle"/>; a borrower as well): that change comes after (3), so the look sees the item.
/// Worker 0 is always in service.
/// (b) one searches. Its search ends after (3) by an interlocked change of the word, in one of three ways, and after each it looks at the
/// queues and wakes another worker if an item is left:
/// it found another item (<see cref="EndSearch"/>), it became idle (as in a), it retires or its stage stops (<see cref="EndSearch"/>).
/// The last to end its search sees that none searches, so its wake-up is not held back by (b) again.
/// Popping an idle worker and counting it as searching is one step under the gate: no thread ever claims a search that nobody makes.</para>
/// <para>A worker that went idle, and then finds work but not itself in the list, was taken: by a waker (it will search), by a borrower
/// (who looks when he gives it back, whatever has become of the worker meanwhile), or it was retired. It wakes another one, which is needed
/// in the last case only.</para>
/// <para>Items in a worker's own queue need no wake-up to be run: whoever runs the worker runs them, or gives the worker back running
/// while some are left; a retiring worker puts them into the shared queue.</para>
/// <para><b>The end</b>: after <see cref="Stop"/> no place becomes idle or retired. A thread ends when it has seen the stop and then
/// found no item anywhere; so what was posted before the stop is run. Nothing is started afterwards.</para>
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

    /// <summary>All workers, by index; also those out of service, whose queues may still hold items for a moment.</summary>
    internal Worker[] Workers => Volatile.Read(ref _workers);

    internal int Idle => Volatile.Read(ref _state) / OneIdle;

    internal bool IsStopping => Volatile.Read(ref _isStopping);

    /// <summary>Idle workers, and none that searches.</summary>
    internal bool MayWake
    {
        get
        {
            var state = Volatile.Read(ref _state);
            return state >= OneIdle && (state & (OneIdle - 1)) == 0;
        }
    }

    /// <summary>
    /// Takes a worker out of the idle ones as one that searches, unless another searches already; its permit must then be given.
    /// </summary>
    internal Worker? TryTakeToWake()
    {
        if (!MayWake)
            return null;
        using (_gate.EnterScope())
            return MayWake ? TakeLast(searching: true) : null;
    }

    /// <summary>Takes an idle worker, which the caller then runs.</summary>
    internal Worker? TryTakeToBorrow()
    {
        if (Idle == 0)
            return null;
        using (_gate.EnterScope())
            return _idle.Count == 0 ? null : TakeLast(searching: false);
    }

    internal void BeginSearch(Worker worker)
    {
        worker.IsSearching = true;
        Interlocked.Add(ref _state, OneSearching);
    }

    /// <summary>The caller looks at the queues afterwards (see above).</summary>
    internal void EndSearch(Worker worker)
    {
        worker.IsSearching = false;
        Interlocked.Add(ref _state, -OneSearching);
    }

    /// <summary>
    /// The worker has found nothing: gives it up, and its search. The caller looks at the queues afterwards. False when the worker is to
    /// retire or to end.
    /// </summary>
    internal bool TryGoIdle(Worker worker)
    {
        using (_gate.EnterScope())
        {
            if (_isStopping || worker.IsRetired)
                return false;
            worker.Place = Place.Idle;
            _idle.Add(worker);
            Interlocked.Add(ref _state, worker.IsSearching ? OneIdle - OneSearching : OneIdle);
            worker.IsSearching = false;
            return true;
        }
    }

    /// <summary>
    /// Takes back the worker just given up, to search once more. False when somebody else has it, or it is retired: then its thread must
    /// wait for the permit.
    /// </summary>
    internal bool TryTakeBack(Worker worker)
    {
        using (_gate.EnterScope())
        {
            if (worker.Place != Place.Idle)
                return false;
            _idle.Remove(worker);
            Run(worker, searching: true);
            return true;
        }
    }

    /// <summary>
    /// The worker, whose queue is empty, is out of service until its permit is given. False when it is in service again or its stage
    /// stops.
    /// </summary>
    internal bool TryRetire(Worker worker)
    {
        using (_gate.EnterScope())
        {
            if (_isStopping || !worker.IsRetired)
                return false;
            worker.Place = Place.Retired;
            return true;
        }
    }

    /// <summary>Changes the number of workers in service. One that runs sees itself that it is to retire.</summary>
    /// <param name="threads">How many.</param>
    /// <param name="create">Makes the worker with an index.</param>
    /// <param name="started">Those whose threads are to be started.</param>
    /// <returns>Those whose permits are to be given: they were retired and are not any more.</returns>
    internal List<Worker> SetThreads(int threads, Func<int, Worker> create, out List<Worker> started)
    {
        List<Worker> back = [];
        started = [];
        using (_gate.EnterScope())
        {
            if (_isStopping)
                return back;
            Volatile.Write(ref _threads, threads);
            foreach (var worker in _workers)
            {
                worker.IsRetired = worker.Index >= threads;
                if (worker.IsRetired && worker.Place == Place.Idle)
                {
                    _idle.Remove(worker);
                    Interlocked.Add(ref _state, -OneIdle);
                    worker.Place = Place.Retired;
                }
                else if (!worker.IsRetired && worker.Place == Place.Retired)
                {
                    worker.Place = Place.Running;
                    back.Add(worker);
                }
            }

            for (var index = _workers.Length; index < threads; index++)
                started.Add(create(index));
            _alive += started.Count;
            Volatile.Write(ref _workers, [.. _workers, .. started]);
        }

        return back;
    }

    /// <summary>All threads are to end when they find no more items. Returns those whose permits are to be given.</summary>
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
                if (worker.Place == Place.Running)
                    continue;
                worker.Place = Place.Running;
                parked.Add(worker);
            }

            if (_alive == 0)
                _ended();
        }

        return parked;
    }

    /// <summary>The thread of a worker has seen the stop and found nothing after it.</summary>
    internal void End()
    {
        using (_gate.EnterScope())
        {
            if (--_alive == 0)
                _ended();
        }
    }

    /// <summary>The worker that became idle last, whose data may still be in a cache.</summary>
    private Worker TakeLast(bool searching)
    {
        var worker = _idle[^1];
        _idle.RemoveAt(_idle.Count - 1);
        Run(worker, searching);
        return worker;
    }

    private void Run(Worker worker, bool searching)
    {
        worker.Place = Place.Running;
        worker.IsSearching = searching;
        Interlocked.Add(ref _state, searching ? OneSearching - OneIdle : -OneIdle);
    }
}

/// <summary>Where a worker is: changed under the gate of its <see cref="Roster"/> only.</summary>
internal enum Place
{
    Running,
    Idle,
    Retired,
}
