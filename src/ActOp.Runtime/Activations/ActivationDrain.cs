using ActOp.Runtime.Hosting;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>Ends the activations of a silo that stops.</summary>
internal sealed class ActivationDrain(LocalNode local, ActivationTable activations, TimeSpan deactivationTimeout)
{
    /// <summary>
    /// Each may ask a directory elsewhere and a store: a silo with a million activations must not do so a million times at once.
    /// </summary>
    internal const int MostEndingAtOnce = 8_192;

    /// <summary>Grains that a line of the log names.</summary>
    private const int MostNamed = 10;

    /// <summary>What an activation may take to end beyond its hooks: the directory, and the scope of its services.</summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Ends the activations and those that come meanwhile. Those that take longer than they may, and those that were not reached before
    /// the token was cancelled, are left behind, and the log says which.
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

/// <summary>Tasks that run at the same time, at most so many; the next one is added when any of them has ended. One thread at a time.</summary>
/// <param name="limit">Tasks at the same time.</param>
/// <param name="patience">The longest wait, for room and for the end of all.</param>
/// <param name="time">For the patience.</param>
/// <param name="cancellationToken">Ends all waiting, as a patience that is over does.</param>
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
        // Half of the room at once: whoever adds is woken once for many.
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
            if (--_running <= _wanted)
                _awaited?.TrySetResult();
        }
    }
}
