#pragma warning disable RS0030 // The stage is the sanctioned user of the thread pool.
namespace ActOp.Staging;

/// <summary>
/// Lets a thread of the .NET thread pool run the items that it posts to a stage. Such a thread mostly awaits the result of its post and
/// becomes free. It then borrows a parked worker and runs the item, and what follows from it, itself. No thread is woken.
/// </summary>
/// <remarks>
/// <para>The post of a pool thread queues this object to the thread's own pool queue instead of waking a worker: an inline run. An inline
/// run borrows a worker, runs what waits and returns the worker. If there is no worker to borrow, the running workers look at the shared
/// queue, or one is woken. In each case some thread looks at the shared queue after the inline run has begun. So a pending inline run
/// stands for the search of a woken worker, and the proof in <see cref="Roster"/> holds with it. A pending inline run covers all items that
/// are in the shared queue when it begins: a poster puts the item into the queue, passes a full fence and reads a count of pending runs
/// above zero; the run leaves that count, by a full fence, before it looks at the queue.</para>
/// <para>The pool does not guarantee when a queued run begins: its threads may all be busy or blocked, and so may the posting thread. The
/// <see cref="StageMonitor"/> wakes a worker when it sees a run that has not begun. When no run begins for several samples, inline runs are
/// disabled for a while (<see cref="Backoff"/>).</para>
/// </remarks>
internal sealed class InlineRuns(Stage stage, Roster roster, BorrowedWorkers workers) : IThreadPoolWorkItem
{
    /// <summary>
    /// Samples with pending runs of which none begins, until the pool counts as busy. Lack of a processor should rarely do it.
    /// </summary>
    private const int SamplesUntilBackoff = 3;

    /// <summary>
    /// Runs that have not begun; each looks at the shared queue when it begins. At most as many as the stage has threads.
    /// </summary>
    private int _pending;

    /// <summary>Items that were left to pending runs beyond one for each. Approximate: it only decides about wake-ups.</summary>
    private int _leftToPending;
    private long _begun;
    private long _sampledBegun;
    private int _stalledSamples;
    private Backoff _backoff;

    /// <summary>Leaves the item just posted to an inline run; false when a worker must be woken for it.</summary>
    internal bool TryQueue()
    {
        if (!Thread.CurrentThread.IsThreadPoolThread || Worker.Current is not null || _backoff.IsOn)
            return false;
        // A burst: there are as many pending runs as workers. They will look at the queue, which contains the item. So a worker is woken
        // only for more items than they run in the time of its wake-up.
        if (!TryCountPending())
            return Interlocked.Increment(ref _leftToPending) < workers.ItemsPerWake;
        StageMonitor.Shared.SampleSoon();
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: true);
        return true;
    }

    /// <summary>One inline run.</summary>
    public void Execute()
    {
        // Before the look at the queue: posts from here on queue a run of their own.
        Interlocked.Decrement(ref _pending);
        Interlocked.Increment(ref _begun);
        Volatile.Write(ref _leftToPending, 0);
        if (!stage.HasShared)
            return;
        Invariant.Holds(_pending >= 0);
        _backoff.Shorten();
        using var run = stage.Borrow();
        if (!run.IsHeld && roster.MayWake)
            stage.WakeOne();
    }

    /// <summary>Monitor only: whether runs were queued or begun since the last sample, and whether some have not begun.</summary>
    internal (bool Any, bool Pending) Sample()
    {
        var begun = Interlocked.Read(ref _begun);
        var isNew = begun != _sampledBegun;
        var pending = Volatile.Read(ref _pending) > 0;
        _sampledBegun = begun;
        _stalledSamples = pending && !isNew ? _stalledSamples + 1 : 0;
        if (_stalledSamples == SamplesUntilBackoff)
            _backoff.Lengthen();
        return (isNew || pending, pending);
    }

    /// <summary>
    /// False when as many runs are pending as there are workers. By compare-and-swap: every run that is counted is queued.
    /// </summary>
    private bool TryCountPending()
    {
        while (true)
        {
            var pending = Volatile.Read(ref _pending);
            if (pending >= stage.Threads)
                return false;
            if (Interlocked.CompareExchange(ref _pending, pending + 1, pending) == pending)
                return true;
        }
    }
}
