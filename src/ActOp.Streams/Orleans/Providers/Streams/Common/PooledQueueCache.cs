using ActOp;
using Microsoft.Extensions.Logging;
using Orleans.Runtime;
using Orleans.Streams;

namespace Orleans.Providers.Streams.Common;

/// <summary>Messages from which the oldest can be removed.</summary>
public interface IPurgeObservable
{
    /// <summary>Whether there are none.</summary>
    bool IsEmpty { get; }

    /// <summary>How many there are.</summary>
    int ItemCount { get; }

    /// <summary>The newest one.</summary>
    CachedMessage? Newest { get; }

    /// <summary>The oldest one.</summary>
    CachedMessage? Oldest { get; }

    /// <summary>Removes the oldest one.</summary>
    void RemoveOldestMessage();
}

/// <summary>What a cache tells of itself.</summary>
public interface ICacheMonitor
{
    /// <summary>It holds so much memory.</summary>
    void ReportCacheSize(long totalCacheSizeInBytes);

    /// <summary>It has messages between these times; null in an empty cache.</summary>
    void ReportMessageStatistics(DateTime? oldestMessageEnqueueTimeUtc, DateTime? oldestMessageDequeueTimeUtc,
        DateTime? newestMessageEnqueueTimeUtc, long totalMessageCount);

    /// <summary>It has become full, or is so no longer.</summary>
    void TrackCachePressureMonitorStatusChange(string pressureMonitorType, bool underPressure, double? cachePressureContributionCount,
        double? currentPressure, double? flowControlThreshold);

    /// <summary>It has taken memory.</summary>
    void TrackMemoryAllocated(int memoryInBytes);

    /// <summary>It has given memory back.</summary>
    void TrackMemoryReleased(int memoryInBytes);

    /// <summary>It has got messages.</summary>
    void TrackMessagesAdded(long messagesAdded);

    /// <summary>It has removed messages.</summary>
    void TrackMessagesPurged(long messagesPurged);
}

/// <summary>How long messages stay in a cache.</summary>
/// <param name="minTimeInCache">So long at least.</param>
/// <param name="maxRelativeMessageAge">And no longer when they are so much older than the newest one.</param>
public class TimePurgePredicate(TimeSpan minTimeInCache, TimeSpan maxRelativeMessageAge)
{
    /// <summary>Whether a message goes: it is long enough in the cache, and old enough beside the newest one.</summary>
    public virtual bool ShouldPurgeFromTime(TimeSpan timeInCache, TimeSpan relativeAge) =>
        timeInCache > minTimeInCache && relativeAge > maxRelativeMessageAge;
}

/// <summary>
/// The messages of one queue in the order of their positions, with cursors that each follow one stream. For a cache of the application that
/// encodes its messages into <see cref="FixedSizeBuffer"/>s.
/// </summary>
/// <remarks>
/// <para>One thread at a time: the turns of the agent. Owns the messages in blocks, which are used again, but not their memory, which
/// belongs to an <see cref="IEvictionStrategy"/>. It has no limit: whoever adds removes too. Its clock is the time of the messages that are
/// added.</para>
/// <para>Every message has a number from the begin of the cache on. A cursor is the number of the next message that it looks at, so
/// removals need not know of cursors: one that is behind the oldest message sees that it has missed something, unless it is known when the
/// last message of its stream was removed.</para>
/// </remarks>
public class PooledQueueCache : IPurgeObservable
{
    private const int BlockSize = 1024;

    private readonly ObjectPool<CachedMessageBlock> _pool = new(static () => new CachedMessageBlock(BlockSize));
    private readonly List<CachedMessageBlock> _blocks = [];
    private readonly Dictionary<StreamId, (DateTime Time, long Number, StreamSequenceToken Token)> _removed = [];
    private readonly ICacheDataAdapter _adapter;
    private readonly ICacheMonitor? _monitor;
    private readonly TimeSpan? _monitorPeriod;
    private readonly TimeSpan? _remembers;

    /// <summary>The number of the first place of the first block.</summary>
    private long _base;
    private long _end;
    private int _removedOfFirst;

    /// <summary>Up to this number it is no longer known of which streams messages were removed.</summary>
    private long _forgotten;
    private DateTime _now;
    private DateTime _nextReport;
    private DateTime _nextForget;

