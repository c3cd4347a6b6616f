using Microsoft.Extensions.Logging;
using Orleans.Runtime;

namespace ActOp.Storage;

/// <summary>The log lines of persistent state: events 1120 to 1149, and 1451.</summary>
internal sealed partial class StateLog(ILogger logger)
{
    private int _listenerFailures;

    [LoggerMessage(1120, LogLevel.Error, "The state {state} of {grain} could not be {operation} by {provider}.")]
    private static partial void OperationFailed(
        ILogger logger, string state, GrainId grain, string operation, string provider, Exception exception);

    [LoggerMessage(1121, LogLevel.Warning,
        "The state {state} of {grain} was changed by somebody else. The activation ends, and the next one reads it anew.")]
    private static partial void Inconsistent(ILogger logger, string state, GrainId grain, Exception exception);

    [LoggerMessage(1122, LogLevel.Information,
        "The state {state} of {grain} does not go along: {reason}. The next silo reads it from the storage.")]
    private static partial void NotCarried(ILogger logger, string state, GrainId grain, string reason);

    [LoggerMessage(1451, LogLevel.Warning,
        "A listener of the metrics of storage has thrown. Further failures of listeners are not logged.")]
    private static partial void ListenerFailed(ILogger logger, Exception exception);

    /// <summary>The first one is logged: the others are likely the same, for every operation.</summary>
    internal void ListenerFailed(Exception exception)
    {
        if (Interlocked.Exchange(ref _listenerFailures, 1) == 0)
            ListenerFailed(logger, exception);
    }

    internal void OperationFailed(string state, GrainId grain, string operation, string provider, Exception exception) =>
        OperationFailed(logger, state, grain, operation, provider, exception);

    internal void Inconsistent(string state, GrainId grain, Exception exception) => Inconsistent(logger, state, grain, exception);

    internal void NotCarried(string state, GrainId grain, string reason) => NotCarried(logger, state, grain, reason);
}
