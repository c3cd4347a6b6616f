using ActOp.Staging;
using ActOp.Staging.Measuring;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace ActOp.Orleans.Threads;

/// <summary>The time of thread control. Its timers must not run on the pool: they would wait for the threads that are missing.</summary>
/// <param name="Time">The time.</param>
internal sealed record PoolClock(TimeProvider Time)
{
    private static readonly TimerThread OfProcess = new(TimeProvider.System);

    /// <summary>The time of a silo; timers of the system's time run on a thread of the process that only thread control uses.</summary>
    internal static PoolClock ForTime(TimeProvider time) => new(time == TimeProvider.System ? OfProcess : time);
}

/// <summary>
/// A silo's thread control: looks at the thread pool some 50 times a second while it works, asks <see cref="PoolController"/> once a
/// period, or sooner when items wait for threads, and sets the pool's minimum.
/// </summary>
/// <remarks>
/// <para>All steps run one after the other in callbacks of one timer. What a step throws is logged and counted, gives the pool back, and
/// ends the steps for good. Loggers and listeners of metrics of the application run in steps: one that hangs ends the rounds, which the
/// health check tells, and nothing else; the stop of the silo does not wait for a step.</para>
/// </remarks>
internal sealed class PoolRounds : ILifecycleParticipant<ISiloLifecycle>
{
    private static readonly TimeSpan BusyInterval = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan IdleInterval = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan OffInterval = TimeSpan.FromMilliseconds(250);

    private readonly IPool _pool;
    private readonly PoolSize _size;
    private readonly IOptionsMonitor<ThreadOptions> _monitor;
    private readonly ThreadOptions _options;
    private readonly ThreadMetrics _metrics;
    private readonly TimeProvider _time;
    private readonly PoolSpin _spin;
    private readonly ILogger _log;
    private readonly double _processors = ProcessorQuota.Read();
    private readonly ITimer _timer;
    private PoolController? _controller;
    private PoolSums _past;
    private BusyTime _probe;
    private double _processTime;
    private bool _knowsReady;
    private bool _isLeftToAnother;
    private bool _isOff;
    private long _lastSample;
    private long _lastStep;
    private long _changes;
    private long _rounds;
    private Exception? _failure;

