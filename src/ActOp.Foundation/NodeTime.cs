namespace ActOp.Foundation;

/// <summary>
/// The runtime's own time. Its timers end with the node, and exceptions of callbacks are logged instead of ending the process. Callbacks
/// may run on one thread for all nodes of the process, so they must only post.
/// </summary>
/// <remarks>
/// <para>Any thread. Tracks the timers that may still fire; a one-shot timer is removed when it fires. After <see cref="Dispose"/> no timer
/// fires.</para>
/// <para>Not a <see cref="TimeProvider"/>, so that nobody can wait with it: what follows a wait may be code of the application. Waits use
/// <see cref="TaskTime"/>.</para>
/// </remarks>
/// <param name="source">The source of time and timers.</param>
/// <param name="onError">Called with exceptions of callbacks.</param>
internal sealed class NodeTime(TimeProvider source, Action<Exception> onError) : IDisposable
{
    private readonly Lock _gate = new();
    private NodeTimer? _first;
    private volatile bool _ended;

    internal long TimestampFrequency => source.TimestampFrequency;

    private TimeProvider Source => source;

    private Action<Exception> OnError => onError;

    internal DateTimeOffset GetUtcNow() => source.GetUtcNow();

    internal long GetTimestamp() => source.GetTimestamp();

    internal TimeSpan GetElapsedTime(long began) => source.GetElapsedTime(began);

    internal TimeSpan GetElapsedTime(long began, long ended) => source.GetElapsedTime(began, ended);

    /// <summary>Creates a timer, as <see cref="TimeProvider.CreateTimer"/> does.</summary>
    internal ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new NodeTimer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>For a library that takes a provider, and whose callbacks only post: the mesh.</summary>
    internal TimeProvider ForPosting() => new TaskTime(this);

    public void Dispose()
    {
        lock (_gate)
        {
            _ended = true;
            while (_first is { } timer)
            {
                timer.Unlink();
                timer.Inner.Dispose();
            }
        }
    }

    private sealed class NodeTimer : ITimer
    {
        internal readonly ITimer Inner;
        private readonly NodeTime _time;
        private TimerCallback? _callback;
        private object? _state;
        private NodeTimer? _next;
        private NodeTimer? _previous;
        private bool _isLinked;
        private bool _isPeriodic;

        internal NodeTimer(NodeTime time, TimerCallback callback, object? state)
        {
            _time = time;
            _callback = callback;
            _state = state;
            Inner = time.Source.CreateTimer(static timer => ((NodeTimer)timer!).Fire(), this, Timeout.InfiniteTimeSpan,
                Timeout.InfiniteTimeSpan);
        }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (_time._gate)
            {
                if (_callback is null || _time._ended)
                    return false;
                _isPeriodic = period > TimeSpan.Zero;
                if (dueTime < TimeSpan.Zero)
                    Unlink();
                else
                    Link();
                return Inner.Change(dueTime, period);
            }
        }

        public void Dispose()
        {
            lock (_time._gate)
            {
                Unlink();
                _callback = null;
                _state = null;
            }

            Inner.Dispose();
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return default;
        }

        internal void Unlink()
        {
            Invariant.Held(_time._gate);
            if (!_isLinked)
                return;
            Invariant.Holds(ReferenceEquals(_previous is null ? _time._first : _previous._next, this));
            _isLinked = false;
            if (_previous is null)
                _time._first = _next;
            else
                _previous._next = _next;
            _next?._previous = _previous;
            _next = _previous = null;
        }

        private void Link()
        {
            Invariant.Held(_time._gate);
            if (_isLinked)
                return;
            Invariant.Holds(_next is null && _previous is null && !_time._ended);
            _isLinked = true;
            _next = _time._first;
            _next?._previous = this;
            _time._first = this;
        }

        private void Fire()
        {
            TimerCallback? callback;
            object? state;
            lock (_time._gate)
            {
                if (!_isPeriodic)
                    Unlink();
                (callback, state) = (_callback, _state);
            }

            if (callback is null || _time._ended)
                return;
            try
            {
                callback(state);
            }
            catch (Exception exception)
            {
                _time.OnError(exception);
            }
        }
    }
}

/// <summary>
/// The time of the node for waits: delays, timeouts of tasks, and tokens. What follows them may be code of the application, so the timers
/// fire on the thread pool, or where a virtual clock is moved on.
/// </summary>
/// <remarks>Any thread. Does not own <paramref name="timers"/>.</remarks>
/// <param name="timers">Not those of the shared timer thread.</param>
internal sealed class TaskTime(NodeTime timers) : TimeProvider
{
    public override long TimestampFrequency => timers.TimestampFrequency;

    public override DateTimeOffset GetUtcNow() => timers.GetUtcNow();

    public override long GetTimestamp() => timers.GetTimestamp();

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        timers.CreateTimer(callback, state, dueTime, period);
}

/// <summary>
/// The coarse clock of the runtime: milliseconds since its creation, updated by one timer, so that the path of a call reads a field instead
/// of a clock.
/// </summary>
internal sealed class Clock : IDisposable
{
    /// <summary>Resolution of timeouts.</summary>
    internal static readonly TimeSpan Period = TimeSpan.FromMilliseconds(50);

    private readonly NodeTime _time;
    private readonly long _start;
    private readonly Action<long> _onTick;
    private ITimer? _timer;
    private long _now;

    internal Clock(NodeTime time, Action<long> onTick)
    {
        _time = time;
        _start = time.GetTimestamp();
        _onTick = onTick;
    }

    /// <summary>Starts the timer. Call it after all parts that the ticks use exist.</summary>
    internal void Start() => _timer = _time.CreateTimer(_ => _onTick(Update()), null, Period, Period);

    /// <summary>Milliseconds since the start, as of the last tick or <see cref="Update"/>.</summary>
    internal long Now => Volatile.Read(ref _now);

    /// <summary>Milliseconds since the start, by the source of time: also right after the process stood still.</summary>
    internal long Exact => (long)_time.GetElapsedTime(_start).TotalMilliseconds;

    /// <summary>Reads the time and updates <see cref="Now"/>.</summary>
    internal long Update()
    {
        var now = Exact;
        Volatile.Write(ref _now, now);
        return now;
    }

    public void Dispose() => _timer?.Dispose();
}
