using System.Buffers.Binary;
using System.Text;
using Orleans.Runtime;
using Orleans.Streams;

namespace Orleans.Providers.Streams.Common;

/// <summary>Keeps objects for reuse.</summary>
/// <typeparam name="T">Their class.</typeparam>
public interface IObjectPool<T>
    where T : IDisposable
{
    /// <summary>An object that is free, or a new one.</summary>
    T Allocate();

    /// <summary>The object is free again.</summary>
    void Free(T resource);
}

/// <summary>What a pool tells of itself.</summary>
public interface IObjectPoolMonitor
{
    /// <summary>An object was handed out.</summary>
    void TrackObjectAllocated();

    /// <summary>An object was given back.</summary>
    void TrackObjectReleased();

    /// <summary>How many objects there are, how many are free, and how many are in use.</summary>
    void Report(long totalObjects, long availableObjects, long claimedObjects);
}

/// <summary>An object that goes back to its pool when it is disposed, once.</summary>
/// <typeparam name="T">Its own class.</typeparam>
public abstract class PooledResource<T> : IDisposable
    where T : PooledResource<T>, IDisposable
{
    private IObjectPool<T>? _pool;

    /// <summary>Where it goes. Set by the pool that hands it out.</summary>
    public IObjectPool<T> Pool
    {
        set => _pool = value;
    }

    /// <summary>It was asked to free its memory: it goes back, unless the class has more to do.</summary>
    public virtual void SignalPurge() => Dispose();

    /// <summary>It goes back: whatever it holds must be as in a new one.</summary>
    public virtual void OnResetState()
    {
    }

    /// <summary>Gives it back. A second call does nothing.</summary>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _pool, null) is not { } pool)
            return;
        OnResetState();
        pool.Free((T)this);
        GC.SuppressFinalize(this);
    }
}

/// <summary>Hands out the object that was given back last. It has no limit: it keeps as many objects as were in use at the same
/// time.</summary>
/// <typeparam name="T">Their class.</typeparam>
public class ObjectPool<T> : IObjectPool<T>
    where T : PooledResource<T>
{
    private readonly Lock _gate = new();
    private readonly Stack<T> _free = new();
    private readonly Func<T> _factory;
    private readonly IObjectPoolMonitor? _monitor;
    private readonly TimeSpan? _reportPeriod;
    private long _lastReport = TimeProvider.System.GetTimestamp();
    private long _total;

    /// <summary>An empty pool.</summary>
    /// <param name="factoryFunc">Makes an object.</param>
    /// <param name="monitor">Is told of what is handed out and given back, or null.</param>
    /// <param name="monitorWriteInterval">How often it gets a report, at most; null for never.</param>
    public ObjectPool(Func<T> factoryFunc, IObjectPoolMonitor? monitor = null, TimeSpan? monitorWriteInterval = null)
    {
        ArgumentNullException.ThrowIfNull(factoryFunc);
        (_factory, _monitor, _reportPeriod) = (factoryFunc, monitor, monitorWriteInterval);
    }

    /// <inheritdoc/>
    public virtual T Allocate()
    {
        T? resource;
        lock (_gate)
        {
            if (!_free.TryPop(out resource))
                _total++;
        }

        resource ??= _factory();
        resource.Pool = this;
        _monitor?.TrackObjectAllocated();
        Report();
        return resource;
    }

    /// <inheritdoc/>
    public virtual void Free(T resource)
    {
        lock (_gate)
            _free.Push(resource);
        _monitor?.TrackObjectReleased();
        Report();
    }

    private void Report()
    {
        if (_monitor is null || _reportPeriod is not { } period || TimeProvider.System.GetElapsedTime(_lastReport) < period)
            return;
        _lastReport = TimeProvider.System.GetTimestamp();
        long total, free;
        lock (_gate)
            (total, free) = (_total, _free.Count);
        _monitor.Report(total, free, total - free);
    }
}

/// <summary>Memory of a fixed size, from which segments are taken one after the other.</summary>
public class FixedSizeBuffer : PooledResource<FixedSizeBuffer>
{
    /// <summary>Its size.</summary>
    public readonly int SizeInByte;

    private readonly byte[] _bytes;
    private int _used;

