namespace ActOp.Interleaving.Tests.Exploring;

/// <summary>
/// Runs the threads of a model one step at a time, in an order that a strategy chooses. A step is what a thread does from one access to
/// shared memory (<see cref="Step"/>) to the next.
/// </summary>
/// <remarks>
/// Model threads are threads of the system of which one has the baton. A schedule ends when no thread can go on: then the model says
/// whether that state is right. Findings: the model's own, an exception
/// in a thread, a lock that nobody gives back, more steps than <see cref="StepLimit"/> (threads that spin).
/// <para>Memory: accesses take effect in the order of steps, except that what a thread has put into its store buffer (<see
/// cref="Buffer"/>) is seen by others only after a fence of that thread, or when the strategy
/// says so.</para>
/// </remarks>
public sealed class Interleaver : IDisposable
{
    /// <summary>Far more than any right schedule of the models takes.</summary>
    public const int StepLimit = 3000;

    [ThreadStatic]
    private static ModelThread? t_thread;

    private readonly List<ModelThread> _pool = [];
    private readonly List<ModelThread> _threads = [];
    private readonly List<int> _options = [];
    private readonly SemaphoreSlim _isOver = new(0);
    private IStrategy _strategy = null!;
    private volatile bool _isAborting;
    private bool _isQuiet;
    private bool _isEnded;
    private int _left;

    /// <summary>The one that the calling model thread belongs to.</summary>
    public static Interleaver Current =>
        t_thread?.Owner ?? throw new InvalidOperationException("No model thread: " + Environment.CurrentManagedThreadId);

    /// <summary>True on a model thread.</summary>
    public static bool IsModelled => t_thread is not null;

    /// <summary>Steps of the schedule so far.</summary>
    public int Steps { get; private set; }

    /// <summary>What was found wrong in the schedule, or null.</summary>
    public string? Finding { get; private set; }

    /// <summary>Runs one schedule of the model. Returns the finding, or null.</summary>
    public string? Run(Model model, IStrategy strategy)
    {
        _strategy = strategy;
        _threads.Clear();
        (Steps, Finding, _isQuiet, _isEnded, _isAborting) = (0, null, true, false, false);
        Spawn("main", () => model.Start(this));
        _threads[0].IsStarted = true;
        _threads[0].Baton.Release();
        _isOver.Wait();
        Finding ??= Checked(model);
        _isAborting = true;
        _left = _threads.Count(static thread => !thread.HasEnded);
        var left = _left;
        foreach (var thread in _threads.Where(static thread => !thread.HasEnded))
            thread.Baton.Release();
        if (left > 0)
            _isOver.Wait();
        return Finding;
    }

    /// <summary>What the check at the end throws is a finding, as what a thread throws: an invariant does not hold.</summary>
    private static string? Checked(Model model)
    {
        try
        {
            return model.Check();
        }
        catch (Exception exception)
        {
            return "the check at the end threw " + exception.GetType() + ": " + exception.Message;
        }
    }

    /// <summary>Adds a thread to the model; it takes part from the next step on.</summary>
    public void Spawn(string name, Action body)
    {
        var place = _threads.Count;
        if (place == _pool.Count)
        {
            var made = new ModelThread(this);
            _pool.Add(made);
            new System.Threading.Thread(() => Serve(made), 256 << 10) { IsBackground = true, Name = "model" }.Start();
        }

        var thread = _pool[place];
        thread.Reset(name, body);
        _threads.Add(thread);
    }

    /// <summary>From a model's start: lets all other threads run, without choices, until none can go on.</summary>
    public void Settle()
    {
        var self = t_thread!;
        self.IsSettling = true;
        Block(() => _threads.TrueForAll(thread => thread == self || thread.HasEnded || !thread.CanRun), isLock: false);
        self.IsSettling = false;
    }

    /// <summary>Ends the setup: from here on the strategy chooses.</summary>
    public void Begin() => _isQuiet = false;

    /// <summary>The calling thread is about to access shared memory.</summary>
    public void Step()
    {
        if (_isAborting)
            throw new ScheduleOverException();
        if (++Steps > StepLimit)
            Fail("more than " + StepLimit + " steps: threads spin");
        Next(t_thread!);
    }

    /// <summary>Waits until the condition holds, which only steps of other threads can bring about.</summary>
    public void Block(Func<bool> isReady, bool isLock)
    {
        Step();
        var self = t_thread!;
        Fence();
        while (!isReady())
        {
            self.Waits = isReady;
            self.WaitsForLock = isLock;
            Next(self);
            (self.Waits, self.WaitsForLock) = (null, false);
        }
    }

    /// <summary>Puts a store of the calling thread into its store buffer.</summary>
    public static void Buffer(Action store) => t_thread!.Stores.Enqueue(store);

    /// <summary>Makes the buffered stores of the calling thread visible.</summary>
    public static void Fence() => t_thread!.Drain();

    /// <summary>Makes the buffered stores of all threads visible.</summary>
    public void FenceAll()
    {
        foreach (var thread in _threads)
            thread.Drain();
    }

    public void Dispose()
    {
        foreach (var thread in _pool)
        {
            thread.IsOver = true;
            thread.Baton.Release();
        }

        _isOver.Dispose();
    }

