using ActOp.Foundation;
using Orleans.Configuration;
using Orleans.Internal;
using Orleans.Providers.Streams.Common;
using Orleans.Runtime;
using Orleans.Streams;

namespace ActOp.Streams;

/// <summary>
/// The border to the parts of one queue that the application makes: its adapter, receiver, cache, cursors, batches and pauses. What they
/// return is checked here, and what must not disturb its caller ends here.
/// </summary>
/// <remarks>Belongs to the agent of the queue and runs on its turns. Holds a count of failures for the log.</remarks>
internal sealed class QueueBorder(AgentSetup setup, QueueId queue)
{
    /// <summary>A pause of nothing would keep the thread.</summary>
    private static readonly TimeSpan ShortestPause = TimeSpan.FromMilliseconds(10);

    private readonly FailureCount _failures = new();

    /// <summary>The cache of the queue; that of the runtime if the provider has none.</summary>
    internal IQueueCache NewCache() => setup.Factory.GetQueueAdapterCache() is { } caches
        ? caches.CreateQueueCache(queue) ?? throw NullReturned(caches, nameof(caches.CreateQueueCache))
        : new SimpleQueueCache(SimpleQueueCacheOptions.DEFAULT_CACHE_SIZE, setup.Parts.Log.Logger);

    internal IQueueAdapterReceiver NewReceiver() =>
        setup.Adapter.CreateReceiver(queue) ?? throw NullReturned(setup.Adapter, nameof(setup.Adapter.CreateReceiver));

    /// <summary>A cursor at a position, or behind the newest message.</summary>
    /// <exception cref="QueueCacheMissException">The position has left the cache.</exception>
    internal static IQueueCacheCursor NewCursor(IQueueCache cache, StreamId stream, StreamSequenceToken? at) =>
        CursorOf(cache, cache.TryGetCacheCursor(stream, at));

    /// <summary>A cursor at the oldest message of the stream; behind the newest one if the cache has no such place.</summary>
    internal static IQueueCacheCursor NewCursorAtOldest(IQueueCache cache, StreamId stream)
    {
        var result = cache.TryGetCacheCursorAtPosition(stream, StreamSubscriptionStartPosition.EarliestAvailable);
        return result.Kind == QueueCacheCursorResultKind.NotSupported ? NewCursor(cache, stream, null) : CursorOf(cache, result);
    }

    /// <summary>Where a subscription begins that is new while the agent knows its stream.</summary>
    internal IQueueCacheCursor NewCursorOf(IQueueCache cache, StreamId stream, SubscriptionEntry entry) =>
        (entry.Start ?? setup.Options.InitialSubscriptionStartPosition) == StreamSubscriptionStartPosition.Latest
            ? NewCursor(cache, stream, null) : NewCursorAtOldest(cache, stream);

    private static IQueueCacheCursor CursorOf(IQueueCache cache, QueueCacheCursorResult<IQueueCacheCursor> result) => result.Kind switch
    {
        QueueCacheCursorResultKind.Success => result.Cursor!,
        QueueCacheCursorResultKind.CacheMiss => throw result.CacheMiss!.Value.ToException(),
        _ => throw new InvalidOperationException("The cache " + cache.GetType() + " has no cursor: " + result.Kind + "."),
    };

    /// <summary>Gives a cursor back. If it throws, it may hold something in its own cache, and nothing here.</summary>
    internal void Release(IQueueCacheCursor? cursor)
    {
        try
        {
            cursor?.Dispose();
        }
        catch (Exception exception)
        {
            Failed("Dispose of " + cursor!.GetType(), exception);
        }
    }

    /// <summary>The messages that say where they belong. The others would spoil the cache for all streams of the queue.</summary>
    internal IList<IBatchContainer> Readable(IList<IBatchContainer> messages)
    {
        List<IBatchContainer>? readable = null;
        for (var i = 0; i < messages.Count; i++)
        {
            if (IsReadable(messages[i]))
            {
                readable?.Add(messages[i]);
                continue;
            }

            readable ??= [.. messages.Take(i)];
        }

        return readable ?? messages;
    }

    /// <summary>The pause before an attempt. What the application chooses must not hold the queue, nor the thread.</summary>
    internal TimeSpan Pause(IBackoffProvider backoff, int attempt)
    {
        try
        {
            var (chosen, longest) = (backoff.Next(attempt), setup.Options.MaxEventDeliveryTime);
            return chosen > longest ? longest : chosen < ShortestPause ? ShortestPause : chosen;
        }
        catch (Exception exception)
        {
            Failed("Next of " + backoff.GetType(), exception);
            return StreamBackoff.OfReads.Next(attempt);
        }
    }

    /// <summary>Something of the application has failed, and the work goes on without it.</summary>
    internal void Failed(string what, Exception exception)
    {
        if (_failures.IsTold(out var count))
            setup.Parts.Log.QueuePartFailed(what, setup.Provider, queue, count, exception);
    }

    private bool IsReadable(IBatchContainer? batch)
    {
        try
        {
            if (batch is not null && !batch.StreamId.FullKey.IsEmpty && batch.SequenceToken is not null)
                return true;
            Failed("A message of the receiver", new InvalidOperationException(
                batch is null ? "The message is null." : "The message " + batch.GetType() + " has no stream or no position."));
        }
        catch (Exception exception)
        {
            Failed("A message of the receiver", exception);
        }

        return false;
    }

    private static InvalidOperationException NullReturned(object part, string method) =>
        new(method + " of " + part.GetType() + " has returned null.");
}