    /// <summary>New memory.</summary>
    public FixedSizeBuffer(int blockSizeInByte)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(blockSizeInByte);
        SizeInByte = blockSizeInByte;
        _bytes = new byte[blockSizeInByte];
    }

    /// <summary>The array of all its segments.</summary>
    public object Id => _bytes;

    /// <summary>Takes a segment; false if there is no room for it.</summary>
    public bool TryGetSegment(int size, out ArraySegment<byte> value)
    {
        value = default;
        if (size > SizeInByte - _used)
            return false;
        value = new ArraySegment<byte>(_bytes, _used, size);
        _used += size;
        return true;
    }

    /// <inheritdoc/>
    public override void OnResetState() => _used = 0;
}

/// <summary>Writes byte strings and texts into a segment, each behind its length, and reads them in the same order.</summary>
public static class SegmentBuilder
{
    private const int LengthSize = sizeof(int);

    /// <summary>The bytes that <see cref="Append(ArraySegment{byte}, ref int, ReadOnlySpan{byte})"/> needs.</summary>
    public static int CalculateAppendSize(ReadOnlySpan<byte> memory) => LengthSize + memory.Length;

    /// <summary>The bytes that <see cref="Append(ArraySegment{byte}, ref int, string)"/> needs.</summary>
    public static int CalculateAppendSize(string? str) => LengthSize + (str is null ? 0 : Encoding.UTF8.GetByteCount(str));

    /// <summary>Writes bytes, and moves the offset behind them.</summary>
    public static void Append(ArraySegment<byte> segment, ref int writerOffset, ReadOnlySpan<byte> bytes)
    {
        var rest = segment.AsSpan(writerOffset);
        BinaryPrimitives.WriteInt32LittleEndian(rest, bytes.Length);
        bytes.CopyTo(rest[LengthSize..]);
        writerOffset += LengthSize + bytes.Length;
    }

    /// <summary>Writes a text or null, and moves the offset behind it.</summary>
    public static void Append(ArraySegment<byte> segment, ref int writerOffset, string? str)
    {
        if (str is not null)
        {
            Append(segment, ref writerOffset, Encoding.UTF8.GetBytes(str));
            return;
        }

        BinaryPrimitives.WriteInt32LittleEndian(segment.AsSpan(writerOffset), -1);
        writerOffset += LengthSize;
    }

    /// <summary>Reads bytes, without copying them, and moves the offset behind them.</summary>
    public static ArraySegment<byte> ReadNextBytes(ArraySegment<byte> segment, ref int readerOffset)
    {
        var length = Math.Max(0, BinaryPrimitives.ReadInt32LittleEndian(segment.AsSpan(readerOffset)));
        readerOffset += LengthSize;
        var bytes = segment.Slice(readerOffset, length);
        readerOffset += length;
        return bytes;
    }

    /// <summary>Reads a text or null, and moves the offset behind it.</summary>
    public static string? ReadNextString(ArraySegment<byte> segment, ref int readerOffset)
    {
        if (BinaryPrimitives.ReadInt32LittleEndian(segment.AsSpan(readerOffset)) >= 0)
            return Encoding.UTF8.GetString(ReadNextBytes(segment, ref readerOffset));
        readerOffset += LengthSize;
        return null;
    }
}

/// <summary>A message of a queue in a <see cref="PooledQueueCache"/>. Equal are those whose fields are, with the same buffer.</summary>
public record struct CachedMessage
{
    /// <summary>Its stream.</summary>
    public StreamId StreamId;

    /// <summary>Its position in the queue.</summary>
    public long SequenceNumber;

    /// <summary>Its position among those with the same number.</summary>
    public int EventIndex;

    /// <summary>When it was put into the queue.</summary>
    public DateTime EnqueueTimeUtc;

    /// <summary>When it was read from the queue.</summary>
    public DateTime DequeueTimeUtc;

    /// <summary>What it says, in a <see cref="FixedSizeBuffer"/>.</summary>
    public ArraySegment<byte> Segment;
}

/// <summary>Compares messages.</summary>
public static class CachedMessageExtensions
{
    /// <summary>Whether the message is before the position (negative), at it (0), or behind it (positive).</summary>
    public static int Compare(this ref CachedMessage cachedMessage, StreamSequenceToken token)
    {
        ArgumentNullException.ThrowIfNull(token);
        var order = cachedMessage.SequenceNumber.CompareTo(token.SequenceNumber);
        return order != 0 ? order : cachedMessage.EventIndex.CompareTo(token.EventIndex);
    }

    /// <summary>Whether the message is of the stream.</summary>
    public static bool CompareStreamId(this ref CachedMessage cachedMessage, StreamId streamId) =>
        cachedMessage.StreamId.Equals(streamId);
}

/// <summary>Makes batches and positions of messages in a cache.</summary>
public interface ICacheDataAdapter
{
    /// <summary>The batch. Its bytes are valid as long as the message is in the cache.</summary>
    IBatchContainer GetBatchContainer(ref CachedMessage cachedMessage);

