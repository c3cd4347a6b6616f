using ActOp.Calls;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Foundation;

/// <summary>Runs its observers by stage: ascending at start, descending at stop. One thread at a time.</summary>
/// <remarks>
/// An observer of a host that does not end although its token was cancelled is left behind after <see cref="Grace"/>, by an exception that
/// names it: it keeps neither the start nor the stop of the others. Steps of the runtime (<see cref="NodeStep"/>) have limits of their own.
/// </remarks>
internal class StagedLifecycle : ILifecycleSubject
{
    /// <summary>For what an observer does when its token is cancelled.</summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(5);

    private List<(int Stage, string Name, ILifecycleObserver Observer)>? _observers;

    /// <summary>For the time that observers get; null if whoever starts and stops this has a limit of its own.</summary>
    internal TimeProvider? Time { get; init; }

    /// <summary>The highest stage whose observers have all started.</summary>
    internal int HighestCompletedStage { get; private set; } = int.MinValue;

    /// <summary>The lowest stage whose observers have all stopped.</summary>
    internal int LowestStoppedStage { get; private set; } = int.MaxValue;

    public IDisposable Subscribe(string observerName, int stage, ILifecycleObserver observer)
    {
        ArgumentNullException.ThrowIfNull(observer);
        var entry = (stage, observerName, observer);
        _observers ??= [];
        lock (_observers)
            _observers.Add(entry);
        return new Subscription(() =>
        {
            lock (_observers)
                _observers.Remove(entry);
        });
    }

    /// <summary>Starts every observer; those of one stage together. An exception stops the start.</summary>
    public Task OnStart(CancellationToken cancellationToken = default) =>
        _observers is null ? Task.CompletedTask : StartAsync(cancellationToken);

    /// <summary>Stops the observers of the stages that were started; exceptions of one do not prevent the others from stopping.</summary>
    public Task OnStop(CancellationToken cancellationToken = default) =>
        _observers is null ? Task.CompletedTask : StopAsync(cancellationToken);

    private async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var stage in Snapshot().GroupBy(entry => entry.Stage).OrderBy(group => group.Key))
        {
            cancellationToken.ThrowIfCancellationRequested();
            HighestStartedStage = stage.Key;
            await Task.WhenAll(stage.Select(entry => StartAsync(entry.Name, entry.Observer, cancellationToken)));
            HighestCompletedStage = stage.Key;
        }
    }

    /// <summary>Turns synchronous exceptions into a failed task, so that the other observers of the stage are awaited.</summary>
    private async Task StartAsync(string name, ILifecycleObserver observer, CancellationToken cancellationToken) =>
        await LimitedAsync(name, observer, Given.Task(observer.OnStart(cancellationToken)), cancellationToken);

    private Task LimitedAsync(string name, ILifecycleObserver observer, Task step, CancellationToken cancellationToken) =>
        Time is null || observer is NodeStep || step.IsCompleted || !cancellationToken.CanBeCanceled
            ? step : LimitedAsync(name, Time, step, cancellationToken);

    private static async Task LimitedAsync(string name, TimeProvider time, Task step, CancellationToken cancellationToken)
    {
        await step.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!step.IsCompleted)
            await step.WaitAsync(Grace, time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!step.IsCompleted)
        {
            throw new TimeoutException("The lifecycle observer " + name + " has not ended within " + Grace
                + " after its token was cancelled. It is left behind.");
        }

        await step.ConfigureAwait(false);
    }

    private int HighestStartedStage { get; set; } = int.MinValue;

    private async Task StopAsync(CancellationToken cancellationToken)
    {
        List<Exception>? errors = null;
        foreach (var stage in Snapshot().Where(entry => entry.Stage <= HighestStartedStage).GroupBy(entry =>
            entry.Stage).OrderByDescending(group => group.Key))
        {
            foreach (var entry in stage)
            {
                try
                {
                    await LimitedAsync(
                        entry.Name, entry.Observer, Given.Task(entry.Observer.OnStop(cancellationToken)), cancellationToken);
                }
                catch (Exception exception)
                {
                    (errors ??= []).Add(exception);
                }
            }

            LowestStoppedStage = stage.Key;
        }

        if (errors is not null)
            throw new AggregateException(errors);
    }

    private List<(int Stage, string Name, ILifecycleObserver Observer)> Snapshot()
    {
        lock (_observers!)
            return [.. _observers];
    }

    private sealed class Subscription(Action dispose) : IDisposable
    {
        public void Dispose() => dispose();
    }
}

/// <summary>The stages of a silo's start and stop.</summary>
internal sealed class SiloLifecycle : StagedLifecycle, ISiloLifecycle
{
    int ISiloLifecycle.HighestCompletedStage => HighestCompletedStage;

    int ISiloLifecycle.LowestStoppedStage => LowestStoppedStage;
}

/// <summary>The stages of a client's start and stop.</summary>
internal sealed class ClientLifecycle : StagedLifecycle, IClusterClientLifecycle;

