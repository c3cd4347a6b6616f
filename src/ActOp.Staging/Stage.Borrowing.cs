#pragma warning disable RS0030 // The stage is the sanctioned owner of the batch clock.
using System.Diagnostics;

namespace ActOp.Staging;

/// <content>
/// A thread of another stage that makes items ready for this one may run them itself, in the place of a worker that is parked: then nobody
/// has to be woken. The receive stage does so with the turns of the frames it has read.
/// </content>
/// <remarks>
/// Items that block would keep the borrower from its own stage. So after a run that took long nobody may borrow for a while: twice as
/// long every time, while runs that are
/// short wear the time off again. A thread that was merely kept from a processor hardly notices, one whose items block now and then
/// borrows hardly any more.
/// </remarks>
public sealed partial class Stage
{
    /// <summary>A run ends at the first pause after half of this, so it takes so long only if a single item does.</summary>
    private static readonly long LongRun = Stopwatch.Frequency * 2 / 1000;

    private long _borrowed;
    private Backoff _borrowBackoff;

    /// <summary>Items that borrowers have run.</summary>
    public long Borrowed => Interlocked.Read(ref _borrowed);

    /// <summary>
    /// Makes this thread a thread of the stage until the scope ends, if one is parked: <c>using var run = stage.Borrow();</c>. What it
    /// posts meanwhile waits for the end of the scope, which runs it and
    /// what follows from it, within bounds.
    /// </summary>
    /// <returns>
    /// A scope that holds nothing when the thread runs items of a stage already, all threads of this stage are at work, or its items have
    /// lately taken long.
    /// </returns>
    public BorrowedRun Borrow() => new(TryBorrow());

    internal Worker? TryBorrow()
    {
        if (!HasIdle || Worker.Current is not null || _borrowBackoff.IsOn || _roster.TryTakeToBorrow() is not { } worker)
            return null;
        worker.Enter();
        StageMonitor.Shared.Arm();
        return worker;
    }

    /// <summary>Runs what was posted since <see cref="TryBorrow"/>, on the same thread, and gives the worker back.</summary>
    internal void EndBorrow(Worker worker)
    {
        var start = Stopwatch.GetTimestamp();
        var isDone = worker.RunBorrowed(Tuning.BorrowedRun, LongRun / 2, out var items);
        Interlocked.Add(ref _borrowed, items);
        if (Stopwatch.GetTimestamp() - start > LongRun)
            _borrowBackoff.Lengthen();
        else
            _borrowBackoff.Shorten();
        Volatile.Write(ref _visitItems, Tuning.ItemsPerWake(worker.ItemMicroseconds));
        worker.Leave();
        if (!isDone || !_roster.TryGoIdle(worker))
        {
            // Its thread has something to do: items, or to retire, or to end.
            Interlocked.Increment(ref _wakes);
            worker.Unpark();
        }

        // A worker that was retired meanwhile took nothing from the shared queue, and its thread will not either.
        if (isDone && HasWork())
            WakeOne();
    }
}

/// <summary>
/// The time in which a thread has borrowed a worker of a stage (<see cref="Stage.Borrow"/>); its end runs what was posted. Stays on its
/// thread.
/// </summary>
public readonly ref struct BorrowedRun
{
    private readonly Worker? _worker;

    internal BorrowedRun(Worker? worker) => _worker = worker;

    /// <summary>False when nothing was borrowed: then posts go their usual way, and the end does nothing.</summary>
    public bool IsHeld => _worker is not null;

    /// <summary>Runs what was posted and gives the worker back.</summary>
    public void Dispose() => _worker?.Stage.EndBorrow(_worker);
}