    /// <summary>An empty cache.</summary>
    /// <param name="cacheDataAdapter">Makes batches of messages.</param>
    /// <param name="logger">Not used; for source compatibility.</param>
    /// <param name="cacheMonitor">Is told of messages, or null.</param>
    /// <param name="cacheMonitorWriteInterval">How often it gets a report, at most; null for never.</param>
    /// <param name="purgeMetadataInterval">
    /// How long it is known which stream a removed message was of. Null: not at all; a cursor that is behind the oldest message has missed
    /// something then.
    /// </param>
    public PooledQueueCache(ICacheDataAdapter cacheDataAdapter, ILogger logger, ICacheMonitor? cacheMonitor,
        TimeSpan? cacheMonitorWriteInterval, TimeSpan? purgeMetadataInterval = null)
    {
        ArgumentNullException.ThrowIfNull(cacheDataAdapter);
        ArgumentNullException.ThrowIfNull(logger);
        (_adapter, _monitor, _monitorPeriod, _remembers) =
            (cacheDataAdapter, cacheMonitor, cacheMonitorWriteInterval, purgeMetadataInterval);
    }

    /// <inheritdoc/>
    public bool IsEmpty => Begin == _end;

    /// <inheritdoc/>
    public int ItemCount => (int)(_end - Begin);

    /// <inheritdoc/>
    public CachedMessage? Newest => IsEmpty ? null : At(_end - 1);

    /// <inheritdoc/>
    public CachedMessage? Oldest => IsEmpty ? null : At(Begin);

    private long Begin => _base + _removedOfFirst;

    /// <summary>Adds messages behind the others.</summary>
    public void Add(List<CachedMessage> messages, DateTime dequeueTime)
    {
        ArgumentNullException.ThrowIfNull(messages);
        foreach (var message in messages)
        {
            if (_blocks.Count == 0 || !_blocks[^1].HasCapacity)
                _blocks.Add(_pool.Allocate());
            _blocks[^1].Add(message);
            _end++;
        }

        Invariant.Holds(_end - _base <= (long)_blocks.Count * BlockSize);
        _now = dequeueTime > _now ? dequeueTime : _now;
        _monitor?.TrackMessagesAdded(messages.Count);
        Report();
        Forget();
    }

    /// <inheritdoc/>
    public void RemoveOldestMessage()
    {
        if (IsEmpty)
            return;
        var message = At(Begin);
        if (_remembers is not null)
            _removed[message.StreamId] = (_now, Begin, _adapter.GetSequenceToken(ref message));
        else
            _forgotten = Begin + 1;
        _blocks[0].Remove();
        _removedOfFirst++;
        Invariant.Holds(Begin <= _end && _removedOfFirst <= BlockSize);
        if (_removedOfFirst < BlockSize)
            return;
        // All places of the block were used and are empty again.
        Invariant.Holds(_blocks[0].IsEmpty);
        _blocks[0].Dispose();
        _blocks.RemoveAt(0);
        _base += BlockSize;
        _removedOfFirst = 0;
    }

    /// <summary>A cursor on a stream.</summary>
    /// <param name="streamId">The stream.</param>
    /// <param name="sequenceToken">Where it begins, which may be a position that is still to come; null: behind the newest message.</param>
    /// <exception cref="QueueCacheMissException">The position is before the oldest message.</exception>
    public object GetCursor(StreamId streamId, StreamSequenceToken? sequenceToken)
    {
        var cursor = new Cursor(streamId) { Token = sequenceToken, Next = sequenceToken is null ? _end : null };
        TrySetPosition(cursor);
        return cursor;
    }

    /// <summary>
    /// The cursor continues at a later position if it waits for one, or has missed messages. One that has messages is left where it is.
    /// </summary>
    /// <exception cref="QueueCacheMissException">The position is before the oldest message.</exception>
    public void Refresh(object cursorObj, StreamSequenceToken? sequenceToken)
    {
        var cursor = CursorOf(cursorObj);
        if (sequenceToken is null || (cursor.Next is { } next && next >= Begin) || cursor.Token?.CompareTo(sequenceToken) >= 0)
            return;
        (cursor.Token, cursor.Next) = (sequenceToken, null);
        TrySetPosition(cursor);
    }

