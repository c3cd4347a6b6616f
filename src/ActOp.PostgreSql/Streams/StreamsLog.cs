using Microsoft.Extensions.Logging;

namespace ActOp.PostgreSql.Streams;

/// <summary>The log lines of streams in PostgreSQL. Event ids: 1290 to 1292.</summary>
internal sealed partial class StreamsLog(ILogger logger)
{
    [LoggerMessage(1290, LogLevel.Warning, "{count} messages of the queue {queue} of {provider} are dead letters now: {reason}.")]
    private static partial void DeadLetters(ILogger logger, long count, uint queue, string provider, string reason);

    [LoggerMessage(1291, LogLevel.Warning, "The queue {queue} of {provider} was taken from this silo: another agent reads it.")]
    private static partial void QueueTaken(ILogger logger, uint queue, string provider);

    [LoggerMessage(1292, LogLevel.Information,
        "The queue {queue} of {provider} was taken over from {owner}: {count} messages were not confirmed and are delivered again.")]
    private static partial void QueueTakenOver(ILogger logger, uint queue, string provider, string owner, long count);

    internal void DeadLetters(long count, uint queue, string provider, string reason) =>
        DeadLetters(logger, count, queue, provider, reason);

    internal void QueueTaken(uint queue, string provider) => QueueTaken(logger, queue, provider);

    internal void QueueTakenOver(uint queue, string provider, string owner, long count) =>
        QueueTakenOver(logger, queue, provider, owner, count);
}
