using System.Runtime.CompilerServices;
using ActOp.Testing;
using Microsoft.Extensions.Logging;

namespace Orleans.TestingHost.Utils;

/// <summary>Waiting and logging for tests.</summary>
public static class TestingUtils
{
    private static readonly TimeSpan DefaultDelay = TimeSpan.FromSeconds(1);

    /// <summary>Writes warnings and errors to a file.</summary>
    public static void ConfigureDefaultLoggingBuilder(ILoggingBuilder builder, string filePath)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.AddProvider(new LogLines(filePath));
    }

    /// <summary>A logger factory that writes to a file.</summary>
    public static ILoggerFactory CreateDefaultLoggerFactory(string filePath) =>
        CreateDefaultLoggerFactory(filePath, new LoggerFilterOptions());

    /// <summary>A logger factory that writes to a file what the filters let through.</summary>
    public static ILoggerFactory CreateDefaultLoggerFactory(string filePath, LoggerFilterOptions filters) =>
        new LoggerFactory([new LogLines(filePath)], filters);

    /// <summary>A file name for the log of a node.</summary>
    public static string CreateTraceFileName(string nodeName, string clusterId) => Path.Combine("logs", clusterId, nodeName + ".log");

    /// <summary>A multiple of a time.</summary>
    public static TimeSpan Multiply(TimeSpan time, double value) => time * value;

    /// <summary>
    /// Calls <paramref name="predicate"/> repeatedly until it returns true. Its argument is true at the last call, which may assert.
    /// </summary>
    public static Task WaitUntilAsync(Func<bool, Task<bool>> predicate, TimeSpan timeout, TimeSpan? delayOnFail = null) =>
        WaitUntilAsync((last, _) => predicate(last), timeout, delayOnFail);

    /// <summary>
    /// Calls <paramref name="predicate"/> repeatedly until it returns true. Its first argument is true at the last call, which may assert.
    /// </summary>
    /// <param name="predicate">The condition.</param>
    /// <param name="timeout">Time limit.</param>
    /// <param name="delayOnFail">Time between two calls. Default 1 s.</param>
    /// <param name="cancellationToken">Ends the waiting.</param>
    /// <param name="predicateExpression">Source text of the condition, for the exception.</param>
    /// <exception cref="TimeoutException">It never returned true.</exception>
    public static async Task WaitUntilAsync(Func<bool, CancellationToken, Task<bool>> predicate, TimeSpan timeout,
        TimeSpan? delayOnFail = null, CancellationToken cancellationToken = default,
        [CallerArgumentExpression(nameof(predicate))] string? predicateExpression = null)
    {
        ArgumentNullException.ThrowIfNull(predicate);
        if (!await PollAsync(predicate, timeout, delayOnFail ?? DefaultDelay, cancellationToken).ConfigureAwait(false))
            throw new TimeoutException("The condition was not met within " + timeout + ": " + predicateExpression);
    }

    /// <summary>
    /// Like <see cref="WaitUntilAsync(Func{bool, CancellationToken, Task{bool}}, TimeSpan, TimeSpan?, CancellationToken, string)"/>, but
    /// exceptions count as false, and the result is returned.
    /// </summary>
    public static Task<bool> WaitUntilSucceededAsync(Func<CancellationToken, Task<bool>> predicate, TimeSpan timeout,
        TimeSpan? delayOnFail = null, CancellationToken cancellationToken = default) =>
        PollAsync(
            async (_, token) =>
            {
                try
                {
                    return await predicate(token).ConfigureAwait(false);
                }
                catch (Exception exception) when (exception is not OperationCanceledException)
                {
                    return false;
                }
            },
            timeout,
            delayOnFail ?? DefaultDelay,
            cancellationToken);

    private static async Task<bool> PollAsync(Func<bool, CancellationToken, Task<bool>> predicate, TimeSpan timeout, TimeSpan delay,
        CancellationToken cancellationToken)
    {
        var began = TimeProvider.System.GetTimestamp();
        while (TimeProvider.System.GetElapsedTime(began) < timeout)
        {
            if (await predicate(false, cancellationToken).ConfigureAwait(false))
                return true;
            await Task.Delay(delay, TimeProvider.System, cancellationToken).ConfigureAwait(false);
        }

        return await predicate(true, cancellationToken).ConfigureAwait(false);
    }
}