    /// <summary>The next message of the cursor's stream; false if there is none yet.</summary>
    /// <exception cref="QueueCacheMissException">Messages that the cursor has not seen were removed.</exception>
    public bool TryGetNextMessage(object cursorObj, out IBatchContainer? message)
    {
        var cursor = CursorOf(cursorObj);
        message = null;
        if (!TrySetPosition(cursor))
            return false;
        Invariant.Holds(cursor.Next <= _end);
        if (cursor.Next < Begin)
        {
            var hasMissed = cursor.Next < _forgotten || (_removed.TryGetValue(cursor.Stream, out var last) && last.Number >= cursor.Next);
            if (hasMissed)
                throw Miss(cursor.Token);
            cursor.Next = Begin;
        }

        for (var number = cursor.Next!.Value; number < _end; number++)
        {
            var found = At(number);
            if (!found.CompareStreamId(cursor.Stream))
                continue;
            (cursor.Next, cursor.Token) = (number + 1, _adapter.GetSequenceToken(ref found));
            message = _adapter.GetBatchContainer(ref found);
            return true;
        }

        cursor.Next = _end;
        return false;
    }

    private static Cursor CursorOf(object cursor) => cursor as Cursor
        ?? throw new ArgumentOutOfRangeException(nameof(cursor), "That is no cursor of this cache.");

    /// <summary>Gives a cursor that waits for a position its place. False if the position is still to come.</summary>
    private bool TrySetPosition(Cursor cursor)
    {
        if (cursor.Next is not null)
            return true;
        var wanted = cursor.Token!;
        if (IsEmpty)
            return false;
        var (newest, oldest) = (At(_end - 1), At(Begin));
        if (newest.Compare(wanted) < 0)
            return false;
        if (oldest.Compare(wanted) > 0 && !(_removed.TryGetValue(cursor.Stream, out var last) && wanted.CompareTo(last.Token) >= 0))
            throw Miss(wanted);
        var number = _end - 1;
        while (number > Begin && At(number - 1) is var before && before.Compare(wanted) >= 0)
            number--;
        cursor.Next = number;
        return true;
    }

    private QueueCacheMissException Miss(StreamSequenceToken? requested)
    {
        if (IsEmpty)
            return new QueueCacheMissException(requested?.ToString(), null, null);
        var (newest, oldest) = (At(_end - 1), At(Begin));
        return new QueueCacheMissException(
            requested?.ToString(), _adapter.GetSequenceToken(ref oldest).ToString(), _adapter.GetSequenceToken(ref newest).ToString());
    }

    private CachedMessage At(long number)
    {
        var index = number - _base;
        return _blocks[(int)(index / BlockSize)][(int)(index % BlockSize)];
    }

    private void Report()
    {
        if (_monitor is null || _monitorPeriod is not { } period || _now < _nextReport)
            return;
        _nextReport = _now + period;
        _monitor.ReportMessageStatistics(Oldest?.EnqueueTimeUtc, Oldest?.DequeueTimeUtc, Newest?.EnqueueTimeUtc, ItemCount);
    }

    /// <summary>Forgets of which streams messages were removed long ago.</summary>
    private void Forget()
    {
        if (_remembers is not { } time || _now < _nextForget)
            return;
        _nextForget = _now + (time / 5);
        foreach (var (stream, last) in _removed)
        {
            if (_now - last.Time <= time)
                continue;
            _removed.Remove(stream);
            _forgotten = Math.Max(_forgotten, last.Number + 1);
        }
    }

    /// <summary>A place in the cache. On the turns of the agent.</summary>
    private sealed class Cursor(StreamId stream)
    {
        internal StreamId Stream => stream;

        /// <summary>The number of the next message to look at; null while it waits for <see cref="Token"/>.</summary>
        internal long? Next { get; set; }

        /// <summary>Where it wants to begin, or the last message that it has got.</summary>
        internal StreamSequenceToken? Token { get; set; }
    }
}

/// <summary>Decides when messages leave a cache, and gives their memory back then.</summary>
public interface IEvictionStrategy
{
    /// <summary>Called after messages were removed, with the last one that was and the newest one that is left.</summary>
    Action<CachedMessage?, CachedMessage?>? OnPurged { get; set; }

    /// <summary>The cache.</summary>
    IPurgeObservable PurgeObservable { set; }

