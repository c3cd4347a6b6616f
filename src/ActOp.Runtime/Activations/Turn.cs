using System.Runtime.CompilerServices;

namespace ActOp.Runtime.Activations;

/// <summary>What a thread looks like to grain code during a turn.</summary>
internal static class Turn
{
    private static readonly ExecutionContext? Clean = ExecutionContextOfNewThread();

    [ThreadStatic]
    private static Task? t_task;

    /// <summary>
    /// A task that never runs and belongs to this thread: while it is the thread's current task, <see cref="TaskScheduler.Current"/> is
    /// what <see cref="SchedulerOf"/> says. One for all turns of the thread, because a turn is over before the next one begins, and one
    /// within another puts back what it found.
    /// </summary>
    internal static Task TaskOfThread => t_task ??= new Task(static () => { }, TaskCreationOptions.DenyChildAttach);

    /// <summary>
    /// The thread's current task. Running a turn as a task of its own would make grain code see its scheduler too, but at
    /// the price of one task per turn; a test checks that the field still means what it meant.
    /// </summary>
    [UnsafeAccessor(UnsafeAccessorKind.StaticField, Name = "t_currentTask")]
    internal static extern ref Task? CurrentTask(Task? type = null);

    /// <summary>The scheduler that a task runs on, as <see cref="TaskScheduler.Current"/> reads it.</summary>
    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "m_taskScheduler")]
    internal static extern ref TaskScheduler? SchedulerOf(Task task);

    /// <summary>Undoes what a method left in the thread's execution context (values of <see cref="AsyncLocal{T}"/>).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void CleanContext()
    {
        if (!ReferenceEquals(ExecutionContext.Capture(), Clean))
            Restore();
    }

    /// <summary>The execution context of a thread that has done nothing else. This thread's own stays as it is.</summary>
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
