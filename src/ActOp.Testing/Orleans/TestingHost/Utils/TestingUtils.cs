using System.Runtime.CompilerServices;
using ActOp.Testing;
using Microsoft.Extensions.Logging;

namespace Orleans.TestingHost.Utils;

/// <summary>Waiting and logging for tests.</summary>
public static class TestingUtils
{
    private static readonly TimeSpan DefaultDelay = TimeSpan.FromSeconds(1);

    /// <summary>How long before its deadline a waiting makes the last call.</summary>
    private static readonly TimeSpan LastCall = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Longest = TimeSpan.FromDays(24);

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
    public static Task WaitUntilAsync(Func<bool, Task<bool>> predicate, TimeSpan timeout, TimeSpan? delayOnFail = null)
    {
        ArgumentNullException.ThrowIfNull(predicate);
        var method = predicate.Method;
        return WaitUntilAsync((last, _) => predicate(last), timeout, delayOnFail, default, method.DeclaringType + "." + method.Name);
    }

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
        await WaitUntilAsync(predicate, timeout, delayOnFail ?? DefaultDelay, TimeProvider.System, cancellationToken, predicateExpression)
            .ConfigureAwait(false);
    }

    /// <summary>The same by another clock.</summary>
    internal static async Task WaitUntilAsync(Func<bool, CancellationToken, Task<bool>> predicate, TimeSpan timeout, TimeSpan delay,
        TimeProvider time, CancellationToken cancellationToken = default, string? predicateExpression = null)
    {
        if (!await PollAsync(predicate, timeout, delay, time, cancellationToken).ConfigureAwait(false))
        {
            throw new TimeoutException(
                "The condition was not met within " + timeout + " and was not invoked again after the deadline: " + predicateExpression);
        }
    }

    /// <summary>
    /// Like <see cref="WaitUntilAsync(Func{bool, CancellationToken, Task{bool}}, TimeSpan, TimeSpan?, CancellationToken, string)"/>, but
    /// the result is returned. Exceptions of the condition reach the caller.
    /// </summary>
    public static Task<bool> WaitUntilSucceededAsync(Func<CancellationToken, Task<bool>> predicate, TimeSpan timeout,
        TimeSpan? delayOnFail = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(predicate);
        return PollAsync((_, token) => predicate(token), timeout, delayOnFail ?? DefaultDelay, TimeProvider.System, cancellationToken);
    }

    /// <summary>
    /// Calls up to the deadline. The last call begins before it, so that it can still end in time; a call that ends later does not count.
    /// The token of a call ends at the deadline.
    /// </summary>
    private static async Task<bool> PollAsync(Func<bool, CancellationToken, Task<bool>> predicate, TimeSpan timeout, TimeSpan delay,
        TimeProvider time, CancellationToken cancellationToken)
    {
        var began = time.GetTimestamp();
        TimeSpan Left() => timeout - time.GetElapsedTime(began);
        using var deadline = new CancellationTokenSource(timeout < Longest ? timeout : Longest, time);
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
        for (var isLast = false; Left() > TimeSpan.Zero;)
        {
            try
            {
                if (await predicate(isLast, linked.Token).ConfigureAwait(false))
                    return !deadline.IsCancellationRequested && Left() > TimeSpan.Zero;
            }
            catch (OperationCanceledException) when (deadline.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
            {
                return false;
            }

            if (isLast)
                return false;
            var margin = timeout / 4 < LastCall ? timeout / 4 : LastCall;
            isLast = Left() - delay <= margin;
            var pause = isLast ? Left() - margin : delay;
            if (pause > TimeSpan.Zero)
                await Task.Delay(pause, time, cancellationToken).ConfigureAwait(false);
        }

        return false;
    }
}
