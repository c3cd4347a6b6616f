namespace Orleans.Internal;

/// <summary>Repeats functions that fail.</summary>
public static class AsyncExecutorWithRetries
{
    /// <summary>No limit.</summary>
    public static readonly int INFINITE_RETRIES = -1;

    /// <inheritdoc cref="ExecuteWithRetries{T}(Func{int, Task{T}}, int, int, Func{T, int, bool}, Func{Exception, int, bool}, TimeSpan,
    /// IBackoffProvider, IBackoffProvider, CancellationToken)"/>
    public static Task ExecuteWithRetries(Func<int, Task> action, int maxNumErrorTries, Func<Exception, int, bool>? retryExceptionFilter,
        TimeSpan maxExecutionTime, IBackoffProvider? onErrorBackOff) =>
        ExecuteWithRetries(
            async attempt =>
            {
                await action(attempt).ConfigureAwait(true);
                return true;
            },
            maxNumErrorTries, retryExceptionFilter, maxExecutionTime, onErrorBackOff);

    /// <inheritdoc cref="ExecuteWithRetries{T}(Func{int, Task{T}}, int, int, Func{T, int, bool}, Func{Exception, int, bool}, TimeSpan,
    /// IBackoffProvider, IBackoffProvider, CancellationToken)"/>
    public static Task<T> ExecuteWithRetries<T>(Func<int, Task<T>> function, int maxNumErrorTries,
        Func<Exception, int, bool>? retryExceptionFilter, TimeSpan maxExecutionTime, IBackoffProvider? onErrorBackOff,
        CancellationToken cancellationToken = default) =>
        ExecuteWithRetries(
            function, 0, maxNumErrorTries, null, retryExceptionFilter, maxExecutionTime, null, onErrorBackOff, cancellationToken);

    /// <summary>Runs the function, and again while the filters ask for it.</summary>
    /// <typeparam name="T">What it returns.</typeparam>
    /// <param name="function">Gets the number of the attempt, from 0.</param>
    /// <param name="maxNumSuccessTries">How often it may succeed; <see cref="INFINITE_RETRIES"/> for no limit.</param>
    /// <param name="maxNumErrorTries">How often it may fail; <see cref="INFINITE_RETRIES"/> for no limit.</param>
    /// <param name="retryValueFilter">Whether a result is to be dropped and the function to be repeated; null for never.</param>
    /// <param name="retryExceptionFilter">Whether the function is to be repeated after an exception; null for never.</param>
    /// <param name="maxExecutionTime">For all attempts together; zero or infinite for no limit.</param>
    /// <param name="onSuccessBackOff">The pause after a result that is dropped.</param>
    /// <param name="onErrorBackOff">The pause after an exception.</param>
    /// <param name="cancellationToken">Ends the pauses and the attempts.</param>
    /// <exception cref="TimeoutException">The time was over after a result that is dropped; after an exception, that one is
    /// thrown.</exception>
    public static async Task<T> ExecuteWithRetries<T>(Func<int, Task<T>> function, int maxNumSuccessTries, int maxNumErrorTries,
        Func<T, int, bool>? retryValueFilter, Func<Exception, int, bool>? retryExceptionFilter, TimeSpan maxExecutionTime = default,
        IBackoffProvider? onSuccessBackOff = null, IBackoffProvider? onErrorBackOff = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(function);
        var began = TimeProvider.System.GetTimestamp();
        var (successes, errors) = (0, 0);
        for (var attempt = 0; ; attempt++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            TimeSpan pause;
            try
            {
                var result = await function(attempt).ConfigureAwait(true);
                if (!IsLeft(++successes, maxNumSuccessTries) || retryValueFilter?.Invoke(result, attempt) != true)
                    return result;
                if (IsOver(began, maxExecutionTime))
                    throw new TimeoutException("The time of " + maxExecutionTime + " was over after " + (attempt + 1) + " attempts.");
                pause = onSuccessBackOff?.Next(attempt) ?? TimeSpan.Zero;
            }
            catch (Exception exception)
            {
                if (!IsLeft(++errors, maxNumErrorTries) || retryExceptionFilter?.Invoke(exception, attempt) != true
                    || IsOver(began, maxExecutionTime))
                {
                    throw;
                }

                pause = onErrorBackOff?.Next(attempt) ?? TimeSpan.Zero;
            }

            if (pause > TimeSpan.Zero)
                await Task.Delay(pause, TimeProvider.System, cancellationToken).ConfigureAwait(true);
        }
    }

    private static bool IsLeft(int done, int most) => most == INFINITE_RETRIES || done < most;

    private static bool IsOver(long began, TimeSpan limit) =>
        limit > TimeSpan.Zero && TimeProvider.System.GetElapsedTime(began) >= limit;
}

/// <summary>Says how long to wait before a repetition.</summary>
public interface IBackoffProvider
{
    /// <summary>The time before a repetition.</summary>
    /// <param name="attempt">Its number, from 0.</param>
    TimeSpan Next(int attempt);
}

/// <summary>Always the same time.</summary>
public class FixedBackoff : IBackoffProvider
{
    private readonly TimeSpan _delay;

    /// <summary>Creates the provider.</summary>
    public FixedBackoff(TimeSpan delay) => _delay = delay;

    /// <inheritdoc/>
    public TimeSpan Next(int attempt) => _delay;
}
