using ActOp.Calls;
using ActOp.Runtime.Activations;
using Orleans.CodeGeneration;
using Orleans.Runtime;
using Orleans.Runtime.Diagnostics;
using Orleans.Serialization.Invocation;
using Orleans.Storage;
using Orleans.Timers;
using Orleans.Timers.Internal;

namespace ActOp.Runtime.Timers;

/// <summary>Creates the timers of grains.</summary>
internal sealed class TimerRegistry : ITimerRegistry
{
    public IGrainTimer RegisterGrainTimer<TState>(IGrainContext grainContext, Func<TState, CancellationToken, Task> callback, TState state,
        GrainTimerCreationOptions options)
    {
        ArgumentNullException.ThrowIfNull(callback);
        if (grainContext is not Activation activation || !ReferenceEquals(CallHost.Current, activation))
            throw new InvalidOperationException("A timer can only be registered on a turn of its grain.");
        return new GrainTimer<TState>(activation, callback, state, options);
    }
}

/// <summary>A timer of one activation: each tick is a request of the activation to itself, and the next one is due a period after the tick
/// has ended.</summary>
/// <remarks>The clock's callback comes from any thread and only queues; the rest runs on the activation's turns. The activation disposes
/// its timers when it ends; waiting ticks are dropped.</remarks>
internal sealed class GrainTimer<TState> : IGrainTimer, IGrainTimerTick
{
    private readonly Activation _activation;
    private readonly Func<TState, CancellationToken, Task> _callback;
    private readonly TState _state;
    private readonly bool _interleave;
    private readonly bool _keepAlive;
    private readonly CancellationTokenSource _cancellation = new();
    private readonly ITimer _timer;
    private TimeSpan _period;
    private bool _disposed;

    /// <summary>
    /// Counts the due times that were set. A tick sets the next one only if nobody has set one since it began: the callback by <see
    /// cref="Change"/>, or a later tick that interleaves with it.
    /// </summary>
    private int _dueTimes;

    internal GrainTimer(Activation activation, Func<TState, CancellationToken, Task> callback, TState state,
        GrainTimerCreationOptions options)
    {
        Check(options.DueTime, "dueTime");
        Check(options.Period, "period");
        _activation = activation;
        _callback = callback;
        _state = state;
        _period = options.Period;
        _interleave = options.Interleave;
        _keepAlive = options.KeepAlive;
        _timer = activation.Parts.Local.GrainTime.CreateTimer(static timer => ((GrainTimer<TState>)timer!).OnDue(), this,
            Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        if (GrainTimerEvents.Feed.IsWatched)
            GrainTimerEvents.Feed.Write(new GrainTimerEvents.Created(activation, this, options.DueTime, options.Period));
        if (activation.TryAddTimer(this))
            _timer.Change(options.DueTime, Timeout.InfiniteTimeSpan);
        else
            Dispose();
    }

    public void Change(TimeSpan dueTime, TimeSpan period)
    {
        Check(dueTime, nameof(dueTime));
        Check(period, nameof(period));
        ObjectDisposedException.ThrowIf(_disposed, this);
        _period = period;
        SetDue(dueTime);
    }

    public void Dispose()
    {
        if (_disposed)
            return;
        _disposed = true;
        _timer.Dispose();
        _activation.RemoveTimer(this);
        if (GrainTimerEvents.Feed.IsWatched)
            GrainTimerEvents.Feed.Write(new GrainTimerEvents.Disposed(_activation, this));
        // Callbacks that the grain registered on the token run here, and may throw.
        _cancellation.Cancel();
    }

    public async Task InvokeCallbackAsync()
    {
        if (_disposed)
            return;
        var dueTimes = _dueTimes;
        Exception? failure = null;
        if (GrainTimerEvents.Feed.IsWatched)
            GrainTimerEvents.Feed.Write(new GrainTimerEvents.TickStart(_activation, this));
        try
        {
            await Given.Task(_callback(_state, _cancellation.Token));
        }
        catch (Exception exception)
        {
            failure = exception;
            _activation.Parts.Local.Log.TimerFailed(_activation.GrainId, exception);
            if (exception is InconsistentStateException conflict)
                _activation.Life.EndInconsistent(_activation, conflict);
        }

        if (!_disposed && dueTimes == _dueTimes && _period != Timeout.InfiniteTimeSpan)
            SetDue(_period);
        if (GrainTimerEvents.Feed.IsWatched)
            GrainTimerEvents.Feed.Write(new GrainTimerEvents.TickStop(_activation, this, failure));
    }

    private void SetDue(TimeSpan dueTime)
    {
        _dueTimes++;
        _timer.Change(dueTime, Timeout.InfiniteTimeSpan);
    }

    private static void Check(TimeSpan time, string name)
    {
        var ms = (long)time.TotalMilliseconds;
        if (ms is < -1 or > 0xfffffffe)
            throw new ArgumentOutOfRangeException(name, time, "A timer's times are between 0 and 4294967294 ms, or infinite.");
    }

    private void OnDue() => _activation.Enqueue(new TimerCall(this, _activation, _interleave, _keepAlive));
}

/// <summary>Waits of the application by the clock of the node. Holds nothing; a wait ends with its token. Any thread.</summary>
internal sealed class NodeDelays(Func<TimeProvider> time) : ITimerManager
{
    public async Task<bool> Delay(TimeSpan timeSpan, CancellationToken cancellationToken = default)
    {
        var delay = Task.Delay(timeSpan, time(), cancellationToken);
        await delay.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        return delay.IsCompletedSuccessfully;
    }
}

/// <summary>The method that a tick calls; filters see it by this name.</summary>
internal interface IGrainTimerTick
{
    Task InvokeCallbackAsync();
}

/// <summary>A tick of a timer in the mailbox of its activation: admitted and filtered like any request.</summary>
internal sealed class TimerCall : TaskRequest
{
    private static readonly CallMethod Tick = new(typeof(IGrainTimerTick), "IGrainTimerInvoker",
        nameof(IGrainTimerTick.InvokeCallbackAsync), 0, InvokeMethodOptions.OneWay, null, static () =>
        typeof(IGrainTimerTick).GetMethod(nameof(IGrainTimerTick.InvokeCallbackAsync))!);

    private readonly IGrainTimerTick _timer;

    internal TimerCall(IGrainTimerTick timer, Activation activation, bool interleave, bool keepAlive)
    {
        _timer = timer;
        KeepAlive = keepAlive;
        Unpooled = true;
        Runtime = activation.Parts.Calls;
        Origin = CallOrigin.Nobody;
        Flags = InvokeMethodOptions.OneWay | (interleave ? InvokeMethodOptions.AlwaysInterleave : 0);
        RemoteTarget = activation.GrainId;
        ArgumentsIsolated = true;
    }

    /// <summary>Whether a tick counts as use of the activation.</summary>
    internal bool KeepAlive { get; }

    public override CallMethod Method => Tick;

    public override object? GetTarget() => _timer;

    public override void SetTarget(ITargetHolder holder)
    {
    }

    public override void Recycle()
    {
    }

    protected override Task InvokeInner() => _timer.InvokeCallbackAsync();
}
