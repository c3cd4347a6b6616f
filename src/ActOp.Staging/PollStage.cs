#pragma warning disable RS0030 // The stage is a sanctioned owner of threads.
using ActOp.Staging.Measuring;

namespace ActOp.Staging;

/// <summary>
/// A stage whose threads wait for sockets instead of a queue. Each thread waits and reads in a loop. Between two reads it runs the items
/// that the read has posted, if it can borrow a worker of their stage.
/// </summary>
/// <remarks>
/// When borrowed items keep a thread for some milliseconds, the <see cref="StageMonitor"/> starts another thread in its place. The old one
/// ends when its items have ended. So no item delays the reading.
/// </remarks>
/// <param name="name">Name of the stage; its threads are called <c>actop-name-i</c>.</param>
/// <param name="step">
/// One wait and the reading that follows, for thread i; false ends the thread. Two threads never call it at the same time for one i.
/// </param>
/// <param name="wake">Makes thread i return from its wait soon.</param>
/// <param name="onError">Called with each exception that a step throws; a step that throws is a defect.</param>
public sealed class PollStage(string name, Func<int, bool> step, Action<int> wake, Action<Exception> onError) : IDisposable, ISampled
{
    [ThreadStatic]
    private static PollThread? t_thread;

    private readonly Lock _gate = new();
    private readonly List<PollThread> _threads = [];

    /// <summary>What <see cref="Probe"/> has returned last. It is called by one thread at a time.</summary>
    private int _probes;

    private long _replaced;
    private long _executedByEnded;
    private BusyTime _busyOfEnded;
    private bool _isDisposed;
    private bool _isSampled;

    /// <summary>How many threads serve the stage.</summary>
    public int Threads
    {
        get
        {
            lock (_gate)
                return _threads.Count;
        }
    }

    /// <summary>Threads that were replaced because the items that they ran took long.</summary>
    public long Replaced => Interlocked.Read(ref _replaced);

    /// <summary>What the stage has done so far (<see cref="CountItems"/>) and the times measured for a sample of it.</summary>
    public StageUsage Usage
    {
        get
        {
            lock (_gate)
            {
                var (executed, busy) = (_executedByEnded, _busyOfEnded);
                foreach (var thread in _threads)
                {
                    executed += Interlocked.Read(ref thread.Items);
                    busy += thread.Meter.Total;
                }

                return new(executed, 0, busy);
            }
        }
    }

    /// <summary>Whether a sample of the steps is measured for <see cref="Usage"/>. Default true.</summary>
    public bool IsMeasured { get; init; } = true;

    /// <summary>
    /// If set, the stage has no threads: the driver is told where one would start, and makes its steps (<see cref="StepOnce"/>).
    /// </summary>
    internal StageDriver? Driver { get; init; }

    /// <summary>
    /// Makes one step of thread i, and runs what it has posted, on the calling thread. Only with a driver. False when that thread ends or
    /// does not exist.
    /// </summary>
    internal bool StepOnce(int index)
    {
        PollThread thread;
        lock (_gate)
        {
            if (index >= _threads.Count)
                return false;
            thread = _threads[index];
        }

        return TryStep(index, thread);
    }

    /// <summary>Called by a step on its thread when its wait is over: the measurement of its work begins.</summary>
    public void EndWait()
    {
        if (IsMeasured)
            t_thread?.Meter.Begin();
    }

    /// <summary>
    /// Called by a step on its thread. If a thread of <paramref name="stage"/> is parked, items that the step posts to that stage from here
    /// on run on this thread after the step (<see cref="Stage.Borrow"/>).
    /// </summary>
    public static void BorrowUntilStepEnds(Stage stage)
    {
        if (t_thread is { Borrowed: null } thread)
            thread.Borrowed = stage.BorrowedWorkers.TryBorrow();
    }

    /// <summary>Called by a step on its thread: adds to the number of items that it has handled.</summary>
    public static void CountItems(int items)
    {
        if (t_thread is { } thread)
            Interlocked.Add(ref thread.Items, items);
    }

    /// <summary>
    /// Changes the number of threads; those with the highest numbers end after their current step. No thread starts after
    /// <see cref="Dispose"/>.
    /// </summary>
    public void SetThreads(int threads)
    {
        lock (_gate)
        {
            if (_isDisposed)
                return;
            while (_threads.Count > threads)
            {
                var index = _threads.Count - 1;
                var ending = _threads[index];
                _threads.RemoveAt(index);
                ending.IsDetached = true;
                wake(index);
                ending.WaitForStep();
                AddTotals(ending);
            }

            while (_threads.Count < threads)
                _threads.Add(Start(_threads.Count));
            if (Invariant.AreChecked)
                Invariant.Holds(_threads.Count == threads);
            if (!_isSampled && Driver is null)
                StageMonitor.Shared.Add(this);
            _isSampled = true;
        }
    }