    internal void Fail(string finding)
    {
        Finding ??= finding + " (" + string.Join(", ", _threads.Select(static thread => thread.ToString())) + ")";
        End();
        t_thread!.Baton.Wait();
        throw new ScheduleOverException();
    }

    private static void Serve(ModelThread thread)
    {
        t_thread = thread;
        Processor.Bind();
        while (true)
        {
            thread.Baton.Wait();
            if (thread.IsOver)
                return;
            thread.Owner.RunBody(thread);
        }
    }

    private void RunBody(ModelThread thread)
    {
        try
        {
            if (!_isAborting)
                thread.Body!();
        }
        catch (ScheduleOverException)
        {
        }
        catch (Exception exception)
        {
            if (!_isAborting)
                Finding ??= thread.Name + " threw " + exception;
        }

        thread.HasEnded = true;
        if (_isAborting)
        {
            if (System.Threading.Interlocked.Decrement(ref _left) == 0)
                _isOver.Release();
            return;
        }

        if (Finding is not null)
            End();
        else
            PassOn(thread);
    }

    /// <summary>Chooses who makes the next step; returns when that is the calling thread.</summary>
    private void Next(ModelThread self)
    {
        var next = Choose(self);
        if (next == self)
            return;
        if (next is null)
            EndIfStuck();
        else
            Give(next);
        self.Baton.Wait();
        if (_isAborting)
            throw new ScheduleOverException();
    }

    private void PassOn(ModelThread ended)
    {
        var next = Choose(ended);
        if (next is null)
            EndIfStuck();
        else
            Give(next);
    }

    private void Give(ModelThread next)
    {
        next.IsStarted = true;
        next.Baton.Release();
    }

    private void EndIfStuck()
    {
        if (_threads.Find(static thread => !thread.HasEnded && thread.WaitsForLock) is { } locked)
            Finding ??= locked.Name + " waits for a lock that nobody gives back";
        End();
    }

    private void End()
    {
        if (_isEnded)
            return;
        _isEnded = true;
        _isOver.Release();
    }

    /// <summary>
    /// The thread to go on, or null when none can. The running thread is the first option; stores that wait in buffers are options too.
    /// </summary>
    private ModelThread? Choose(ModelThread self)
    {
        while (true)
        {
            _options.Clear();
            var canGoOn = !self.HasEnded && self.CanRun;
            if (canGoOn && !self.IsSettling)
                _options.Add(_threads.IndexOf(self));
            for (var index = 0; index < _threads.Count; index++)
            {
                if (_threads[index] != self && _threads[index].CanRun)
                    _options.Add(index);
            }

            if (_options.Count == 0)
            {
                // What is in a buffer gets out of it at some time.
                if (_threads.Find(static thread => thread.Stores.Count > 0) is { } late)
                {
                    late.Drain();
                    continue;
                }

                return _threads.Find(static thread => thread.IsSettling && thread.CanRun);
            }

            var runnable = _options.Count;
            if (!_isQuiet)
            {
                for (var index = 0; index < _threads.Count; index++)
                {
                    if (_threads[index].Stores.Count > 0)
                        _options.Add(-1 - index);
                }
            }

            var chosen = _isQuiet || _options.Count == 1 ? 0 : _strategy.Choose(_options, runnable, canGoOn, Steps);
            if (_options[chosen] >= 0)
                return _threads[_options[chosen]];
            _threads[-1 - _options[chosen]].Stores.DrainOne();
        }
    }

    private sealed class ModelThread(Interleaver owner)
    {
        internal readonly SemaphoreSlim Baton = new(0);
        internal readonly StoreBuffer Stores = new();
        internal Func<bool>? Waits;
        internal volatile bool IsOver;

        internal Interleaver Owner => owner;

        internal string Name { get; private set; } = "";

        internal Action? Body { get; private set; }

        internal bool IsStarted { get; set; }

        internal bool HasEnded { get; set; }

        internal bool IsSettling { get; set; }

        internal bool WaitsForLock { get; set; }

        internal bool CanRun => !HasEnded && (Waits is null || Waits());

        internal void Drain() => Stores.Drain();

        internal void Reset(string name, Action body)
        {
            (Name, Body, Waits) = (name, body, null);
            (IsStarted, HasEnded, IsSettling, WaitsForLock) = (false, false, false, false);
            Stores.Clear();
        }

        public override string ToString() =>
            Name + (HasEnded ? " ended" : Waits is null ? " runs" : WaitsForLock ? " waits for a lock" : " waits");
    }

    private sealed class StoreBuffer
    {
        private readonly Queue<Action> _stores = new();

        internal int Count => _stores.Count;

        internal void Enqueue(Action store) => _stores.Enqueue(store);

        internal void DrainOne() => _stores.Dequeue()();

        internal void Clear() => _stores.Clear();

        internal void Drain()
        {
            while (_stores.Count > 0)
                DrainOne();
        }
    }
}

/// <summary>The schedule is over: unwinds a thread.</summary>
public sealed class ScheduleOverException : Exception;

/// <summary>What threads there are and what must hold when none can go on.</summary>
public abstract class Model
{
    /// <summary>Runs as the first model thread: sets up, alone, then spawns the others and calls <see cref="Interleaver.Begin"/>.</summary>
    public abstract void Start(Interleaver run);

    /// <summary>No thread can go on. Null when that is right, else what is wrong.</summary>
    public abstract string? Check();
}
