using ActOp;
using Microsoft.Extensions.Logging;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Streams;

namespace Orleans.Providers.Streams.Common;

/// <summary>Makes a <see cref="SimpleQueueCache"/> for each queue.</summary>
public class SimpleQueueAdapterCache : IQueueAdapterCache
{
    /// <summary>The name of the setting of the size.</summary>
    public const string CacheSizePropertyName = "CacheSize";

    private readonly SimpleQueueCacheOptions _options;
    private readonly ILoggerFactory _loggers;

    /// <summary>Creates the maker of caches.</summary>
    public SimpleQueueAdapterCache(SimpleQueueCacheOptions options, string providerName, ILoggerFactory loggerFactory)
    {
        _options = options;
        _loggers = loggerFactory;
    }

    /// <inheritdoc/>
    public IQueueCache CreateQueueCache(QueueId queueId) =>
        new SimpleQueueCache(_options.CacheSize, _loggers.CreateLogger<SimpleQueueCache>());
}

/// <summary>
/// The batches of one queue, in order. A batch stays until all cursors of its stream have passed it. Then it may be read again, by a new
/// cursor, until its place is needed or it is too old. A cursor that has gone back holds what is behind it like any other: nothing leaves
/// that it has not passed.
/// </summary>
/// <remarks>
/// <para>One thread at a time. Owns the batches and the places of its cursors. Every batch is linked to the next one of the queue and to
/// the next one of its stream, so a cursor never visits batches of other streams.</para>
/// <para>A cursor that is not disposed holds the batches behind it: the cache fills, and its agent stops reading. So whoever takes a cursor
/// must dispose it. A cursor disposed twice has no effect. If a position is of a class that cannot be compared with those of the batches,
/// asking for a cursor there throws and leaves none behind.</para>
/// </remarks>
public class SimpleQueueCache : IQueueCache
{
    private readonly Dictionary<StreamId, StreamBatches> _batchesOfStreams = [];
    private readonly StreamCacheEvictionOptions? _eviction;
    private readonly TimeProvider? _time;

    /// <summary>The oldest batch.</summary>
    private CachedBatch? _first;
    private CachedBatch? _last;

    /// <summary>The oldest batch that a cursor may hold; null if the cache needs none.</summary>
    private CachedBatch? _needed;
    private long _added;

    /// <summary>The newest batch that has left, and when.</summary>
    private StreamSequenceToken? _evicted;
    private long _evictedAt;