    /// <summary>Messages will be encoded into this memory from now on.</summary>
    void OnBlockAllocated(FixedSizeBuffer newBlock);

    /// <summary>Removes the messages that are due.</summary>
    void PerformPurge(DateTime utcNow);
}

/// <summary>The oldest messages leave first, by time.</summary>
/// <remarks>
/// On the turns of the agent. Owns the buffers from <see cref="OnBlockAllocated"/> on, in order. A buffer goes back to its pool when no
/// message in the cache is in it any more; the newest one stays, because messages may be encoded into it that are not in the cache yet.
/// </remarks>
public class ChronologicalEvictionStrategy : IEvictionStrategy
{
    /// <summary>The buffers of the messages in the cache, the oldest first.</summary>
    protected readonly Queue<FixedSizeBuffer> inUseBuffers = new();

    private readonly TimePurgePredicate _predicate;
    private readonly ICacheMonitor? _monitor;
    private readonly TimeSpan? _monitorPeriod;
    private IPurgeObservable? _cache;
    private DateTime _nextReport;
    private long _size;

    /// <summary>Without a cache yet.</summary>
    /// <param name="logger">Not used; for source compatibility.</param>
    /// <param name="timePurage">How long messages stay.</param>
    /// <param name="cacheMonitor">Is told of memory, or null.</param>
    /// <param name="monitorWriteInterval">How often it gets a report, at most; null for never.</param>
    public ChronologicalEvictionStrategy(
        ILogger logger, TimePurgePredicate timePurage, ICacheMonitor? cacheMonitor, TimeSpan? monitorWriteInterval)
    {
        ArgumentNullException.ThrowIfNull(logger);
        ArgumentNullException.ThrowIfNull(timePurage);
        (_predicate, _monitor, _monitorPeriod) = (timePurage, cacheMonitor, monitorWriteInterval);
    }

    /// <inheritdoc/>
    public Action<CachedMessage?, CachedMessage?>? OnPurged { get; set; }

    /// <inheritdoc/>
    public IPurgeObservable PurgeObservable
    {
        set => _cache = value;
    }

    /// <inheritdoc/>
    public void OnBlockAllocated(FixedSizeBuffer newBlock)
    {
        ArgumentNullException.ThrowIfNull(newBlock);
        inUseBuffers.Enqueue(newBlock);
        _size += newBlock.SizeInByte;
        _monitor?.TrackMemoryAllocated(newBlock.SizeInByte);
    }

    /// <inheritdoc/>
    public void PerformPurge(DateTime utcNow)
    {
        if (_cache is not { } cache)
            throw new InvalidOperationException("PurgeObservable was not set.");
        CachedMessage? lastRemoved = null;
        var removed = 0;
        while (cache.Oldest is { } oldest && cache.Newest is { } newest && ShouldPurge(ref oldest, ref newest, utcNow))
        {
            cache.RemoveOldestMessage();
            lastRemoved = oldest;
            removed++;
        }

        if (removed > 0)
        {
            _monitor?.TrackMessagesPurged(removed);
            FreeBuffers(cache);
            OnPurged?.Invoke(lastRemoved, cache.Newest);
        }

        if (_monitor is null || _monitorPeriod is not { } period || utcNow < _nextReport)
            return;
        _nextReport = utcNow + period;
        _monitor.ReportCacheSize(_size);
    }

    /// <summary>Whether the oldest message goes now.</summary>
    protected virtual bool ShouldPurge(ref CachedMessage cachedMessage, ref CachedMessage newestCachedMessage, DateTime nowUtc) =>
        _predicate.ShouldPurgeFromTime(
            nowUtc - cachedMessage.DequeueTimeUtc, newestCachedMessage.EnqueueTimeUtc - cachedMessage.EnqueueTimeUtc);

    private void FreeBuffers(IPurgeObservable cache)
    {
        var inUse = cache.Oldest?.Segment.Array;
        while (inUseBuffers.Count > 1 && !ReferenceEquals(inUseBuffers.Peek().Id, inUse))
        {
            var free = inUseBuffers.Dequeue();
            _size -= free.SizeInByte;
            Invariant.Holds(_size >= 0);
            _monitor?.TrackMemoryReleased(free.SizeInByte);
            free.SignalPurge();
        }
    }
}
