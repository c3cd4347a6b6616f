#pragma warning disable RS0030 // The timer thread is the sanctioned owner of a thread.
using System.Runtime.CompilerServices;

namespace ActOp.Staging;

/// <summary>
/// A time provider whose timer callbacks run on one thread. The framework's timers go through the thread pool, whose threads spin before
/// they wait: in a mostly idle silo that took two fifths of all CPU time.
/// </summary>
/// <remarks>
/// Callbacks must be short and must not block; they post longer work to a stage. They run without the execution context of the creator of
/// the timer. A callback that throws ends the process, as with the framework's timers. Any thread may create, change and dispose timers;
/// disposing does not wait for a callback that has begun.
/// </remarks>
public sealed class TimerThread : TimeProvider
{
    /// <summary>
    /// Timers with a period of this many milliseconds or more are due at multiples of it, so that one wake-up serves all of them. A wake-up
    /// costs more than most callbacks.
    /// </summary>
    private const long AlignmentMilliseconds = 50;

    private readonly TimeProvider _clock;
    private readonly TimerHeap _waiting = new();
    private readonly object _gate = new();
    private readonly long _start;
    private bool _started;

    /// <summary>Creates the provider. Its thread starts with the first timer and never ends.</summary>
    /// <param name="clock">The source of the time.</param>
    public TimerThread(TimeProvider clock)
    {
        _clock = clock;
        _start = clock.GetTimestamp();
    }

    /// <summary>The timer thread of the process.</summary>
    public static TimerThread Shared { get; } = new(System);

    /// <inheritdoc/>
    public override TimeZoneInfo LocalTimeZone => _clock.LocalTimeZone;

    /// <inheritdoc/>
    public override long TimestampFrequency => _clock.TimestampFrequency;

    /// <summary>The number of timers that are set.</summary>
    internal int Waiting
    {
        get
        {
            lock (_gate)
                return _waiting.Count;
        }
    }

    private long Now => (long)_clock.GetElapsedTime(_start).TotalMilliseconds;

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow() => _clock.GetUtcNow();

    /// <inheritdoc/>
    public override long GetTimestamp() => _clock.GetTimestamp();

