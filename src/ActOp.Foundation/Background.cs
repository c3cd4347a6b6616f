using ActOp.Staging;

namespace ActOp.Foundation;

/// <summary>
/// Supervises work without a caller. Each failure is logged with the name of the part; the part then continues.
/// </summary>
/// <remarks>
/// Belongs to the node, which stops it. Owns the timers of its parts, their cancellation token and the count of running work. Any thread.
/// Each service creates one part with its name (<see cref="Part"/>).
/// </remarks>
/// <param name="time">For steps that only post: <see cref="LocalNode.Time"/>.</param>
/// <param name="taskTime">For pauses, and steps that do more: <see cref="LocalNode.TaskTime"/>.</param>
/// <param name="log">Gets the failures.</param>
internal sealed class Background(NodeTime time, TaskTime taskTime, Log log)
{
    private readonly CancellationTokenSource _stopping = new();
    private readonly List<BackgroundPart> _parts = [];
    private TaskCompletionSource? _idle;
    private int _running;

    /// <summary>Cancelled when the node stops.</summary>
    internal CancellationToken Stopping => _stopping.Token;

    internal NodeTime Time => time;

    internal TaskTime TaskTime => taskTime;

    internal Log Log => log;

    /// <summary>The parts with running work and its count, as text; empty if there is none.</summary>
    internal string Running
    {
        get
        {
            lock (_parts)
            {
                return string.Join(", ", _parts.Where(static part => part.Running > 0).Select(static part => part.Name + " (" + part.Running
                    + ")"));
            }
        }
    }

    internal BackgroundPart Part(string name)
    {
        var part = new BackgroundPart(this, name);
        lock (_parts)
            _parts.Add(part);
        return part;
    }

    /// <summary>Cancels running work and stops the timers. <see cref="StopAsync"/> waits until the work ends.</summary>
    internal void Cancel()
    {
        BackgroundPart[] parts;
        lock (_parts)
            parts = [.. _parts];
        foreach (var part in parts)
            part.StopTimers();
        try
        {
            _stopping.Cancel();
        }
        catch (AggregateException exception)
        {
            log.BackgroundFailed("stop", exception);
        }
    }

    /// <summary>Cancels running work and waits until it ends or the token is cancelled. Work that is left is logged.</summary>
    internal async Task StopAsync(CancellationToken cancellationToken)
    {
        Cancel();
        await IdleAsync().WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (Running is { Length: > 0 } running)
            log.BackgroundLeft(running);
    }

    internal void Begin() => Interlocked.Increment(ref _running);

    internal void End()
    {
        // While the node runs, no stop waits for this.
        if (Interlocked.Decrement(ref _running) > 0 || !_stopping.IsCancellationRequested)
            return;
        lock (_parts)
        {
            if (Volatile.Read(ref _running) > 0)
                return;
            Invariant.Holds(_running >= 0);
            _idle?.TrySetResult();
            _idle = null;
        }
    }

    /// <summary>Completes when no work runs. Set after the cancellation; <see cref="End"/> checks it after it has counted.</summary>
    private Task IdleAsync()
    {
        lock (_parts)
        {
            return Volatile.Read(ref _running) == 0
                ? Task.CompletedTask
                : (_idle ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;
        }
    }
}

/// <summary>The background work of one part of a node, under the part's name. See <see cref="Background"/>.</summary>
internal sealed class BackgroundPart(Background background, string name)
{
    private readonly Background _background = background;
    private readonly List<Tick> _ticks = [];
    private int _running;
    private bool _stopped;

    internal string Name => name;

    /// <summary>Tasks and steps under way.</summary>
    internal int Running => Volatile.Read(ref _running);

    /// <summary>Cancelled when the node stops.</summary>
    internal CancellationToken Stopping => _background.Stopping;

    /// <summary>Observes a task that is not awaited: its failure is logged. Costs nothing if the task has already succeeded.</summary>
    internal void Follow(Task task)
    {
        if (!task.IsCompletedSuccessfully)
            Discard(FollowAsync(task));
    }