    /// <summary>Ends all threads after their current steps.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            SetThreads(0);
            if (Invariant.AreChecked)
                Invariant.Holds(_threads.Count == 0);
            _isDisposed = true;
        }

        StageMonitor.Shared.Remove(this);
    }

    /// <inheritdoc/>
    StageActivity ISampled.Sample(int microseconds) => ReplaceStuckThreads(microseconds);

    /// <summary>Replaces threads that have run the items of one step for some milliseconds.</summary>
    internal StageActivity ReplaceStuckThreads(int microseconds)
    {
        var isOutsideStep = false;
        // The holder of the gate may wait for a step.
        if (!_gate.TryEnter())
            return StageActivity.Running;
        try
        {
            for (var index = 0; index < _threads.Count; index++)
            {
                if (_threads[index].TryDetach(microseconds, ref isOutsideStep))
                {
                    _replaced++;
                    AddTotals(_threads[index]);
                    _threads[index] = Start(index);
                }
            }
        }
        finally
        {
            _gate.Exit();
        }

        return isOutsideStep ? StageActivity.InsideItem : StageActivity.None;
    }

    /// <summary>
    /// Called at a steady pace: in how many calls in a row the slowest thread has made no step. Threads that wait are woken for it, so one
    /// that makes no step is kept by what it reads. Always 0 with a driver.
    /// </summary>
    internal int Probe()
    {
        if (Driver is not null)
            return 0;
        if (!_gate.TryEnter())
            return ++_probes; // Its holder waits for a step.
        try
        {
            _probes = 0;
            for (var index = 0; index < _threads.Count; index++)
            {
                var probes = _threads[index].Probe();
                _probes = Math.Max(_probes, probes);
                if (probes > 0)
                    wake(index);
            }

            return _probes;
        }
        finally
        {
            _gate.Exit();
        }
    }

    private void AddTotals(PollThread ended)
    {
        Invariant.Held(_gate);
        if (Invariant.AreChecked)
            Invariant.Holds(ended.IsDetached);
        _executedByEnded += Interlocked.Read(ref ended.Items);
        _busyOfEnded += ended.Meter.Total;
    }

    private PollThread Start(int index)
    {
        Invariant.Held(_gate);
        if (Invariant.AreChecked)
            Invariant.Holds(!_isDisposed && index <= _threads.Count);
        var thread = new PollThread(name);
        if (Driver is { } driver)
            driver.Begin(this, index);
        else
            new Thread(() => Loop(index, thread)) { IsBackground = true, Name = "actop-" + name + "-" + index }.UnsafeStart();
        return thread;
    }

    private void Loop(int index, PollThread thread)
    {
        while (TryStep(index, thread))
        {
        }
    }

    private bool TryStep(int index, PollThread thread)
    {
        if (!thread.TryBeginStep())
            return false;
        if (Invariant.AreChecked)
            Invariant.Holds(t_thread is null && thread.Borrowed is null);
        t_thread = thread;
        var continues = true;
        try
        {
            continues = step(index);
        }
        catch (Exception exception)
        {
            onError(exception);
        }

        if (Invariant.AreChecked)
            Invariant.Holds(t_thread == thread);
        thread.EndStep();
        t_thread = null;
        if (thread.Borrowed is { } worker)
        {
            thread.Borrowed = null;
            worker.Stage.BorrowedWorkers.Return(worker);
        }

        return continues;
    }

    /// <summary>
    /// A thread of the stage until it is detached. Its lock is held during a step: it keeps the detached and the new thread of one index
    /// out of the same step, and is contended only when the stage changes.
    /// </summary>
    private sealed class PollThread(string stage)
    {
        /// <summary>
        /// A thread is replaced after samples have seen it outside the same step for this long. Lack of a processor should rarely do it.
        /// </summary>
        private const int DetachMicroseconds = 2 * 1000 * StageMonitor.ShortIntervalMilliseconds;

        private readonly Lock _stepping = new();
        private long _itemsMeasured;
        private long _steps;
        private long _sampledSteps = -1;
        private long _heldMicroseconds;
        private long _probedSteps = -1;
        private int _probes;

        internal readonly BusyMeter Meter = new(stage);

        /// <summary>The worker that the step has borrowed. Belongs to the thread.</summary>
        internal Worker? Borrowed;

        /// <summary>Items handled. Written by the thread.</summary>
        internal long Items;

        internal volatile bool IsDetached;

        internal bool TryBeginStep()
        {
            _stepping.Enter();
            if (IsDetached)
            {
                _stepping.Exit();
                return false;
            }

            return true;
        }

        internal void EndStep()
        {
            Invariant.Held(_stepping);
            if (Invariant.AreChecked)
                Invariant.Holds(Items >= _itemsMeasured);
            Meter.End((int)(Items - _itemsMeasured));
            _itemsMeasured = Items;
            _steps++;
            _stepping.Exit();
        }

        /// <summary>In how many calls in a row the thread has made no step.</summary>
        internal int Probe()
        {
            var steps = Volatile.Read(ref _steps);
            _probes = steps == _probedSteps ? _probes + 1 : 0;
            _probedSteps = steps;
            return _probes;
        }

        internal void WaitForStep()
        {
            lock (_stepping)
            {
            }
        }

        /// <summary>
        /// Detaches the thread if it has run the items of one step for some milliseconds. A thread that has made no step yet is about to
        /// start.
        /// </summary>
        internal bool TryDetach(int microseconds, ref bool isOutsideStep)
        {
            if (!_stepping.TryEnter())
                return false;
            if (Invariant.AreChecked)
                Invariant.Holds(_steps >= _sampledSteps && microseconds >= 0);
            isOutsideStep = true;
            _heldMicroseconds = _steps == _sampledSteps ? _heldMicroseconds + microseconds : 0;
            _sampledSteps = _steps;
            IsDetached = _steps > 0 && _heldMicroseconds >= DetachMicroseconds;
            _stepping.Exit();
            return IsDetached;
        }
    }
}