    /// <summary>Creates a timer that is exact to about a millisecond and never early.</summary>
    /// <inheritdoc/>
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        ArgumentNullException.ThrowIfNull(callback);
        var timer = new ThreadTimer(this, callback, state);
        Change(timer, dueTime, period);
        return timer;
    }

    internal bool Change(ThreadTimer timer, TimeSpan dueTime, TimeSpan period)
    {
        var due = Milliseconds(dueTime, nameof(dueTime));
        var every = Milliseconds(period, nameof(period));
        lock (_gate)
        {
            if (timer.Callback is null)
                return false;
            if (timer.HeapIndex != TimerHeap.Nowhere)
                _waiting.Remove(timer);
            timer.Period = every > 0 ? every : Timeout.Infinite;
            if (due < 0)
                return true;
            // One more, because the clock's milliseconds are rounded down: no timer is early.
            timer.Due = Now + due + (due > 0 ? 1 : 0);
            if (every >= AlignmentMilliseconds)
                timer.Due = (timer.Due + AlignmentMilliseconds - 1) / AlignmentMilliseconds * AlignmentMilliseconds;
            _waiting.Add(timer);
            Invariant.Holds(timer.HeapIndex >= 0 && timer.HeapIndex < _waiting.Count);
            if (timer.HeapIndex == 0)
                Wake();
            return true;
        }
    }

    internal void Remove(ThreadTimer timer)
    {
        lock (_gate)
        {
            if (timer.HeapIndex != TimerHeap.Nowhere)
                _waiting.Remove(timer);
            Invariant.Holds(timer.HeapIndex == TimerHeap.Nowhere);
            timer.Callback = null;
            timer.State = null;
        }
    }

    private static long Milliseconds(TimeSpan time, string name)
    {
        var milliseconds = (long)Math.Ceiling(time.TotalMilliseconds);
        ArgumentOutOfRangeException.ThrowIfLessThan(milliseconds, Timeout.Infinite, name);
        return milliseconds;
    }

    private void Wake()
    {
        Invariant.Entered(_gate);
        if (_started)
        {
            Monitor.Pulse(_gate);
            return;
        }

        _started = true;
        new Thread(Loop) { IsBackground = true, Name = "actop-timers" }.UnsafeStart();
    }

    private void Loop()
    {
        while (true)
        {
            WaitUntilDue();
            RunDue();
        }
    }

    /// <summary>
    /// Not inlined: while the thread waits, its stack frame must not keep the last timer, and the target of its callback, alive.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void RunDue()
    {
        TimerCallback callback;
        object? state;
        lock (_gate)
        {
            if (_waiting.Count == 0 || _waiting.Top.Due > Now)
                return;
            var timer = _waiting.Top;
            // A timer that is disposed has left the heap.
            Invariant.Holds(timer.Callback is not null && timer.HeapIndex == 0);
            callback = timer.Callback!;
            state = timer.State;
            _waiting.Remove(timer);
            if (timer.Period > 0)
            {
                // Missed ticks are skipped.
                timer.Due = Math.Max(timer.Due + timer.Period, Now);
                _waiting.Add(timer);
            }
        }

        callback(state);
    }

    private void WaitUntilDue()
    {
        lock (_gate)
        {
            while (true)
            {
                var left = _waiting.Count == 0 ? Timeout.Infinite : LeftOfTop();
                if (left == 0)
                    return;
                Monitor.Wait(_gate, left);
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private int LeftOfTop()
    {
        Invariant.Entered(_gate);
        return (int)Math.Clamp(_waiting.Top.Due - Now, 0, int.MaxValue);
    }
}

/// <summary>A timer of a <see cref="TimerThread"/>; all fields are guarded by its gate.</summary>
internal sealed class ThreadTimer(TimerThread thread, TimerCallback callback, object? state) : ITimer
{
    /// <summary>Null once the timer is disposed, so that it keeps nothing alive.</summary>
    internal TimerCallback? Callback = callback;

    internal object? State = state;

    /// <summary>When it is due, in milliseconds of the thread's clock.</summary>
    internal long Due;

    /// <summary>Milliseconds from one due time to the next; negative for none.</summary>
    internal long Period;

    internal int HeapIndex = TimerHeap.Nowhere;

    public bool Change(TimeSpan dueTime, TimeSpan period) => thread.Change(this, dueTime, period);

    public void Dispose() => thread.Remove(this);

    public ValueTask DisposeAsync()
    {
        Dispose();
        return default;
    }
}

/// <summary>
/// A binary heap of the timers that are set, the next due on top. Each timer stores its index, so that it can be removed at once when it
/// is changed or disposed. Not thread-safe.
/// </summary>
internal sealed class TimerHeap
{
    /// <summary>The index of a timer that is not set.</summary>
    internal const int Nowhere = -1;

    private ThreadTimer[] _timers = new ThreadTimer[16];

    internal int Count { get; private set; }

    internal ThreadTimer Top => _timers[0];

    internal void Add(ThreadTimer timer)
    {
        Invariant.Holds(timer.HeapIndex == Nowhere);
        if (Count == _timers.Length)
            Array.Resize(ref _timers, 2 * Count);
        Up(Count++, timer);
    }

    internal void Remove(ThreadTimer timer)
    {
        Invariant.Holds(timer.HeapIndex >= 0 && timer.HeapIndex < Count && ReferenceEquals(_timers[timer.HeapIndex], timer));
        var hole = timer.HeapIndex;
        timer.HeapIndex = Nowhere;
        var last = _timers[--Count];
        _timers[Count] = null!;
        if (ReferenceEquals(last, timer))
            return;
        Up(hole, last);
        Down(last.HeapIndex, last);
    }

    private void Up(int index, ThreadTimer timer)
    {
        for (int parent; index > 0 && timer.Due < _timers[parent = (index - 1) / 2].Due; index = parent)
            SetAt(index, _timers[parent]);
        SetAt(index, timer);
    }

    private void Down(int index, ThreadTimer timer)
    {
        for (int child; (child = (2 * index) + 1) < Count; index = child)
        {
            if (child + 1 < Count && _timers[child + 1].Due < _timers[child].Due)
                child++;
            if (_timers[child].Due >= timer.Due)
                break;
            SetAt(index, _timers[child]);
        }

        Invariant.Holds(index < Count && (index == 0 || _timers[(index - 1) / 2].Due <= timer.Due));
        SetAt(index, timer);
    }

    private void SetAt(int index, ThreadTimer timer)
    {
        _timers[index] = timer;
        timer.HeapIndex = index;
    }
}
