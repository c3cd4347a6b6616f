#pragma warning disable RS0030 // The stage is the sanctioned user of the thread pool, and the owner of the clock of its pauses.
using System.Diagnostics;

namespace ActOp.Staging;

/// <content>
/// A thread of the thread pool that posts mostly awaits the outcome, and so is free a moment later: then it runs the item itself, in the
/// place of a parked worker, and what goes on from the item follows on the same thread. Nobody is woken, and nobody waits for a wake-up.
/// </content>
/// <remarks>
/// <para>A post of such a thread leaves a visit in the thread's own queue of the pool instead of waking a worker. A visit borrows a worker,
/// runs what waits and gives it back. Whatever a visit finds, afterwards somebody has looked at the shared queue: the borrower himself, or,
/// when there is no worker to borrow, the workers that run, or one that is woken. So a visit that will come stands for the search of a
/// woken worker, and the proof in <see cref="Roster"/> holds with it. A visit that has not begun stands for all items that are in the queue
/// when it begins: who posts puts the item into the queue, passes a full fence and sees the count of such visits above zero; the visit
/// takes itself out of that count, by a full fence, before it looks.</para>
/// <para>The pool gives no promise of when: its threads may all compute or block, and so may this one after its post. The monitor, asked
/// for a look soon, wakes a worker when it sees a visit that has not begun; when none begins for some looks, threads leave no visits for a
/// while, twice as long each time.</para>
/// </remarks>
public sealed partial class Stage
{
    /// <summary>
    /// Looks at visits none of which begins, until the pool counts as busy: a thread that only lacks a processor should rarely.
    /// </summary>
    private const int LooksUntilBackoff = 3;

    private readonly Visit _visit;

    /// <summary>Visits that have not begun; each looks at the shared queue when it begins. At most <see cref="Threads"/>.</summary>
    private int _visits;

    /// <summary>Items that stand in the queue for visits that have not begun. Approximate: it only decides about wake-ups.</summary>
    private int _leftToVisits;

    /// <summary>Items that a thread runs in the time of a wake-up, by what borrowers have run.</summary>
    private int _visitItems = Tuning.ItemsPerWake(itemMicroseconds: 1);
    private long _visited;
    private long _seenVisited;
    private int _looksAtVisits;
    private Backoff _visitBackoff;

    /// <summary>Items are waiting for a visit instead of a wake-up; false when a worker must be woken.</summary>
    private bool TryVisit()
    {
        if (!Thread.CurrentThread.IsThreadPoolThread || Worker.Current is not null || _visitBackoff.IsOn)
            return false;
        // More visits than there are workers to borrow: a burst. The visits that have not begun look at the queue, in which the item is,
        // so a thread of the stage is woken only for more than they run in the time of its wake-up.
        if (!TryCountVisit())
            return Interlocked.Increment(ref _leftToVisits) < Volatile.Read(ref _visitItems);
        StageMonitor.Shared.LookSoon();
        ThreadPool.UnsafeQueueUserWorkItem(_visit, preferLocal: true);
        return true;
    }

    /// <summary>False when there are as many visits as workers. By compare-and-swap: every visit that is ever counted is made.</summary>
    private bool TryCountVisit()
    {
        while (true)
        {
            var visits = Volatile.Read(ref _visits);
            if (visits >= Threads)
                return false;
            if (Interlocked.CompareExchange(ref _visits, visits + 1, visits) == visits)
                return true;
        }
    }

    private void PayVisit()
    {
        // Before the look at the queue: who posts from here on leaves a visit of his own.
        Interlocked.Decrement(ref _visits);
        Interlocked.Increment(ref _visited);
        Volatile.Write(ref _leftToVisits, 0);
        if (_shared.IsEmpty)
            return;
        _visitBackoff.Shorten();
        using var run = Borrow();
        if (!run.IsHeld && _roster.MayWake)
            WakeOne();
    }

    /// <summary>Monitor only: whether visits were left since the last look, and whether some have not begun.</summary>
    private (bool Any, bool Wait) LookAtVisits()
    {
        var visited = Interlocked.Read(ref _visited);
        var isNew = visited != _seenVisited;
        var wait = Volatile.Read(ref _visits) > 0;
        _seenVisited = visited;
        _looksAtVisits = wait && !isNew ? _looksAtVisits + 1 : 0;
        if (_looksAtVisits == LooksUntilBackoff)
            _visitBackoff.Lengthen();
        return (isNew || wait, wait);
    }

    private sealed class Visit(Stage stage) : IThreadPoolWorkItem
    {
        public void Execute() => stage.PayVisit();
    }
}

/// <summary>
/// A way that has failed is not tried for a while, twice as long every time, from 50 ms up to two seconds; ways that go well wear the time
/// off again. Races lose a note at worst.
/// </summary>
internal struct Backoff
{
    private static readonly long Least = Stopwatch.Frequency / 20;
    private static readonly long Longest = Stopwatch.Frequency * 2;

    private long _pause;
    private long _until;

    /// <summary>The way is not to be tried now.</summary>
    internal readonly bool IsOn => Volatile.Read(in _pause) > 0 && Stopwatch.GetTimestamp() < Volatile.Read(in _until);

    internal void Lengthen()
    {
        var pause = Math.Clamp(2 * Volatile.Read(ref _pause), Least, Longest);
        Volatile.Write(ref _until, Stopwatch.GetTimestamp() + pause);
        Volatile.Write(ref _pause, pause);
    }

    internal void Shorten()
    {
        var pause = Volatile.Read(ref _pause);
        if (pause > 0)
            Volatile.Write(ref _pause, pause < Least / 16 ? 0 : pause - (pause / 128));
    }
}
