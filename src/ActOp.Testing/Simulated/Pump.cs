// The pump is the only worker of the thread pool while it runs.
#pragma warning disable RS0030 // A simulation takes the thread pool for itself, so that all that is asynchronous is on one thread.

using System.Globalization;
using ActOp.Calls;

namespace ActOp.Testing.Simulated;

/// <summary>What kind of step an event is; part of the hash and of the trace.</summary>
internal enum EventKind
{
    Item,
    Poll,
    Timer,
    Network,
    Table,
    Fault,
    Load,
    Check,
    Log,
}

/// <summary>A step that is to be made at a time.</summary>
internal sealed class PumpEvent(long time, Machine? owner, EventKind kind, string name, Action run, object? thread)
{
    internal long Time { get; set; } = time;

    /// <summary>Whose memory and threads the step uses; null for the world.</summary>
    internal Machine? Owner { get; } = owner;

    internal EventKind Kind { get; } = kind;

    internal string Name { get; } = name;

    internal Action Run { get; } = run;

    /// <summary>What would be its thread: the steps of one come in their order. Null for a thread of its own.</summary>
    internal object? Thread { get; } = thread;

    internal bool IsCancelled { get; set; }
}

/// <summary>
/// Virtual time and the order of everything: a queue of events, made one after the other by one thread. Time moves only from event to
/// event.
/// </summary>
/// <remarks>
/// The thread is the only worker of the thread pool (<see cref="OwnThePool"/>). Code that leaves its context (a continuation that runs
/// asynchronously, one of the application's) puts an item into the pool; the pump sees it and steps aside until the pool is empty. So such
/// code runs on the same thread, in the order in which it was queued, before the next event.
/// </remarks>
internal sealed class Pump(TextWriter? trace) : IThreadPoolWorkItem
{
    /// <summary>Ticks of virtual time per second.</summary>
    internal const long Second = TimeSpan.TicksPerSecond;

    internal const long Millisecond = TimeSpan.TicksPerMillisecond;

    internal const long Microsecond = TimeSpan.TicksPerMicrosecond;

    private readonly PriorityQueue<PumpEvent, (long Time, long Number)> _events = new();
    private readonly ManualResetEventSlim _idle = new();
    private long _number;
    private int _thread;
    private Func<bool> _isOver = static () => true;
    private Exception? _failure;
    private PumpEvent? _making;

    /// <summary>Ticks since the beginning.</summary>
    internal long Now { get; private set; }

    /// <summary>Events made so far.</summary>
    internal long Events { get; private set; }

    /// <summary>Over all events so far: their times, owners, kinds and names.</summary>
    internal ulong Hash { get; private set; } = 14695981039346656037UL;

    /// <summary>Items of the thread pool between events.</summary>
    internal long Detours { get; private set; }

    internal bool IsTraced => trace is not null;

    /// <summary>Called before this step is made; 0 for none.</summary>
    internal (long Step, Action Stop) Break { get; set; }

    /// <summary>Gives the process one worker thread in all, so that everything asynchronous is on it.</summary>
    internal static void OwnThePool()
    {
        if (!ThreadPool.SetMinThreads(1, 1) || !ThreadPool.SetMaxThreads(1, 1))
            throw new InvalidOperationException("The thread pool does not go down to one thread.");
    }

    internal PumpEvent At(long time, Machine? owner, EventKind kind, string name, Action run, object? thread = null)
    {
        AssertThread();
        var step = new PumpEvent(Math.Max(time, Now), owner, kind, name, run, thread);
        _events.Enqueue(step, (step.Time, _number++));
        return step;
    }

    internal PumpEvent After(long delay, Machine? owner, EventKind kind, string name, Action run, object? thread = null) =>
        At(Now + delay, owner, kind, name, run, thread);

    /// <summary>Makes a step that was held back, after the delay.</summary>
    internal void Again(PumpEvent step, long delay)
    {
        step.Time = Now + delay;
        _events.Enqueue(step, (step.Time, _number++));
    }

    /// <summary>
    /// Makes events until <paramref name="isOver"/>, which is asked before each, or until none is left. Blocks the calling thread.
    /// </summary>
    /// <param name="isOver">Whether to stop.</param>
    /// <param name="patience">Milliseconds of real time; -1 for no limit.</param>
    /// <exception cref="TimeoutException">A step has not ended in time.</exception>
    internal void Run(Func<bool> isOver, int patience = Timeout.Infinite)
    {
        _isOver = isOver;
        _idle.Reset();
        _thread = 0;
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        if (!_idle.Wait(patience))
        {
            _isOver = static () => true;
            throw new TimeoutException(_making is { } step
                ? "Step " + Events + " (" + step.Kind + " " + step.Name + " of " + (step.Owner?.Name ?? "the test")
                    + "), or what it has queued on the thread pool, has not ended"
                : "The thread pool has not begun the simulation: other work of the process keeps its thread");
        }

        _thread = -1;
        if (_failure is { } failure)
            System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(failure);
    }

    /// <summary>Everything that reaches the simulation must come on its thread.</summary>
    internal void AssertThread()
    {
        if (_thread > 0 && _thread != Environment.CurrentManagedThreadId)
        {
            throw new InvalidOperationException(
                "Thread " + Environment.CurrentManagedThreadId + " (" + Thread.CurrentThread.Name +
                    ") has come into the simulation: something of the runtime does not take its threads from the seams.");
        }
    }

    /// <summary>Notes something that is no event of its own.</summary>
    internal void Note(Machine? owner, EventKind kind, string text)
    {
        Mix((ulong)kind);
        Mix(text);
        Write(owner, kind, text);
    }

    internal void Mix(ulong value) => Hash = (Hash ^ value) * 1099511628211UL;

    void IThreadPoolWorkItem.Execute()
    {
        _thread = Environment.CurrentManagedThreadId;
        try
        {
            while (true)
            {
                if (ThreadPool.PendingWorkItemCount > 0)
                {
                    Detours++;
                    ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
                    return;
                }

                if (_isOver() || !_events.TryDequeue(out var step, out _))
                    break;
                if (!step.IsCancelled)
                    Make(step);
            }
        }
        catch (Exception exception)
        {
            _failure = exception;
        }

        _idle.Set();
    }

    private void Make(PumpEvent step)
    {
        if (step.Owner is { } owner)
        {
            if (owner.IsDead)
                return;
            if (owner.IsPaused)
            {
                owner.Deferred.Add(step);
                return;
            }
        }

        Now = Math.Max(Now, step.Time);
        _making = step;
        Events++;
        Mix((ulong)step.Time);
        Mix((ulong)(step.Owner?.Number ?? 0));
        Mix((ulong)step.Kind);
        Mix(step.Name);
        Write(step.Owner, step.Kind, step.Name);
        if (Events == Break.Step)
            Break.Stop();
        step.Run();
        if (CallHost.Current is { } host)
        {
            throw new InvalidOperationException(
                "The step " + step.Kind + " " + step.Name + " has left " + host + " behind as the host of its thread.");
        }
    }

    private void Mix(string text)
    {
        foreach (var letter in text)
            Mix(letter);
    }

    internal void Write(Machine? owner, EventKind kind, string text)
    {
        if (trace is null)
            return;
        trace.Write((Now / (double)Second).ToString("F7", CultureInfo.InvariantCulture));
        trace.Write(' ');
        trace.Write(owner?.Name ?? "world");
        trace.Write(' ');
        trace.Write(kind);
        trace.Write(' ');
        trace.WriteLine(text);
    }
}