    /// <summary>The position.</summary>
    StreamSequenceToken GetSequenceToken(ref CachedMessage cachedMessage);
}

/// <summary>A fixed number of messages: they are added at the end and removed at the begin, and places are not used again.</summary>
public class CachedMessageBlock : PooledResource<CachedMessageBlock>
{
    private readonly CachedMessage[] _messages;
    private readonly LinkedListNode<CachedMessageBlock> _node;
    private int _begin;
    private int _end;

    /// <summary>An empty block.</summary>
    public CachedMessageBlock(int blockSize = 16384)
    {
        _messages = new CachedMessage[blockSize];
        _node = new LinkedListNode<CachedMessageBlock>(this);
    }

    /// <summary>For whoever keeps blocks in a list.</summary>
    public LinkedListNode<CachedMessageBlock> Node => _node;

    /// <summary>Whether a message can be added.</summary>
    public bool HasCapacity => _end < _messages.Length;

    /// <summary>Whether all messages were removed.</summary>
    public bool IsEmpty => _begin >= _end;

    /// <summary>The number of messages.</summary>
    public int ItemCount => Math.Max(0, _end - _begin);

    /// <summary>The place of the oldest message.</summary>
    public int OldestMessageIndex => _begin;

    /// <summary>The place of the newest message.</summary>
    public int NewestMessageIndex => _end - 1;

    /// <summary>The oldest message.</summary>
    public CachedMessage OldestMessage => _messages[_begin];

    /// <summary>The newest message.</summary>
    public CachedMessage NewestMessage => _messages[_end - 1];

    /// <summary>The message at a place.</summary>
    public CachedMessage this[int index]
    {
        get
        {
            Check(index);
            return _messages[index];
        }
    }

    /// <summary>Adds a message.</summary>
    /// <exception cref="InvalidOperationException">The block is full.</exception>
    public void Add(CachedMessage message)
    {
        if (!HasCapacity)
            throw new InvalidOperationException("The block is full.");
        _messages[_end++] = message;
    }

    /// <summary>Removes the oldest message; false if there is none left then.</summary>
    public bool Remove()
    {
        if (IsEmpty)
            return false;
        // So that its memory is not kept.
        _messages[_begin++] = default;
        return true;
    }

    /// <summary>The place of the newest message that is not behind a position; of the oldest one if all are.</summary>
    public int GetIndexOfFirstMessageLessThanOrEqualTo(StreamSequenceToken token)
    {
        for (var index = _end - 1; index > _begin; index--)
        {
            if (_messages[index].Compare(token) <= 0)
                return index;
        }

        return _begin;
    }

    /// <summary>The position of the newest message.</summary>
    public StreamSequenceToken GetNewestSequenceToken(ICacheDataAdapter dataAdapter) => GetSequenceToken(NewestMessageIndex, dataAdapter);

    /// <summary>The position of the oldest message.</summary>
    public StreamSequenceToken GetOldestSequenceToken(ICacheDataAdapter dataAdapter) => GetSequenceToken(OldestMessageIndex, dataAdapter);

    /// <summary>The position of the message at a place.</summary>
    public StreamSequenceToken GetSequenceToken(int index, ICacheDataAdapter dataAdapter)
    {
        ArgumentNullException.ThrowIfNull(dataAdapter);
        Check(index);
        return dataAdapter.GetSequenceToken(ref _messages[index]);
    }

    /// <summary>Finds the oldest message of a stream.</summary>
    public bool TryFindFirstMessage(StreamId streamId, ICacheDataAdapter dataAdapter, out int index) =>
        TryFindNextMessage(_begin, streamId, dataAdapter, out index);

    /// <summary>Finds the first message of a stream from a place on.</summary>
    public bool TryFindNextMessage(int start, StreamId streamId, ICacheDataAdapter dataAdapter, out int index)
    {
        for (index = Math.Max(start, _begin); index < _end; index++)
        {
            if (_messages[index].CompareStreamId(streamId))
                return true;
        }

        index = 0;
        return false;
    }

    /// <inheritdoc/>
    public override void OnResetState()
    {
        Array.Clear(_messages, _begin, ItemCount);
        (_begin, _end) = (0, 0);
    }

    private void Check(int index)
    {
        if (index < _begin || index >= _end)
            throw new ArgumentOutOfRangeException(nameof(index), index, "The block has messages at " + _begin + " to " + (_end - 1) + ".");
    }
}
