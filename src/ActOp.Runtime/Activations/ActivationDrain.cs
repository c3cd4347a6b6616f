using ActOp.Foundation;
using Orleans;

namespace ActOp.Runtime.Activations;

/// <summary>Ends the activations of a silo that stops.</summary>
internal sealed class ActivationDrain(LocalNode local, ActivationTable activations, TimeSpan deactivationTimeout)
{
    /// <summary>
    /// Each may call the directory of another silo and a store: a silo with a million activations must not do so a million times at once.
    /// </summary>
    internal const int MostEndingAtOnce = 8_192;

    /// <summary>Grains that the log line names.</summary>
    private const int MostNamed = 10;

    /// <summary>Time for the end of an activation in addition to its hooks: for the directory and the service scope.</summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Ends the activations, including those created meanwhile. Does not wait for those that exceed their time, nor for those not reached
    /// before the token was cancelled; the log names them.
    /// </summary>
    internal async Task EndAllAsync(CancellationToken cancellationToken)
    {
        var reason = new DeactivationReason(DeactivationReasonCode.ShuttingDown, "The silo shuts down.");
        var patience = deactivationTimeout == Timeout.InfiniteTimeSpan ? deactivationTimeout : deactivationTimeout + Grace;
        var window = new SlidingWindow(MostEndingAtOnce, patience, local.TaskTime, cancellationToken);
        var (found, isInTime) = (true, true);
        while (found && isInTime)
        {
            found = false;
            foreach (var activation in activations)
            {
                if (!activation.Class.IsOrdinary)
                    continue;
                found = true;
                activation.Deactivate(reason, CancellationToken.None);
                isInTime = await window.AddAsync(activation.Deactivated).ConfigureAwait(false);
                if (!isInTime)
                    break;
            }

            isInTime = isInTime && await window.EmptyAsync().ConfigureAwait(false);
        }

        if (!isInTime && activations.Where(static activation => activation.Class.IsOrdinary).ToList() is { Count: > 0 } left)
            local.Log.DrainGivenUp(left.Count, string.Join(", ", left.Take(MostNamed).Select(static activation => activation.GrainId)));
    }
}

/// <summary>
/// Limits the number of tasks that run at the same time. Used by one thread at a time; the gate guards what ending tasks change.
/// </summary>
/// <param name="limit">The highest number of running tasks.</param>
/// <param name="patience">The longest wait for room, and for the end of all.</param>
/// <param name="time">For the waits.</param>
/// <param name="cancellationToken">Ends a wait, as the timeout does.</param>
internal sealed class SlidingWindow(int limit, TimeSpan patience, TimeProvider time, CancellationToken cancellationToken)
{
    private readonly Lock _gate = new();
    private int _running;
    private TaskCompletionSource? _awaited;
    private int _wanted;

    /// <summary>Adds a task, which must not fail, and waits until there is room for another one; false when that took too long.</summary>
    internal ValueTask<bool> AddAsync(Task task)
    {
        if (task.IsCompleted)
            return new ValueTask<bool>(true);
        lock (_gate)
            _running++;
        task.ContinueWith(
            static (_, state) => ((SlidingWindow)state!).OnEnded(),
            this,
            CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default);
        // Waits until half of the tasks have ended, so that the adding thread is woken once for many tasks.
        return Volatile.Read(ref _running) < limit ? new ValueTask<bool>(true) : new ValueTask<bool>(AtMostAsync(limit / 2));
    }

    /// <summary>Waits for all tasks; false when that took too long.</summary>
    internal Task<bool> EmptyAsync() => AtMostAsync(0);

    private async Task<bool> AtMostAsync(int wanted)
    {
        TaskCompletionSource awaited;
        lock (_gate)
        {
            if (_running <= wanted)
                return true;
            (_wanted, _awaited) = (wanted, awaited = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        }

        await awaited.Task.WaitAsync(patience, time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return awaited.Task.IsCompleted;
    }

    private void OnEnded()
    {
        lock (_gate)
        {
            Invariant.Holds(_running > 0);
            if (--_running <= _wanted)
                _awaited?.TrySetResult();
        }
    }
}
