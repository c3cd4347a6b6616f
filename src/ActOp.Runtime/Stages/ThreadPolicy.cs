using System.Runtime.InteropServices;

namespace ActOp.Runtime.Stages;

/// <summary>What the scheduler of the system is told about a thread.</summary>
internal static unsafe partial class ThreadPolicy
{
    /// <summary>SCHED_BATCH of Linux.</summary>
    private const int Batch = 3;

    /// <summary>
    /// The calling thread, when it is woken, does not take the processor from one that runs: it begins on one that is free, or when one
    /// becomes free. Its share of the processors stays what it is. Where the system knows no such thing, nothing changes.
    /// </summary>
    internal static void WaitForFreeProcessor()
    {
        if (!OperatingSystem.IsLinux())
            return;
        var priority = 0;
        // Not even an error matters: the thread is a usual one then.
        _ = SetScheduler(0, Batch, &priority);
    }

    [LibraryImport("libc", EntryPoint = "sched_setscheduler")]
    private static partial int SetScheduler(int thread, int policy, int* parameters);
}