    /// <summary>Creates an empty cache.</summary>
    /// <param name="cacheSize">How many batches it holds, those included that may be read again.</param>
    /// <param name="logger">Not used: what goes wrong is thrown.</param>
    public SimpleQueueCache(int cacheSize, ILogger logger)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(cacheSize, 1);
        Capacity = cacheSize;
    }

    internal SimpleQueueCache(int cacheSize, StreamCacheEvictionOptions eviction, TimeProvider time)
        : this(cacheSize, Microsoft.Extensions.Logging.Abstractions.NullLogger.Instance)
    {
        _eviction = eviction;
        _time = time;
    }

    /// <summary>The number of batches in the cache.</summary>
    public int Size { get; private set; }

    private int Capacity { get; }

    /// <summary>How many batches cannot leave.</summary>
    private long Needed => _needed is null ? 0 : _last!.Number - _needed.Number + 1;

    /// <inheritdoc/>
    public int GetMaxAddCount() => (int)Math.Max(0, Capacity - Needed);

    /// <inheritdoc/>
    public virtual bool IsUnderPressure() => Needed >= Capacity;

    /// <inheritdoc/>
    public virtual void AddToCache(IList<IBatchContainer> msgs)
    {
        ArgumentNullException.ThrowIfNull(msgs);
        var now = Now;
        foreach (var batch in msgs)
        {
            var node = new CachedBatch(batch, now, ++_added);
            if (_last is null)
                _first = node;
            else
                _last.Next = node;
            _last = node;
            _needed ??= node;
            Size++;
            Append(BatchesOf(node.Stream), node);
        }

        Evict();
    }

    /// <inheritdoc/>
    public virtual bool TryPurgeFromCache(out IList<IBatchContainer> purgedItems)
    {
        List<IBatchContainer>? purged = null;
        while (_needed is { Pins: 0 } node)
        {
            if (!node.IsPurged)
                (purged ??= []).Add(node.Batch);
            node.IsPurged = true;
            _needed = node.Next;
        }

        Evict();
        purgedItems = purged ?? [];
        return purged is not null;
    }

    /// <inheritdoc/>
    /// <exception cref="QueueCacheMissException">The batch at <paramref name="token"/> has left the cache.</exception>
    public virtual IQueueCacheCursor GetCacheCursor(StreamId streamId, StreamSequenceToken? token)
    {
        var cursor = new SimpleQueueCacheCursor(this, streamId, Microsoft.Extensions.Logging.Abstractions.NullLogger.Instance);
        try
        {
            if (token is not null)
                Seek(cursor, token);
            return cursor;
        }
        catch
        {
            cursor.Dispose();
            throw;
        }
    }

    /// <inheritdoc/>
    public virtual QueueCacheCursorResult<IQueueCacheCursor> TryGetCacheCursorAtPosition(
        StreamId streamId, StreamSubscriptionStartPosition startPosition)
    {
        if (startPosition == StreamSubscriptionStartPosition.Latest)
            return QueueCacheCursorResult<IQueueCacheCursor>.FromCursor(GetCacheCursor(streamId, null));
        var cursor = new SimpleQueueCacheCursor(this, streamId, Microsoft.Extensions.Logging.Abstractions.NullLogger.Instance);
        cursor.MoveTo(BatchesOf(streamId).First);
        return QueueCacheCursorResult<IQueueCacheCursor>.FromCursor(cursor);
    }

    internal StreamBatches BatchesOf(StreamId stream)
    {
        if (!_batchesOfStreams.TryGetValue(stream, out var batches))
            _batchesOfStreams[stream] = batches = new StreamBatches(stream);
        return batches;
    }

    /// <summary>A cursor has gone to a batch: that one, and what has come since, cannot leave, even if it was purged before.</summary>
    internal void Need(CachedBatch node)
    {
        if (_needed is null || node.Number < _needed.Number)
            _needed = node;
    }

    /// <summary>A stream without batches and cursors is forgotten.</summary>
    internal void Tidy(StreamBatches batches)
    {
        if (batches.First is null && batches.Cursors.Count == 0)
            _batchesOfStreams.Remove(batches.Stream);
    }

    private long Now => _time?.GetTimestamp() ?? 0;

    private void Seek(SimpleQueueCacheCursor cursor, StreamSequenceToken token)
    {
        if (_first is null && _evicted is not null && token.CompareTo(_evicted) <= 0 && RemembersEvicted)
            throw new QueueCacheMissException(token, _evicted, _evicted);

        if (_first is not null && token.CompareTo(_first.Token) < 0
            && token.SequenceNumber != _first.Token.SequenceNumber)
        {
            throw new QueueCacheMissException(token, _first.Token, _last!.Token);
        }

        var node = BatchesOf(cursor.Stream).First;
        while (node is not null && node.Token.CompareTo(token) < 0
            && node.Token.SequenceNumber != token.SequenceNumber)
        {
            node = node.NextInStream;
        }

        cursor.MoveTo(node);
    }

    private static void Append(StreamBatches batches, CachedBatch node)
    {
        Invariant.Holds((batches.First is null) == (batches.Last is null));
        if (batches.Last is null)
            batches.First = node;
        else
            batches.Last.NextInStream = node;
        batches.Last = node;
        foreach (var cursor in batches.Cursors)
            cursor.Arrived(node);
    }

    /// <summary>Removes batches that were purged, while there are too many or they are too old.</summary>
    private void Evict()
    {
        while (_first is { } node && !ReferenceEquals(node, _needed) && (Size > Capacity || IsTooOld(node)))
        {
            Invariant.Holds(node.Pins == 0);
            _first = node.Next;
            if (_first is null)
                _last = null;
            Size--;
            (_evicted, _evictedAt) = (node.Token, Now);
            var batches = BatchesOf(node.Stream);
            Invariant.Holds(ReferenceEquals(batches.First, node));
            batches.First = node.NextInStream;
            if (batches.First is null)
                batches.Last = null;
            Tidy(batches);
        }

        Invariant.Holds(Size == (_first is null ? 0 : _last!.Number - _first.Number + 1));
        Invariant.Holds(_needed is null || (_first is not null && _needed.Number >= _first.Number));
    }

    private bool RemembersEvicted =>
        _eviction?.MetadataMinTimeInCache is { } time && _time!.GetElapsedTime(_evictedAt) < time;

    private bool IsTooOld(CachedBatch node) => _eviction is not null
        && _time!.GetElapsedTime(node.Added) > _eviction.DataMinTimeInCache
        && (ReferenceEquals(node, _last) ? _time.GetElapsedTime(node.Added) : _time.GetElapsedTime(node.Added, _last!.Added))
            > _eviction.DataMaxAgeInCache;

    /// <summary>A batch, linked to the next one of the queue and of its stream.</summary>
    internal sealed class CachedBatch(IBatchContainer batch, long added, long number)
    {
        internal readonly IBatchContainer Batch = batch;

        /// <summary>Counts the batches of the cache.</summary>
        internal readonly long Number = number;

        /// <summary>Read once: a batch of the application that fails later must not hurt the others in the cache.</summary>
        internal readonly StreamId Stream = batch.StreamId;
        internal readonly StreamSequenceToken Token = batch.SequenceToken;
        internal readonly long Added = added;
        internal CachedBatch? Next;
        internal CachedBatch? NextInStream;

        /// <summary>Cursors that are at it.</summary>
        internal int Pins;

        /// <summary>Purged once: the receiver was told of it.</summary>
        internal bool IsPurged;
    }

    /// <summary>The batches of one stream.</summary>
    internal sealed class StreamBatches(StreamId stream)
    {
        internal readonly StreamId Stream = stream;
        internal readonly List<SimpleQueueCacheCursor> Cursors = [];
        internal CachedBatch? First;
        internal CachedBatch? Last;
    }
}

