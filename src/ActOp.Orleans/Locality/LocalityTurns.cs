using System.Threading.Channels;
using Microsoft.Extensions.Logging;

namespace ActOp.Orleans.Locality;

/// <summary>
/// Runs the steps of locality one after the other, on the thread pool. What a step throws is logged and counted, and the next step runs.
/// </summary>
/// <remarks>
/// Any thread may post. Nothing waits for a step. The queue is limited: what does not fit is dropped and counted; the protocol repeats its
/// messages, and timers come again. After <see cref="StopAsync"/> no step runs, and what was followed has ended or has been given up.
/// </remarks>
internal sealed class LocalityTurns(TimeProvider time, LocalityMetrics metrics, ILogger log)
{
    private const int Capacity = 10_000;

    /// <summary>Failures that are logged; later ones are only counted.</summary>
    private const int MaxLogged = 20;

    private static readonly TimeSpan StopTime = TimeSpan.FromSeconds(5);

    private readonly Channel<Action> _steps = Channel.CreateBounded<Action>(new BoundedChannelOptions(Capacity) { SingleReader = true });
    private readonly List<ITimer> _timers = [];
    private readonly HashSet<Task> _followed = [];
    private Task _running = Task.CompletedTask;
    private int _failures;

    internal int Failures => Volatile.Read(ref _failures);

    internal void Start()
    {
        // What the caller's context holds, such as the request context of Orleans, is not that of the steps.
        using (ExecutionContext.SuppressFlow())
            _running = RunAsync();
    }

    /// <summary>Queues a step; false if it was dropped.</summary>
    internal bool Post(Action step)
    {
        if (_steps.Writer.TryWrite(step))
            return true;
        metrics.Lost("full");
        return false;
    }

    /// <summary>Queues a step each period; while one is queued, no second one.</summary>
    internal void Every(TimeSpan period, Action step)
    {
        var isQueued = 0;
        Action once = () =>
        {
            Volatile.Write(ref isQueued, 0);
            step();
        };
        using (ExecutionContext.SuppressFlow())
        {
            _timers.Add(time.CreateTimer(
                _ =>
                {
                    if (Interlocked.Exchange(ref isQueued, 1) == 0 && !Post(once))
                        Volatile.Write(ref isQueued, 0);
                },
                null, period, period));
        }
    }

    /// <summary>A step that runs when the returned timer is set.</summary>
    internal ITimer Later(TimeSpan due, Action step)
    {
        using (ExecutionContext.SuppressFlow())
        {
            var timer = time.CreateTimer(_ => Post(step), null, due, Timeout.InfiniteTimeSpan);
            _timers.Add(timer);
            return timer;
        }
    }

    /// <summary>Watches a task that no step waits for: what it throws is logged and counted.</summary>
    internal void Follow(Task task, string part)
    {
        if (task.IsCompletedSuccessfully)
            return;
        lock (_followed)
            _followed.Add(task);
        task.ContinueWith(
            ended =>
            {
                lock (_followed)
                    _followed.Remove(ended);
                if (ended.Exception is { } exception)
                    Failed(part, exception.GetBaseException());
            },
            CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
    }

    internal async Task StopAsync()
    {
        foreach (var timer in _timers)
            await timer.DisposeAsync();
        _steps.Writer.TryComplete();
        Task[] followed;
        lock (_followed)
            followed = [.. _followed];
        await Task.WhenAll([_running, .. followed]).WaitAsync(StopTime, time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    private async Task RunAsync()
    {
        await foreach (var step in _steps.Reader.ReadAllAsync().ConfigureAwait(false))
        {
            try
            {
                step();
            }
            catch (Exception exception)
            {
                Failed("a step", exception);
            }
        }
    }

    private void Failed(string part, Exception exception)
    {
        metrics.StepFailed();
        if (Interlocked.Increment(ref _failures) <= MaxLogged)
            log.StepFailed(part, exception);
    }
}
