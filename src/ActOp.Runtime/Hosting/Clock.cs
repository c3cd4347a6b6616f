namespace ActOp.Runtime.Hosting;

/// <summary>
/// The coarse clock of the runtime: milliseconds since the node was made, moved on by one timer, so that the path of a
/// call reads a field instead of a clock.
/// </summary>
internal sealed class Clock : IDisposable
{
    /// <summary>Timeouts are exact to this; ten times a second costs nothing and is far below any sensible timeout.</summary>
    internal static readonly TimeSpan Period = TimeSpan.FromMilliseconds(50);

    private readonly TimeProvider _time;
    private readonly long _start;
    private readonly Action<long> _onTick;
    private ITimer? _timer;
    private long _now;

    internal Clock(TimeProvider time, Action<long> onTick)
    {
        _time = time;
        _start = time.GetTimestamp();
        _onTick = onTick;
    }

    /// <summary>Begins to tick; not before everything that the ticks use is made.</summary>
    internal void Start() => _timer = _time.CreateTimer(_ => _onTick(Update()), null, Period, Period);

    /// <summary>Milliseconds since the start, at most one <see cref="Period"/> old.</summary>
    internal long Now => Volatile.Read(ref _now);

    /// <summary>Reads the clock behind.</summary>
    internal long Update()
    {
        var now = (long)_time.GetElapsedTime(_start).TotalMilliseconds;
        Volatile.Write(ref _now, now);
        return now;
    }

    public void Dispose() => _timer?.Dispose();
}
