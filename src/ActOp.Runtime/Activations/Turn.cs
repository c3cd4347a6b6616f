using System.Runtime.CompilerServices;
using ActOp.Calls;

namespace ActOp.Runtime.Activations;

/// <summary>
/// What grain code sees of its thread during a turn: the current task, the scheduler and the execution context. Each thread uses its own.
/// </summary>
internal static class Turn
{
    private static readonly ExecutionContext? Clean = ExecutionContextOfNewThread();

    [ThreadStatic]
    private static TurnThread? t_thread;

    /// <summary>What the turns of this thread use: one look-up for each visit of an activation.</summary>
    internal static TurnThread OfThread => t_thread ??= new TurnThread();

    /// <summary>
    /// The current task of the thread. A task per turn would have the same effect, but would cost one allocation per turn. A test checks
    /// that the field of the runtime library still has this meaning.
    /// </summary>
    [UnsafeAccessor(UnsafeAccessorKind.StaticField, Name = "t_currentTask")]
    internal static extern ref Task? CurrentTask(Task? type = null);

    /// <summary>The scheduler that a task runs on, as <see cref="TaskScheduler.Current"/> reads it.</summary>
    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "m_taskScheduler")]
    internal static extern ref TaskScheduler? SchedulerOf(Task task);

    /// <summary>The context of a thread, as <see cref="SynchronizationContext.Current"/> reads it.</summary>
#pragma warning disable RS0030 // Only read here: the thread is that of a stage.
    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_synchronizationContext")]
    internal static extern ref SynchronizationContext? ContextOf(Thread thread);
#pragma warning restore RS0030

    /// <summary>The execution context of a thread that nobody has touched: no activity, and no other value.</summary>
    internal static bool IsClean(ExecutionContext? context) => ReferenceEquals(context, Clean);

    /// <summary>Removes what a method has left in the execution context of the thread (values of <see cref="AsyncLocal{T}"/>).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void CleanContext()
    {
        if (!ReferenceEquals(ExecutionContext.Capture(), Clean))
            Restore();
    }

    /// <summary>
    /// The execution context of a new thread after <paramref name="change"/>. The context of this thread stays unchanged.
    /// </summary>
    internal static ExecutionContext ContextAfter<T>(T state, Action<T> change)
    {
        var suppressed = ExecutionContext.IsFlowSuppressed();
        if (suppressed)
            ExecutionContext.RestoreFlow();
        var outer = ExecutionContext.Capture()!;
        ExecutionContext.Restore(Clean!);
        change(state);
        var context = ExecutionContext.Capture()!;
        ExecutionContext.Restore(outer);
        if (suppressed)
            ExecutionContext.SuppressFlow();
        return context;
    }

    /// <summary>Cancels a token that code of the grain has seen. Its callbacks on the token run now, on this turn.</summary>
    internal static void Cancel(CancellationTokenSource source, Activation activation)
    {
        try
        {
            source.Cancel();
        }
        catch (AggregateException exception)
        {
            activation.Parts.Local.Log.CancellationFailed(activation.GrainId, exception);
        }
    }

    private static void Restore()
    {
        if (ExecutionContext.IsFlowSuppressed())
            ExecutionContext.RestoreFlow();
        ExecutionContext.Restore(Clean!);
    }

    private static ExecutionContext? ExecutionContextOfNewThread()
    {
        ExecutionContext? context = null;
#pragma warning disable RS0030 // A thread that nobody has touched is the only place to see the default context.
        var thread = new Thread(() => context = ExecutionContext.Capture());
        thread.UnsafeStart();
        thread.Join();
#pragma warning restore RS0030
        return context;
    }
}

/// <summary>What the turns of one thread use. Belongs to its thread.</summary>
internal sealed class TurnThread
{
    /// <summary>
    /// A task that never runs. While it is the current task of the thread, <see cref="TaskScheduler.Current"/> is the value of
    /// <see cref="Turn.SchedulerOf"/>. One task serves all turns of the thread: turns do not overlap, except that one may run within
    /// another, and that one restores the values that it found.
    /// </summary>
    internal readonly Task Task = new(static () => { }, TaskCreationOptions.DenyChildAttach);

#pragma warning disable RS0030 // Not created here: the thread is that of a stage.
    internal readonly Thread Thread = Thread.CurrentThread;
#pragma warning restore RS0030
}

/// <summary>
/// The turns of one visit of the stage: from here to the end, the thread is that of the activation. At the end it is as it was, whatever
/// code of the grain has done or thrown.
/// </summary>
internal readonly ref struct TurnScope
{
    private readonly ref Task? _currentTask;
    private readonly ref TaskScheduler? _scheduler;
    private readonly ref SynchronizationContext? _context;
    private readonly Task? _outerTask;
    private readonly TaskScheduler? _outerScheduler;
    private readonly CallHost? _outerHost;
    private readonly SynchronizationContext? _outerContext;

    internal TurnScope(Activation activation)
    {
        _currentTask = ref Turn.CurrentTask();
        _outerTask = _currentTask;
        var thread = Turn.OfThread;
        _scheduler = ref Turn.SchedulerOf(thread.Task);
        _outerScheduler = _scheduler;
        _outerHost = CallHost.Current;
        _context = ref Turn.ContextOf(thread.Thread);
        _outerContext = _context;
        CallHost.Current = activation;
        _currentTask = thread.Task;
        _scheduler = activation;
    }

    public void Dispose()
    {
        _scheduler = _outerScheduler;
        _currentTask = _outerTask;
        CallHost.Current = _outerHost;
        // With a context that code of the grain has set, the awaits of other grains of this thread would leave their turns.
        if (!ReferenceEquals(_context, _outerContext))
            _context = _outerContext;
    }
}
