namespace ActOp.Staging;

/// <summary>What the <see cref="StageMonitor"/> looks at.</summary>
internal interface IWatched
{
    /// <summary>Helps what has been kept since the last look. Must not block. False when nothing runs that could be kept.</summary>
    bool Look();
}

/// <summary>
/// Looks at all stages of the process every few milliseconds while threads of any of them run, and sleeps when none does.
/// </summary>
/// <remarks>
/// Who lets a thread of a stage run calls <see cref="Arm"/> afterwards: one read while the monitor is awake. The monitor, before it
/// sleeps, says so and looks once more; one of the two sees the other
/// (both pass a full fence in between). It looks on the thread of timers, never concurrently with itself.
/// </remarks>
internal sealed class StageMonitor
{
    /// <summary>
    /// Between two looks. An item is known to take long after one to two of these; a look of a busy process costs some microseconds.
    /// </summary>
    internal const int PeriodMilliseconds = 2;

    internal const int PeriodMicroseconds = 1000 * PeriodMilliseconds;

    /// <summary>
    /// A thread that one item has kept for so many looks counts as held in <see cref="Measuring.StageUsage"/>: a quarter of a second.
    /// </summary>
    internal const int LooksOfHeld = 250 / PeriodMilliseconds;

    /// <summary>
    /// Looks in a row that see nothing run, until the monitor sleeps: going to sleep for each request would cost a wake-up for each.
    /// </summary>
    private const int QuietLooks = 4;

    private readonly Lock _gate = new();
    private readonly ITimer _timer;
    private IWatched[] _watched = [];
    private int _isArmed;
    private int _quiet;

    /// <param name="time">Whose timer calls the looks.</param>
    internal StageMonitor(TimeProvider time) => _timer = time.CreateTimer(static state => ((StageMonitor)state!).Look(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);

    /// <summary>The one of this process.</summary>
    internal static StageMonitor Shared { get; } = new(TimerThread.Shared);

    internal bool IsArmed => Volatile.Read(ref _isArmed) != 0;

    internal void Add(IWatched watched)
    {
        lock (_gate)
            Volatile.Write(ref _watched, [.. _watched, watched]);
        Arm();
    }

    internal void Remove(IWatched watched)
    {
        lock (_gate)
            Volatile.Write(ref _watched, [.. _watched.Where(one => !ReferenceEquals(one, watched))]);
    }

    /// <summary>A thread of a stage runs.</summary>
    internal void Arm()
    {
        if (Volatile.Read(ref _isArmed) != 0 || Interlocked.Exchange(ref _isArmed, 1) != 0)
            return;
        var period = TimeSpan.FromMilliseconds(PeriodMilliseconds);
        _timer.Change(period, period);
    }

    private void Look()
    {
        if (LookAtAll())
        {
            _quiet = 0;
            return;
        }

        if (++_quiet < QuietLooks)
            return;
        _quiet = 0;
        // In this order: who arms after this starts the timer again.
        _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Interlocked.Exchange(ref _isArmed, 0);
        if (LookAtAll())
            Arm();
    }

    private bool LookAtAll()
    {
        var isActive = false;
        foreach (var watched in Volatile.Read(ref _watched))
            isActive |= watched.Look();
        return isActive;
    }
}