/// <summary>Tells the application that the silo or client has started, begins to end, and has ended.</summary>
/// <remarks>
/// Joins the last stage of the lifecycle, and the first one for the end. If the start fails, <see cref="Stopping"/> comes with the end of
/// the first stage, right before <see cref="Stopped"/>. Any thread; see <see cref="ServiceMoment"/>.
/// </remarks>
internal sealed class ServiceMoments<TLifecycle>(Lazy<BackgroundPart> late, ILogger logger)
    : IServiceLifecycle, ILifecycleParticipant<TLifecycle>
    where TLifecycle : ILifecycleObservable
{
    private readonly ServiceMoment _started = new(nameof(Started), late, logger);
    private readonly ServiceMoment _stopping = new(nameof(Stopping), late, logger);
    private readonly ServiceMoment _stopped = new(nameof(Stopped), late, logger);

    public IServiceLifecycleStage Started => _started;

    public IServiceLifecycleStage Stopping => _stopping;

    public IServiceLifecycleStage Stopped => _stopped;

    public void Participate(TLifecycle lifecycle)
    {
        lifecycle.Subscribe(nameof(IServiceLifecycle), ServiceLifecycleStage.Last, _started.ComeAsync, _stopping.ComeAsync);
        lifecycle.Subscribe(nameof(IServiceLifecycle), ServiceLifecycleStage.First, static _ => Task.CompletedTask, EndAsync);
    }

    private async Task EndAsync(CancellationToken cancellationToken)
    {
        try
        {
            await _stopping.ComeAsync(cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            await _stopped.ComeAsync(cancellationToken).ConfigureAwait(false);
        }
    }
}

/// <summary>One moment of <see cref="ServiceMoments{TLifecycle}"/>.</summary>
/// <remarks>
/// Any thread. Holds the callbacks until the moment has come; then it holds nothing but that it has. The callbacks run at the same time;
/// the start or the end waits for all of them, as long as they take. A callback that throws does not prevent the others: its exception is
/// that of the start or the end, or is logged if it was registered so. A moment comes once, however often it is told.
/// </remarks>
/// <param name="name">For the log.</param>
/// <param name="late">Runs the callbacks that are registered after the moment.</param>
/// <param name="logger">Gets the exceptions that end nothing.</param>
internal sealed class ServiceMoment(string name, Lazy<BackgroundPart> late, ILogger logger) : IServiceLifecycleStage
{
    private readonly Lock _gate = new();
    private readonly CancellationTokenSource _over = new();
    private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private List<Callback>? _callbacks = [];
    private Task? _coming;

    public CancellationToken Token => _over.Token;

    public IDisposable Register(Func<object?, CancellationToken, Task> callback, object? state = null, bool terminateOnError = true)
    {
        ArgumentNullException.ThrowIfNull(callback);
        var registered = new Callback(this, callback, state, terminateOnError);
        lock (_gate)
        {
            if (_callbacks is not null)
            {
                _callbacks.Add(registered);
                return registered;
            }
        }

        late.Value.Run(registered.RunAsync);
        return registered;
    }

    public Task WaitAsync(CancellationToken cancellationToken = default) => _done.Task.WaitAsync(cancellationToken);

    /// <summary>The moment has come. Ends when the callbacks have ended.</summary>
    internal Task ComeAsync(CancellationToken cancellationToken)
    {
        List<Callback> callbacks;
        lock (_gate)
        {
            if (_callbacks is null)
                return _coming ?? _done.Task;
            (callbacks, _callbacks) = (_callbacks, null);
        }

        return _coming = RunAsync(callbacks, cancellationToken);
    }

    private async Task RunAsync(List<Callback> callbacks, CancellationToken cancellationToken)
    {
        try
        {
            var all = Task.WhenAll(callbacks.Select(one => one.RunAsync(cancellationToken)));
            await all.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (all.Exception is { InnerExceptions: { Count: > 1 } many })
                throw new AggregateException(many);
            await all.ConfigureAwait(false);
        }
        finally
        {
            _done.TrySetResult();
            await _over.CancelAsync().ConfigureAwait(false);
        }
    }

    private sealed class Callback(ServiceMoment moment, Func<object?, CancellationToken, Task> callback, object? state, bool ends)
        : IDisposable
    {
        public void Dispose()
        {
            lock (moment._gate)
                moment._callbacks?.Remove(this);
        }

        internal async Task RunAsync(CancellationToken cancellationToken)
        {
            try
            {
                await callback(state, cancellationToken).ConfigureAwait(false);
            }
            catch (Exception exception) when (!ends)
            {
                ServiceMomentLog.CallbackFailed(moment.Logger, moment.Name, exception);
            }
        }
    }

    private ILogger Logger => logger;

    private string Name => name;
}

/// <summary>What the log says about callbacks of <see cref="IServiceLifecycle"/>.</summary>
internal static partial class ServiceMomentLog
{
    [LoggerMessage(1350, LogLevel.Error, "A callback of IServiceLifecycle.{Moment} failed.")]
    internal static partial void CallbackFailed(ILogger logger, string moment, Exception exception);
}

/// <summary>A step of the node in its lifecycle. Continuations are application code and run on the thread pool.</summary>
internal sealed class NodeStep(Func<CancellationToken, Task> start, Func<CancellationToken, Task> stop) : Orleans.ILifecycleObserver
{
    public Task OnStart(CancellationToken cancellationToken = default) => OnPoolAsync(start(cancellationToken));

    public Task OnStop(CancellationToken cancellationToken = default) => OnPoolAsync(stop(cancellationToken));

    /// <summary>Waits for a step and continues on the thread pool.</summary>
    internal static async Task OnPoolAsync(Task step)
    {
        await step.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        await step.ConfigureAwait(false);
    }
}
