#pragma warning disable RS0030 // The timer thread is the sanctioned owner of a thread.
using System.Runtime.CompilerServices;

namespace ActOp.Staging;

/// <summary>
/// The system's time, with timers whose callbacks run on one thread. The framework's timers go through the thread pool, whose threads spin
/// before they sleep again: in a silo that is mostly idle that was two fifths of all CPU time.
/// </summary>
/// <remarks>
/// Callbacks must be short and must not block: what they have to do they post to a stage. They run without the execution context of whoever
/// made the timer. A callback that throws ends the process, as with the framework's timers. Any thread may create, change and dispose; a
/// callback that has begun goes on.
/// </remarks>
public sealed class TimerThread : TimeProvider
{
    /// <summary>
    /// Timers with a period of this many milliseconds or more tick in step, from the first tick on: one wake-up, which costs more than most
    /// callbacks, serves all that are due.
    /// </summary>
    private const long Beat = 50;

    private readonly TimeProvider _clock;
    private readonly TimerHeap _waiting = new();
    private readonly object _gate = new();
    private readonly long _start;
    private bool _started;

    /// <summary>Creates it; the thread begins with the first timer and never ends.</summary>
    /// <param name="clock">Tells the time.</param>
    public TimerThread(TimeProvider clock)
    {
        _clock = clock;
        _start = clock.GetTimestamp();
    }

    /// <summary>The one of this process.</summary>
    public static TimerThread Shared { get; } = new(System);

    /// <inheritdoc/>
    public override TimeZoneInfo LocalTimeZone => _clock.LocalTimeZone;

    /// <inheritdoc/>
    public override long TimestampFrequency => _clock.TimestampFrequency;

    /// <summary>Timers that are due some day.</summary>
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
            if (timer.Place != TimerHeap.Nowhere)
                _waiting.Remove(timer);
            timer.Period = every > 0 ? every : Timeout.Infinite;
            if (due < 0)
                return true;
            // The clock's milliseconds are rounded down: one more, and no timer is early.
            timer.Due = Now + due + (due > 0 ? 1 : 0);
            if (every >= Beat)
                timer.Due = (timer.Due + Beat - 1) / Beat * Beat;
            _waiting.Add(timer);
            if (timer.Place == 0)
                Wake();
            return true;
        }
    }

    internal void Remove(ThreadTimer timer)
    {
        lock (_gate)
        {
            if (timer.Place != TimerHeap.Nowhere)
                _waiting.Remove(timer);
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
    /// A frame of its own: while the thread waits, it must not keep the last timer alive, and with it whatever its callback belongs to.
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
            callback = timer.Callback!;
            state = timer.State;
            _waiting.Remove(timer);
            if (timer.Period > 0)
            {
                // Ticks that were missed are not made up for.
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
    private int LeftOfTop() => (int)Math.Clamp(_waiting.Top.Due - Now, 0, int.MaxValue);
}
