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
    public static ILoggerFactory CreateDefaultLoggerFactory(string filePath) => CreateDefaultLoggerFactory(filePath, new LoggerFilterOptions());

    /// <summary>A logger factory that writes to a file what the filters let through.</summary>
    public static ILoggerFactory CreateDefaultLoggerFactory(string filePath, LoggerFilterOptions filters) => new LoggerFactory([new LogLines(filePath)], filters);

    /// <summary>A file name for the log of a node.</summary>
    public static string CreateTraceFileName(string nodeName, string clusterId) => Path.Combine("logs", clusterId, nodeName + ".log");

    /// <summary>A multiple of a time.</summary>
    public static TimeSpan Multiply(TimeSpan time, double value) => time * value;

    /// <summary>
    /// Asks <paramref name="predicate"/> again and again until it says true; its argument is true when it is asked for the last time and
    /// may assert.
    /// </summary>
    public static Task WaitUntilAsync(Func<bool, Task<bool>> predicate, TimeSpan timeout, TimeSpan? delayOnFail = null) =>
        WaitUntilAsync((last, _) => predicate(last), timeout, delayOnFail);

    /// <summary>
    /// Asks <paramref name="predicate"/> again and again until it says true; its first argument is true when it is asked for the last time
    /// and may assert.
    /// </summary>
    /// <param name="predicate">The question.</param>
    /// <param name="timeout">How long to ask.</param>
    /// <param name="delayOnFail">Time between two questions. Default 1 s.</param>
    /// <param name="cancellationToken">Ends the waiting.</param>
    /// <param name="predicateExpression">The question's source, for the error.</param>
    /// <exception cref="TimeoutException">It never said true.</exception>
    public static async Task WaitUntilAsync(Func<bool, CancellationToken, Task<bool>> predicate, TimeSpan timeout, TimeSpan? delayOnFail = null, CancellationToken cancellationToken = default, [CallerArgumentExpression(nameof(predicate))] string? predicateExpression = null)
    {
        ArgumentNullException.ThrowIfNull(predicate);
        if (!await AskAsync(predicate, timeout, delayOnFail ?? DefaultDelay, cancellationToken).ConfigureAwait(false))
            throw new TimeoutException("Not so within " + timeout + ": " + predicateExpression);
    }

    /// <summary>
    /// Like <see cref="WaitUntilAsync(Func{bool, CancellationToken, Task{bool}}, TimeSpan, TimeSpan?, CancellationToken, string)"/>, but
    /// exceptions count as a no, and the outcome is returned.
    /// </summary>
    public static Task<bool> WaitUntilSucceededAsync(Func<CancellationToken, Task<bool>> predicate, TimeSpan timeout, TimeSpan? delayOnFail = null, CancellationToken cancellationToken = default) =>
        AskAsync(
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

    private static async Task<bool> AskAsync(Func<bool, CancellationToken, Task<bool>> predicate, TimeSpan timeout, TimeSpan delay, CancellationToken cancellationToken)
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