/// <summary>A reader of one stream in a <see cref="SimpleQueueCache"/>. Holds the batch at which it is, until it moves on.</summary>
/// <remarks>Used by the thread that uses its cache.</remarks>
public class SimpleQueueCacheCursor : IQueueCacheCursor
{
    private readonly SimpleQueueCache _cache;
    private readonly SimpleQueueCache.StreamBatches _batches;
    private SimpleQueueCache.CachedBatch? _current;

    /// <summary>The batch behind the current one; null at the end.</summary>
    private SimpleQueueCache.CachedBatch? _next;
    private bool _isDisposed;

    /// <summary>A cursor behind the newest batch of the stream.</summary>
    public SimpleQueueCacheCursor(SimpleQueueCache cache, StreamId streamId, ILogger logger)
    {
        ArgumentNullException.ThrowIfNull(cache);
        _cache = cache;
        _batches = cache.BatchesOf(streamId);
        _batches.Cursors.Add(this);
    }

    internal StreamId Stream => _batches.Stream;

    /// <inheritdoc/>
    public virtual IBatchContainer? GetCurrent(out Exception? exception)
    {
        exception = null;
        return _current?.Batch;
    }

    /// <inheritdoc/>
    public virtual bool MoveNext()
    {
        Unpin(ref _current);
        if (_next is null)
            return false;
        _current = _next;
        _next = _current.NextInStream;
        if (_next is not null)
            _next.Pins++;
        return true;
    }

    /// <inheritdoc/>
    public virtual QueueCacheCursorMoveResult MoveNextWithResult() =>
        MoveNext() ? QueueCacheCursorMoveResult.Success : QueueCacheCursorMoveResult.NoData;

    /// <inheritdoc/>
    public virtual void Refresh(StreamSequenceToken sequenceToken)
    {
        // A new batch moves the cursors of its stream.
    }

    /// <inheritdoc/>
    public void RecordDeliveryFailure()
    {
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Lets its batches go.</summary>
    protected virtual void Dispose(bool disposing)
    {
        if (_isDisposed)
            return;
        _isDisposed = true;
        Unpin(ref _current);
        Unpin(ref _next);
        _batches.Cursors.Remove(this);
        _cache.Tidy(_batches);
    }

    /// <summary>Reads ahead without moving: the batches that <see cref="MoveNext"/> would visit next.</summary>
    internal void Peek(List<IBatchContainer> into, int most)
    {
        for (var node = _next; node is not null && into.Count < most; node = node.NextInStream)
            into.Add(node.Batch);
    }

    /// <summary>Passes batches that were read ahead.</summary>
    internal void Skip(int count)
    {
        for (; count > 0 && MoveNext(); count--)
            ;
        Unpin(ref _current);
    }

    internal void MoveTo(SimpleQueueCache.CachedBatch? node)
    {
        Unpin(ref _current);
        Unpin(ref _next);
        if (node is null)
            return;
        MoveNextTo(node);
        _cache.Need(node);
    }

    internal void Arrived(SimpleQueueCache.CachedBatch node)
    {
        if (_next is null)
            MoveNextTo(node);
    }

    private void MoveNextTo(SimpleQueueCache.CachedBatch node)
    {
        Invariant.Holds(!_isDisposed && _next is null && node.Pins >= 0);
        _next = node;
        node.Pins++;
    }

    private static void Unpin(ref SimpleQueueCache.CachedBatch? node)
    {
        if (node is not null)
        {
            Invariant.Holds(node.Pins > 0);
            node.Pins--;
        }

        node = null;
    }
}
