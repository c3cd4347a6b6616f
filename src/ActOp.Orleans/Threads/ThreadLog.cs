using Microsoft.Extensions.Logging;

namespace ActOp.Orleans.Threads;

/// <summary>The log events of thread control.</summary>
internal static partial class ThreadLog
{
    [LoggerMessage(1, LogLevel.Information,
        "Thread control has begun: {Processors:0.##} processors, measured by {Source}, the host's minimum is {Floor} threads.")]
    internal static partial void Began(this ILogger log, double processors, string source, int floor);

    [LoggerMessage(2, LogLevel.Debug, "Thread round {Round}: the pool's minimum is {Threads} threads ({Reason}).")]
    internal static partial void Round(this ILogger log, long round, int threads, string reason);

    [LoggerMessage(3, LogLevel.Information, "The pool's minimum is {Threads} threads instead of {Before} ({Reason}).")]
    internal static partial void Sized(this ILogger log, int before, int threads, string reason);

    [LoggerMessage(4, LogLevel.Error,
        "Thread control is switched off on this silo until it restarts: it threw. The pool has what the host has configured. Calls are "
        + "not affected.")]
    internal static partial void SwitchedOff(this ILogger log, Exception exception);

    [LoggerMessage(5, LogLevel.Information, "Thread control is {State}: ThreadOptions.Enabled has changed.")]
    internal static partial void Switched(this ILogger log, string state);

    [LoggerMessage(6, LogLevel.Information,
        "Another silo of this process sets the threads of the pool. This one does so when that one has stopped.")]
    internal static partial void LeftToAnother(this ILogger log);

    [LoggerMessage(7, LogLevel.Error, "The pool did not take back what the host has configured.")]
    internal static partial void NotGivenBack(this ILogger log, Exception exception);

    [LoggerMessage(8, LogLevel.Information, "Idle threads of the pool look for work {Limit} times before they sleep.")]
    internal static partial void Spins(this ILogger log, int limit);

    [LoggerMessage(9, LogLevel.Information,
        "ThreadOptions.SpinLimit is not in effect: the thread pool had threads before AddActOpThreads was called. Set "
        + "System.Threading.ThreadPool.UnfairSemaphoreSpinLimit in runtimeconfig.template.json instead.")]
    internal static partial void SpinsAsBefore(this ILogger log);
}