    public PoolRounds(
        IPool pool, IOptionsMonitor<ThreadOptions> monitor, ThreadMetrics metrics, PoolClock clock, PoolSpin spin, ILogger<PoolRounds> log)
    {
        (_pool, _monitor, _metrics, _time, _spin, _log) = (pool, monitor, metrics, clock.Time, spin, log);
        // Before anything uses them: silos are put together before their settings are validated.
        _options = monitor.CurrentValue;
        _options.Validate();
        _size = new PoolSize(pool);
        _lastStep = _time.GetTimestamp();
        using (ExecutionContext.SuppressFlow())
        {
            _timer = _time.CreateTimer(
                static state => ((PoolRounds)state!).OnTimer(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
    }

    /// <summary>The number of decisions.</summary>
    internal long Rounds => Volatile.Read(ref _rounds);

    /// <summary>Between start and stop.</summary>
    internal bool IsRunning { get; private set; }

    /// <summary>What ended the steps.</summary>
    internal Exception? Failure => Volatile.Read(ref _failure);

    /// <summary>Time since the last step.</summary>
    internal TimeSpan SinceStep => _time.GetElapsedTime(Volatile.Read(ref _lastStep));

    // Early, so that the pool is measured while the silo starts, and given back when all else has stopped.
    public void Participate(ISiloLifecycle lifecycle) =>
        lifecycle.Subscribe(nameof(PoolRounds), ServiceLifecycleStage.RuntimeInitialize, Start, Stop);

    private Task Start(CancellationToken cancellation)
    {
        Volatile.Write(ref _lastStep, _time.GetTimestamp());
        IsRunning = true;
        if (_spin.Limit is { } limit)
            _log.Spins(limit);
        else if (_spin.IsLate)
            _log.SpinsAsBefore();
        _timer.Change(TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        return Task.CompletedTask;
    }

    private Task Stop(CancellationToken cancellation)
    {
        IsRunning = false;
        _timer.Dispose();
        try
        {
            _size.Close();
        }
        catch (Exception exception)
        {
            _log.NotGivenBack(exception);
        }

        return Task.CompletedTask;
    }

    private void OnTimer()
    {
        try
        {
            var next = Step();
            Volatile.Write(ref _lastStep, _time.GetTimestamp());
            _timer.Change(next, Timeout.InfiniteTimeSpan);
        }
        catch (Exception exception)
        {
            Fail(exception);
        }
    }

    /// <summary>Nothing may leave this: it would end the process. A logger that throws as well is left alone.</summary>
    private void Fail(Exception exception)
    {
        Volatile.Write(ref _failure, exception);
        Quietly(static rounds => rounds._size.Close());
        _metrics.Status = null;
        Quietly(static rounds => rounds._metrics.Failed());
        Quietly(static rounds => rounds._log.SwitchedOff(rounds._failure!));
    }

    private void Quietly(Action<PoolRounds> act)
    {
        try
        {
            act(this);
        }
        catch (Exception exception)
        {
            // The first failure is the one that is told.
            Volatile.Write(ref _failure, new AggregateException(_failure!, exception));
        }
    }

    /// <returns>The time until the next step.</returns>
    private TimeSpan Step()
    {
        if (_monitor.CurrentValue.Enabled == _isOff)
            Switch();
        if (_isOff || !TryTake())
            return OffInterval;
        _controller ??= Begin();
        var now = _time.GetTimestamp();
        Sample(_controller, _time.GetElapsedTime(_lastSample, now).TotalSeconds);
        _lastSample = now;
        if (_controller.IsDue)
            Decide(_controller);
        return _controller.IsIdle ? IdleInterval : BusyInterval;
    }

    private void Switch()
    {
        _isOff = !_isOff;
        if (_isOff && _controller is not null)
        {
            _size.GiveBack();
            _past += _controller.Sums;
            _controller.Dispose();
            _controller = null;
            _metrics.Status = null;
        }

        _log.Switched(_isOff ? "off" : "on");
    }

    private bool TryTake()
    {
        if (_size.TryTake())
            return true;
        if (!_isLeftToAnother)
            _log.LeftToAnother();
        _isLeftToAnother = true;
        return false;
    }

    private PoolController Begin()
    {
        _knowsReady = _pool.TakeTimes() is not null;
        _processTime = _pool.ProcessTime();
        _lastSample = _time.GetTimestamp();
        var controller = new PoolController(_options, _processors, _size.Floor, _knowsReady);
        _log.Began(_processors, controller.SourceName, _size.Floor);
        return controller;
    }

    /// <summary>A look at the pool never blocks: where the system tells no ready times, its times are what the estimate needs.</summary>
    private void Sample(PoolController controller, double seconds)
    {
        if (_knowsReady)
        {
            controller.Sample(_pool.Read(), seconds);
            return;
        }

        var begin = ThreadClock.Begin();
        controller.Sample(_pool.Read(), seconds);
        var end = ThreadClock.End();
        _probe += new BusyTime(1, end.Wall - begin.Wall, end.Cpu - begin.Cpu, 0);
    }

    private void Decide(PoolController controller)
    {
        var before = _size.Threads;
        var decision = controller.Decide(TakeTimes(), _probe, before);
        var threads = _size.Set(decision.Threads, _options.SetMaximum);
        if (threads != before)
            _changes++;
        _metrics.Status = new PoolStatus(threads, controller.Queued, _changes, _past + controller.Sums);
        Volatile.Write(ref _rounds, _rounds + 1);
        _log.Round(_rounds, threads, decision.Reason);
        if (threads != before)
            _log.Sized(before, threads, decision.Reason);
    }

    private RunTimes TakeTimes()
    {
        if (_knowsReady)
            return _pool.TakeTimes() ?? throw new InvalidOperationException("The system has ceased to tell the times of threads.");
        // Of the whole process: its pool has the most of it.
        var (last, now) = (_processTime, _pool.ProcessTime());
        _processTime = now;
        return new RunTimes(now - last, 0, Active: -1);
    }
}
