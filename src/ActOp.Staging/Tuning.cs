namespace ActOp.Staging;

/// <summary>Constants of the scheduler. The interleaving tests replace them by smaller ones.</summary>
internal static class Tuning
{
    /// <summary>
    /// Capacity of a worker's own queue, a power of two. Items beyond it go to the shared queue and wake another worker. So it has room for
    /// the turns of one read of the receive stage: about 500 responses.
    /// </summary>
    internal const int QueueCapacity = 1024;

    /// <summary>
    /// Runs from the LIFO slot in a row: enough to keep a call and its response on the core, few enough that waiting items wait
    /// microseconds.
    /// </summary>
    internal const int MaxLifoRuns = 16;

    /// <summary>
    /// After this many items the shared queue is served first, so that local items do not starve items from outside. A prime number, so
    /// that it does not coincide with periodic work.
    /// </summary>
    internal const int SharedInterval = 61;

    /// <summary>A thread is woken for at least this much waiting work: about what the wake-up costs both threads.</summary>
    internal const double WakeWorthMicroseconds = 60;

    /// <summary>
    /// Items that a borrower runs at most before it leaves the rest to the worker's own thread. About as many as one read brings: for
    /// fewer, that thread would have to be woken.
    /// </summary>
    internal const int BorrowedRun = 512;

    /// <summary>How many items a thread runs while another thread is being woken.</summary>
    internal static int ItemsPerWake(double itemMicroseconds) => (int)(WakeWorthMicroseconds / itemMicroseconds);
}
