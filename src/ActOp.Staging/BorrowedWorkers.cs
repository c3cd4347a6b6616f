#pragma warning disable RS0030 // The stage is the sanctioned owner of the batch clock.
using System.Diagnostics;

namespace ActOp.Staging;

/// <summary>
/// Lends parked workers of a stage to threads of other stages. A thread that posts items to this stage runs them itself in the place of
/// the worker, so no thread has to be woken. The receive stage does this with the turns of the frames that it has read.
/// </summary>
/// <remarks>
/// Items that block would keep the borrowing thread from its own stage. After a run that took long, no worker is lent for a while
/// (<see cref="Backoff"/>). Any thread may call <see cref="TryBorrow"/>; only the borrower calls <see cref="Return"/>.
/// </remarks>
internal sealed class BorrowedWorkers(Stage stage, Roster roster)
{
    /// <summary>A run ends at the first pause after half of this, so it takes so long only if a single item does.</summary>
    private static readonly long LongRun = Stopwatch.Frequency * 2 / 1000;

    private long _borrowed;
    private int _itemsPerWake = Tuning.ItemsPerWake(itemMicroseconds: 1);
    private Backoff _backoff;

    /// <summary>Items that borrowers have run.</summary>
    internal long Items => Interlocked.Read(ref _borrowed);

    /// <summary>Items that a thread runs in the time that waking another one takes, from the run times that borrowers have seen.</summary>
    internal int ItemsPerWake => Volatile.Read(ref _itemsPerWake);

    /// <summary>
    /// Makes the calling thread the owner of a parked worker. Null when there is none, or when borrowing is not allowed now.
    /// </summary>
    internal Worker? TryBorrow()
    {
        if (roster.Idle == 0 || Worker.Current is not null || _backoff.IsOn || roster.TryTakeToBorrow() is not { } worker)
            return null;
        if (Invariant.AreChecked)
            Invariant.Holds(worker.State == WorkerState.Running && worker.Stage == stage);
        worker.Enter();
        StageMonitor.Shared.Arm();
        return worker;
    }

    /// <summary>Runs what was posted since <see cref="TryBorrow"/>, on the same thread, and returns the worker.</summary>
    internal void Return(Worker worker)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(Worker.Current == worker && worker.State == WorkerState.Running);
        var start = Stopwatch.GetTimestamp();
        var isDone = worker.RunBorrowed(Tuning.BorrowedRun, LongRun / 2, out var items);
        Interlocked.Add(ref _borrowed, items);
        if (Stopwatch.GetTimestamp() - start > LongRun)
            _backoff.Lengthen();
        else
            _backoff.Shorten();
        Volatile.Write(ref _itemsPerWake, Tuning.ItemsPerWake(worker.ItemMicroseconds));
        worker.Leave();
        // The worker's thread continues if items are left, or if it has to retire or to end.
        if (!isDone || !roster.TryGoIdle(worker))
            stage.Wake(worker);
        // Required also if the worker was retired meanwhile: then neither this run nor the worker's thread takes from the shared queue.
        if (isDone && stage.HasWork())
            stage.WakeOne();
    }
}

/// <summary>
/// The scope in which a thread has borrowed a worker of a stage (<see cref="Stage.Borrow"/>). Its end runs what was posted. It stays on its
/// thread.
/// </summary>
public readonly ref struct BorrowedRun
{
    private readonly Worker? _worker;

    internal BorrowedRun(Worker? worker) => _worker = worker;

    /// <summary>False when no worker was borrowed: posts are then scheduled as usual, and the end does nothing.</summary>
    public bool IsHeld => _worker is not null;

    /// <summary>Runs what was posted and returns the worker.</summary>
    public void Dispose() => _worker?.Stage.BorrowedWorkers.Return(_worker);
}

/// <summary>
/// Disables an optimization for a while after it has failed: 50 ms, doubled with each failure, at most two seconds. Each success shortens
/// the next pause. Calls may race; at worst an update is lost.
/// </summary>
internal struct Backoff
{
    private static readonly long Shortest = Stopwatch.Frequency / 20;
    private static readonly long Longest = Stopwatch.Frequency * 2;

    private long _pause;
    private long _until;

    /// <summary>The optimization is disabled now.</summary>
    internal readonly bool IsOn => Volatile.Read(in _pause) > 0 && Stopwatch.GetTimestamp() < Volatile.Read(in _until);

    internal void Lengthen()
    {
        var pause = Math.Clamp(2 * Volatile.Read(ref _pause), Shortest, Longest);
        Volatile.Write(ref _until, Stopwatch.GetTimestamp() + pause);
        Volatile.Write(ref _pause, pause);
    }

    internal void Shorten()
    {
        var pause = Volatile.Read(ref _pause);
        if (pause > 0)
            Volatile.Write(ref _pause, pause < Shortest / 16 ? 0 : pause - (pause / 128));
    }
}
