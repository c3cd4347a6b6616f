namespace ActOp.Staging;

/// <summary>What a look has found.</summary>
internal enum Sight
{
    /// <summary>Nothing runs that could be kept.</summary>
    Asleep,

    /// <summary>Threads run.</summary>
    Awake,

    /// <summary>A thread runs something that the next look may find kept.</summary>
    Inside,

    /// <summary>
    /// Items have been left to threads that nobody can wake since the last look, see <see cref="StageMonitor.LookSoon"/>.
    /// </summary>
    Left,
}

/// <summary>What the <see cref="StageMonitor"/> looks at.</summary>
internal interface IWatched
{
    /// <summary>Helps what has been kept since the last look, so many microseconds ago. Must not block.</summary>
    Sight Look(int microseconds);
}

/// <summary>
/// Looks at all stages of the process every few milliseconds while threads of any of them run, and sleeps when none does.
/// </summary>
/// <remarks>
/// A look costs little, but to wake a thread for it costs a tenth of a millisecond of a processor that had nothing else to do: at 500 looks
/// a second that was a fifth of what a silo used under a light load. So a look that finds no thread inside an item is followed by the next
/// one after <see cref="CalmMilliseconds"/>, otherwise after <see cref="AlertMilliseconds"/>; an item that takes long is known as such
/// after at most the sum of both. Who leaves an item to a thread that may not come asks for a look after <see cref="SoonMilliseconds"/>.
/// <para>Who lets a thread of a stage run calls <see cref="Arm"/> afterwards: one read while the monitor is awake. The monitor, before it
/// sleeps, says so and looks once more; one of the two sees the other (both pass a full fence in between). It looks on the thread of
/// timers, never concurrently with itself.</para>
/// </remarks>
internal sealed class StageMonitor
{
    /// <summary>To the next look while no thread was seen inside an item.</summary>
    internal const int CalmMilliseconds = 8;

    /// <summary>To the next look once a thread was seen inside an item: if it still is, the item takes long.</summary>
    internal const int AlertMilliseconds = 2;

    /// <summary>To the next look while items are left to threads that may not come for them.</summary>
    internal const int SoonMilliseconds = 1;

    /// <summary>
    /// A thread that looks have seen inside one item for so long counts as held in <see cref="Measuring.StageUsage"/>.
    /// </summary>
    internal const int HeldMicroseconds = 250_000;

    /// <summary>
    /// Looks in a row that see nothing run, until the monitor sleeps: going to sleep for each request would cost a wake-up for each.
    /// </summary>
    private const int QuietLooks = 4;

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly ITimer _timer;
    private IWatched[] _watched = [];
    private int _isArmed;
    private int _isSoon;
    private int _quiet;
    private long _lastLook;

    /// <param name="time">Whose timer calls the looks.</param>
    internal StageMonitor(TimeProvider time)
    {
        _time = time;
        _timer = time.CreateTimer(static state => ((StageMonitor)state!).Look(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

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
        LookAgainIn(CalmMilliseconds);
    }

    /// <summary>
    /// As <see cref="Arm"/>, and the next look is to come soon: mostly one read, since looks that see such calls follow each other soon.
    /// </summary>
    internal void LookSoon()
    {
        Arm();
        if (Volatile.Read(ref _isSoon) == 0 && Interlocked.Exchange(ref _isSoon, 1) == 0)
            LookAgainIn(SoonMilliseconds);
    }

    private void LookAgainIn(int milliseconds) => _timer.Change(TimeSpan.FromMilliseconds(milliseconds), Timeout.InfiniteTimeSpan);

    private void Look()
    {
        // Before the look: who asks for another one from here on sets it again, or is seen.
        Interlocked.Exchange(ref _isSoon, 0);
        var sight = LookAtAll();
        _quiet = sight == Sight.Asleep ? _quiet + 1 : 0;
        if (_quiet < QuietLooks)
        {
            Continue(sight);
            return;
        }

        _quiet = 0;
        // In this order: who arms after this starts the timer again.
        Interlocked.Exchange(ref _isArmed, 0);
        sight = LookAtAll();
        if (sight == Sight.Asleep)
            return;
        Arm();
        Continue(sight);
    }

    private void Continue(Sight sight)
    {
        if (sight == Sight.Left)
            Interlocked.Exchange(ref _isSoon, 1);
        LookAgainIn(sight switch
        {
            Sight.Left => SoonMilliseconds,
            Sight.Inside => AlertMilliseconds,
            _ => CalmMilliseconds,
        });
        // Who asked during the look may have set the timer before this did.
        if (sight != Sight.Left && Volatile.Read(ref _isSoon) != 0)
            LookAgainIn(SoonMilliseconds);
    }

    private Sight LookAtAll()
    {
        var now = _time.GetTimestamp();
        var microseconds = (int)Math.Min(_time.GetElapsedTime(_lastLook, now).TotalMicroseconds, int.MaxValue);
        _lastLook = now;
        var sight = Sight.Asleep;
        foreach (var watched in Volatile.Read(ref _watched))
        {
            var one = watched.Look(microseconds);
            sight = one > sight ? one : sight;
        }

        return sight;
    }
}