    /// <inheritdoc cref="Follow(Task)"/>
    internal void Follow(ValueTask task)
    {
        if (task.IsCompletedSuccessfully)
            task.GetAwaiter().GetResult();
        else
            Discard(FollowAsync(task.AsTask()));
    }

    /// <summary>Runs a step synchronously. Its exceptions are logged.</summary>
    internal void Do(Action step)
    {
        Begin();
        try
        {
            step();
        }
        catch (Exception exception)
        {
            Failed(exception);
        }
        finally
        {
            End();
        }
    }

    /// <summary>Starts <paramref name="work"/> synchronously and observes it. Its exceptions are logged.</summary>
    /// <param name="work">Given <see cref="Stopping"/>.</param>
    internal void Run(Func<CancellationToken, Task> work) => Do(() => Follow(work(Stopping)));

    /// <summary>
    /// Calls <paramref name="step"/> every <paramref name="period"/> on the thread of all timers, so it must only post. Its exceptions are
    /// logged, and the timer continues. Ends when the result is disposed or the node stops.
    /// </summary>
    internal ITimer Every(TimeSpan period, Action step) => new Tick(this, _background.Time.CreateTimer, period, step);

    /// <summary>
    /// As <see cref="Every(TimeSpan,Action)"/>, on the thread pool and with an asynchronous step. Periods that elapse while the step runs
    /// are skipped.
    /// </summary>
    internal ITimer Every(TimeSpan period, Func<CancellationToken, Task> step)
    {
        var busy = 0;
        return new Tick(this, _background.TaskTime.CreateTimer, period, () =>
        {
            if (Interlocked.Exchange(ref busy, 1) == 0)
                Run(StepAsync);
        });

        async Task StepAsync(CancellationToken stopping)
        {
            try
            {
                await step(stopping).ConfigureAwait(false);
            }
            finally
            {
                Volatile.Write(ref busy, 0);
            }
        }
    }

    internal void StopTimers()
    {
        Tick[] ticks;
        lock (_ticks)
        {
            _stopped = true;
            ticks = [.. _ticks];
        }

        foreach (var tick in ticks)
            tick.Dispose();
    }

    /// <summary>The only discarded task: <see cref="FollowAsync"/> does not fail.</summary>
    private static void Discard(Task followed) => _ = followed;

    private async Task FollowAsync(Task task)
    {
        Begin();
        try
        {
            await task.ConfigureAwait(false);
        }
        catch (Exception exception)
        {
            Failed(exception);
        }
        finally
        {
            End();
        }
    }

    private void Failed(Exception exception)
    {
        // A cancellation by the stop of the node is not a failure.
        if (!(exception is OperationCanceledException && Stopping.IsCancellationRequested))
            _background.Log.BackgroundFailed(name, exception);
    }

    private void Begin()
    {
        Interlocked.Increment(ref _running);
        _background.Begin();
    }

    private void End()
    {
        Interlocked.Decrement(ref _running);
        _background.End();
        Invariant.Holds(_running >= 0);
    }

    private sealed class Tick : ITimer
    {
        private readonly BackgroundPart _part;
        private readonly Action _step;
        private readonly ITimer _timer;

        internal Tick(
            BackgroundPart part, Func<TimerCallback, object?, TimeSpan, TimeSpan, ITimer> create, TimeSpan period, Action step)
        {
            _part = part;
            _step = step;
            _timer = create(static tick => ((Tick)tick!).Run(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            lock (part._ticks)
            {
                if (part._stopped)
                {
                    _timer.Dispose();
                    return;
                }

                part._ticks.Add(this);
            }

            _timer.Change(period, period);
        }

        public bool Change(TimeSpan dueTime, TimeSpan period) => _timer.Change(dueTime, period);

        public void Dispose()
        {
            _timer.Dispose();
            lock (_part._ticks)
                _part._ticks.Remove(this);
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return default;
        }

        private void Run()
        {
            if (!_part.Stopping.IsCancellationRequested)
                _part.Do(_step);
        }
    }
}

/// <summary>A step of the runtime as an item of a stage.</summary>
internal sealed class StageAction(Action action) : IStageItem
{
    public void Execute() => action();
}
