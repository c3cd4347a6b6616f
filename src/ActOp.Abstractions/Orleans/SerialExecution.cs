using ActOp;

namespace Orleans;

/// <summary>Runs functions one after the other, in the order in which they were given.</summary>
/// <remarks>Any thread. A failure goes to the task of its own function; the next one runs.</remarks>
/// <typeparam name="TResult">What the functions return.</typeparam>
public class AsyncSerialExecutor<TResult>
{
    private readonly Lock _gate = new();
    private Task _last = Task.CompletedTask;

    /// <summary>Runs the function when those before it have ended.</summary>
    public Task<TResult> AddNext(Func<Task<TResult>> func)
    {
        ArgumentNullException.ThrowIfNull(func);
        lock (_gate)
        {
            var next = RunAfter(_last, func);
            _last = next;
            return next;
        }
    }

    private static async Task<TResult> RunAfter(Task before, Func<Task<TResult>> func)
    {
        await before.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext
            | ConfigureAwaitOptions.ForceYielding);
        return await func().ConfigureAwait(true);
    }
}

/// <summary>Runs functions one after the other, in the order in which they were given.</summary>
public class AsyncSerialExecutor
{
    private readonly AsyncSerialExecutor<bool> _inner = new();

    /// <summary>Runs the function when those before it have ended.</summary>
    public Task AddNext(Func<Task> func)
    {
        ArgumentNullException.ThrowIfNull(func);
        return _inner.AddNext(async () =>
        {
            await func().ConfigureAwait(true);
            return true;
        });
    }
}

/// <summary>
/// Work that is done by one worker at a time, however often it is asked for: requests that come while it works are served together by the
/// next round.
/// </summary>
/// <remarks>
/// Any thread; a round runs on the scheduler of whoever asked first. A round that throws fails the tasks of those who wait for it; the next
/// request begins another. After the cancellation no round begins.
/// </remarks>
public abstract class BatchWorker
{
    private readonly Lock _gate = new();
    private Task? _current;
    private TaskCompletionSource? _next;
    private DateTime? _due;

    /// <summary>Ends the worker.</summary>
    protected CancellationToken CancellationToken { get; set; }

    /// <summary>Whether no round runs.</summary>
    public bool IsIdle()
    {
        lock (_gate)
            return _current is null;
    }

    /// <summary>There is work: begins a round, or another one after the running one.</summary>
    public void Notify() => Ask();

    /// <summary>There will be work at this time.</summary>
    public void Notify(DateTime utcTime)
    {
        var delay = utcTime - TimeProvider.System.GetUtcNow().UtcDateTime;
        if (delay <= TimeSpan.Zero)
        {
            Notify();
            return;
        }

        lock (_gate)
        {
            if (_due <= utcTime)
                return;
            _due = utcTime;
        }

        NotifyLater(utcTime, delay).Ignore();
    }

    /// <summary>Waits for the round that runs, if there is one.</summary>
    public Task WaitForCurrentWorkToBeServiced()
    {
        lock (_gate)
            return _next?.Task ?? _current ?? Task.CompletedTask;
    }

    /// <summary>There is work: waits until it has been done.</summary>
    public Task NotifyAndWaitForWorkToBeServiced() => Ask();

    /// <summary>One round.</summary>
    protected abstract Task Work();

    private Task Ask()
    {
        lock (_gate)
        {
            if (CancellationToken.IsCancellationRequested)
                return Task.FromCanceled(CancellationToken);
            if (_current is not null)
                return (_next ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;
            Invariant.Holds(_next is null);
            var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _current = done.Task;
            Round(done).Ignore();
            return done.Task;
        }
    }

    private async Task Round(TaskCompletionSource done)
    {
        // Not under the lock of whoever asked.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding | ConfigureAwaitOptions.ContinueOnCapturedContext);
        while (true)
        {
            Exception? failure = null;
            try
            {
                await Work().ConfigureAwait(true);
            }
            catch (Exception exception)
            {
                failure = exception;
            }

            TaskCompletionSource? next;
            lock (_gate)
            {
                Invariant.Holds(_current == done.Task);
                next = _next;
                _next = null;
                _current = next?.Task;
            }

            if (failure is null)
                done.TrySetResult();
            else
                done.TrySetException(failure);
            if (next is null)
                return;
            done = next;
        }
    }

    private async Task NotifyLater(DateTime utcTime, TimeSpan delay)
    {
        await Task.Delay(delay, TimeProvider.System, CancellationToken).ConfigureAwait(true);
        lock (_gate)
        {
            if (_due != utcTime)
                return;
            _due = null;
        }

        Notify();
    }
}

/// <summary>A <see cref="BatchWorker"/> whose round is a method.</summary>
public class BatchWorkerFromDelegate : BatchWorker
{
    private readonly Func<Task> _work;

    /// <summary>Creates the worker.</summary>
    public BatchWorkerFromDelegate(Func<Task> work, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(work);
        _work = work;
        CancellationToken = cancellationToken;
    }

    /// <inheritdoc/>
    protected override Task Work() => _work();
}

/// <summary>What to do with tasks that nobody awaits.</summary>
public static class PublicOrleansTaskExtensions
{
    /// <summary>Whatever becomes of the task is of no interest: its exception is observed and dropped.</summary>
    public static void Ignore(this Task task)
    {
        ArgumentNullException.ThrowIfNull(task);
        if (!task.IsCompletedSuccessfully)
        {
            task.ContinueWith(static ended => _ = ended.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted
                | TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        }
    }
}

/// <summary>A hash that is the same in every process and on every machine.</summary>
public static class StableHash
{
    /// <summary>The hash of bytes.</summary>
    public static uint ComputeHash(ReadOnlySpan<byte> data) => ActOp.Wire.StableHash.HashOf(data);

    /// <summary>The hash of a text in UTF-8.</summary>
    public static uint ComputeHash(string data) => ActOp.Wire.StableHash.HashOf(System.Text.Encoding.UTF8.GetBytes(data));

    internal static uint HashOf(ReadOnlySpan<byte> bytes, uint seed = 0) => ActOp.Wire.StableHash.HashOf(bytes, seed);

    internal static uint Join(uint first, uint second) => ActOp.Wire.StableHash.Join(first, second);
}
