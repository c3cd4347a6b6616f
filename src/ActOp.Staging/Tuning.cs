namespace ActOp.Staging;

/// <summary>Constants of the stage's queues. The tests that try out all orders of steps have smaller ones.</summary>
internal static class Tuning
{
    /// <summary>
    /// Items of a worker's own queue, a power of two; more go to the shared queue, and wake another worker. So it has room for all turns
    /// that one read of the receive stage brings: some 500 answers.
    /// </summary>
    internal const int QueueCapacity = 1024;

    /// <summary>
    /// Runs of the next item in a row: long enough to keep a call and its answer on the core, short enough that a waiting item waits
    /// microseconds.
    /// </summary>
    internal const int MaxNextRuns = 16;

    /// <summary>
    /// Every so many items the shared queue is served first: local work must not starve what comes from outside. Prime, so that it does
    /// not beat with periodic work.
    /// </summary>
    internal const int SharedInterval = 61;

    /// <summary>A thread is worth waking for this much waiting work: about what the wake itself costs both sides.</summary>
    internal const double WakeWorthMicroseconds = 60;

    /// <summary>
    /// Items that a borrower runs before it leaves the rest to the worker's own thread: it has its own stage to serve. As many as one read
    /// brings: that thread would have to be woken for the rest.
    /// </summary>
    internal const int BorrowedRun = 512;

    /// <summary>How many items a thread runs while another one would be woken.</summary>
    internal static int ItemsPerWake(double itemMicroseconds) => (int)(WakeWorthMicroseconds / itemMicroseconds);
}
