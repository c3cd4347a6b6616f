namespace ActOp.Staging;

/// <content>
/// A thread of another stage that makes items ready for this one may run them itself, in the place of a worker that is parked: then nobody
/// has to be woken. The receive stage does so with the turns of the frames it has read.
/// </content>
public sealed partial class Stage
{
    /// <summary>Items that a borrower runs before it leaves the rest to the worker's own thread: it has its own stage to serve.</summary>
    private const int BorrowedRun = 128;

    private long _borrows;

    /// <summary>Makes this thread a thread of the stage until <see cref="EndBorrow"/>, if one is parked. What it posts meanwhile waits for that.</summary>
    /// <returns>False when the thread runs items of a stage already, or all threads of this stage are at work.</returns>
    public bool TryBorrow()
    {
        if (_idleCount == 0 || Worker.Current is not null || TakeIdle() is not { } worker)
            return false;
        Interlocked.Increment(ref _borrows);
        worker.Enter();
        return true;
    }

    /// <summary>Runs what has been posted since <see cref="TryBorrow"/> and what follows from it, within bounds, and gives the place back.</summary>
    public void EndBorrow()
    {
        var worker = Worker.Current!;
        var isDone = worker.RunBorrowed(BorrowedRun);
        worker.Leave();
        if (!isDone || !TryEnterIdle(worker))
        {
            Interlocked.Increment(ref _wakes);
            worker.Unpark();
        }
        else if (HasWork())
        {
            // Posted between our last look and our leaving, when nobody seemed idle.
            WakeOne();
        }
    }
}
