using ActOp.Calls;

namespace ActOp.Foundation;

/// <summary>
/// Calls code of the application that does not belong to a turn, and whose answer the runtime needs: on the thread pool, for a limited
/// time.
/// </summary>
/// <remarks>
/// Any thread; holds nothing. What it throws, the caller gets. What takes longer than the limit is left behind, with a thread of the pool
/// if it blocks, and the caller gets a <see cref="TimeoutException"/> that names it. A late failure is observed and dropped.
/// </remarks>
internal static class PoolStep
{
    /// <summary>Runs <paramref name="step"/>.</summary>
    /// <param name="name">What is called, as in "Acquire of the lease provider X".</param>
    /// <param name="limit">How long it may take.</param>
    /// <param name="time">Measures the limit.</param>
    /// <param name="step">May return null, which is a failure.</param>
    internal static async Task<T> RunAsync<T>(string name, TimeSpan limit, TaskTime time, Func<Task<T>> step)
    {
        var running = OnPoolAsync(name, step);
        Task ended = running;
        await ended.WaitAsync(limit, time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (running.IsCompleted)
            return await running.ConfigureAwait(false);
        Observe(running);
        throw new TimeoutException(name + " has not ended within " + limit + ".");
    }

    /// <inheritdoc cref="RunAsync{T}"/>
    internal static Task RunAsync(string name, TimeSpan limit, TaskTime time, Func<Task> step) => RunAsync(name, limit, time, async () =>
    {
        await Given.Task(step(), name).ConfigureAwait(false);
        return true;
    });

    /// <summary>Runs a step that nobody waits for, not even the stop. It must handle its exceptions.</summary>
    internal static void Begin(Action step) => Observe(OnPoolAsync(nameof(Begin), () =>
    {
        step();
        return Task.FromResult(true);
    }));

    private static async Task<T> OnPoolAsync<T>(string name, Func<Task<T>> step)
    {
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        return await Given.Task(step(), name).ConfigureAwait(false);
    }

    private static void Observe(Task late) => late.ContinueWith(
        static task => task.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Default);
}

/// <summary>Tells one listener of the application, in order and one call at a time, on the thread pool.</summary>
/// <remarks>
/// Any thread. A listener that throws is logged, and is told what comes next. One that hangs holds one thread of the pool; others are told,
/// and the node stops. What waits for it is limited: then the oldest is left out.
/// </remarks>
/// <param name="tell">Calls the listener.</param>
/// <param name="failed">Logs what it throws.</param>
internal sealed class ListenerQueue<T>(Action<T> tell, Action<Exception> failed)
{
    private const int Most = 1024;

    private readonly Queue<T> _waiting = new();
    private bool _tells;

    internal void Tell(T what)
    {
        lock (_waiting)
        {
            if (_waiting.Count == Most)
                _waiting.Dequeue();
            _waiting.Enqueue(what);
            if (_tells)
                return;
            _tells = true;
        }

        PoolStep.Begin(TellAll);
    }

    private void TellAll()
    {
        while (TryTake(out var next))
        {
            try
            {
                tell(next);
            }
            catch (Exception exception)
            {
                failed(exception);
            }
        }
    }

    private bool TryTake(out T next)
    {
        lock (_waiting)
        {
            _tells = _waiting.TryDequeue(out next!);
            return _tells;
        }
    }
}

/// <summary>Counts failures of one kind, so that the log has the first three and each thousandth. One thread, or racy.</summary>
internal sealed class FailureCount
{
    private long _count;

    /// <summary>Of attempts with pauses between them.</summary>
    internal static bool IsTold(long failures) => failures <= 3 || failures % 100 == 0;

    /// <summary>Counts one more. True if it is to be logged.</summary>
    internal bool IsTold(out long count) => (count = ++_count) <= 3 || count % 1000 == 0;
}
