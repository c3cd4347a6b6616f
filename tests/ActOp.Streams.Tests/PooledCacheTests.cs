using Microsoft.Extensions.Logging.Abstractions;
using Orleans.Providers.Streams.Common;
using Orleans.Streams;

namespace ActOp.Streams.Tests;

/// <summary>The cache for adapters of applications: messages in pooled memory, with cursors.</summary>
public class PooledCacheTests
{
    private static readonly DateTime Noon = new(2026, 1, 1, 12, 0, 0, DateTimeKind.Utc);
    private static readonly StreamId Mine = StreamId.Create("cache", "mine");
    private static readonly StreamId Other = StreamId.Create("cache", "other");

    [Fact]
    public void A_cursor_gets_the_messages_of_its_stream_from_its_position_on()
    {
        var cache = NewCache();
        for (var number = 0; number < 5000; number++)
            Add(cache, number, number % 2 == 0 ? Mine : Other);
        Assert.Equal(Enumerable.Range(1500, 1000).Select(static one => 2L * one), Rest(cache, cache.GetCursor(Mine, At(2999))));
        var latest = cache.GetCursor(Other, null);
        Assert.Empty(Rest(cache, latest));
        Add(cache, 6000, Mine);
        Add(cache, 6001, Other);
        Assert.Equal([6001], Rest(cache, latest));
        Assert.Equal((5002, 0L, 6001L), (cache.ItemCount, cache.Oldest!.Value.SequenceNumber, cache.Newest!.Value.SequenceNumber));
    }

    [Fact]
    public void A_cursor_waits_for_a_position_that_is_still_to_come_and_refresh_never_moves_it_back()
    {
        var cache = NewCache();
        Add(cache, 1, Mine);
        var cursor = cache.GetCursor(Mine, At(5));
        cache.Refresh(cursor, At(2));
        for (var number = 2; number < 7; number++)
            Add(cache, number, Mine);
        Assert.Equal([5, 6], Rest(cache, cursor));
        var active = cache.GetCursor(Mine, At(1));
        cache.Refresh(active, At(6));
        Assert.Equal([1, 2, 3, 4, 5, 6], Rest(cache, active));
    }

    [Fact]
    public void Removed_messages_are_missed_only_if_they_were_of_the_stream()
    {
        var cache = NewCache(TimeSpan.FromMinutes(1));
        Add(cache, 1, Mine);
        var cursor = cache.GetCursor(Mine, At(1));
        Assert.Equal([1], Rest(cache, cursor));
        Add(cache, 2, Other);
        Add(cache, 3, Mine);
        Remove(cache, 2);
        Assert.Equal([3], Rest(cache, cursor));
        Add(cache, 4, Mine);
        Add(cache, 5, Mine);
        Remove(cache, 2);
        var miss = Assert.Throws<QueueCacheMissException>(() => cache.TryGetNextMessage(cursor, out _));
        Assert.Equal(At(5).ToString(), miss.Low);
        Assert.Throws<QueueCacheMissException>(() => cache.GetCursor(Other, At(1)));
    }

    [Fact]
    public void Without_a_memory_of_removals_a_cursor_behind_the_oldest_message_goes_on_only_where_it_is_told()
    {
        var cache = NewCache();
        var cursor = cache.GetCursor(Mine, null);
        Add(cache, 1, Other);
        Remove(cache, 1);
        Add(cache, 2, Mine);
        Assert.Throws<QueueCacheMissException>(() => cache.TryGetNextMessage(cursor, out _));
        cache.Refresh(cursor, At(2));
        Assert.Equal([2], Rest(cache, cursor));
    }

    [Fact]
    public void Memory_goes_back_to_its_pool_when_no_message_is_in_it_except_the_newest()
    {
        var made = 0;
        var pool = new ObjectPool<FixedSizeBuffer>(() =>
        {
            made++;
            return new FixedSizeBuffer(32);
        });
        var cache = NewCache();
        var strategy = new ChronologicalEvictionStrategy(
            NullLogger.Instance, new TimePurgePredicate(TimeSpan.FromMinutes(1), TimeSpan.FromMinutes(2)), null, null)
        {
            PurgeObservable = cache,
        };
        (CachedMessage? Last, CachedMessage? Newest) told = default;
        strategy.OnPurged = (last, newest) => told = (last, newest);
        FixedSizeBuffer? current = null;
        for (var number = 0; number < 8; number++)
        {
            // Two messages fit into a buffer.
            if (current is null || !current.TryGetSegment(12, out var segment))
            {
                current = pool.Allocate();
                strategy.OnBlockAllocated(current);
                Assert.True(current.TryGetSegment(12, out segment));
            }

            Add(cache, number, Mine, Noon.AddMinutes(number), segment);
        }

        strategy.PerformPurge(Noon.AddMinutes(8));
        Assert.Equal((4L, 7L), (told.Last!.Value.SequenceNumber, told.Newest!.Value.SequenceNumber));
        Assert.Equal((3, 4), (cache.ItemCount, made));
        pool.Allocate();
        pool.Allocate();
        Assert.Equal(4, made);
        pool.Allocate();
        Assert.Equal(5, made);
    }

    [Fact]
    public void Segments_hold_bytes_and_texts_in_order()
    {
        byte[] bytes = [1, 2, 3];
        var size = SegmentBuilder.CalculateAppendSize("é") + SegmentBuilder.CalculateAppendSize((string?)null)
            + SegmentBuilder.CalculateAppendSize(bytes);
        var segment = new ArraySegment<byte>(new byte[size]);
        var offset = 0;
        SegmentBuilder.Append(segment, ref offset, "é");
        SegmentBuilder.Append(segment, ref offset, (string?)null);
        SegmentBuilder.Append(segment, ref offset, bytes);
        Assert.Equal(segment.Count, offset);
        offset = 0;
        Assert.Equal("é", SegmentBuilder.ReadNextString(segment, ref offset));
        Assert.Null(SegmentBuilder.ReadNextString(segment, ref offset));
        Assert.Equal(bytes, SegmentBuilder.ReadNextBytes(segment, ref offset).ToArray());
    }

    [Fact]
    public void A_block_finds_its_messages_by_position_and_by_stream()
    {
        var block = new CachedMessageBlock(4);
        var adapter = new Adapter();
        for (var number = 0; block.HasCapacity; number++)
            block.Add(new CachedMessage { StreamId = number % 2 == 0 ? Mine : Other, SequenceNumber = 2 * number });
        Assert.True(block.Remove());
        Assert.Equal((1, 3, 3), (block.OldestMessageIndex, block.NewestMessageIndex, block.ItemCount));
        Assert.Equal(2, block.GetIndexOfFirstMessageLessThanOrEqualTo(At(5)));
        Assert.True(block.TryFindFirstMessage(Mine, adapter, out var index));
        Assert.Equal(2, index);
        Assert.False(block.TryFindNextMessage(3, Mine, adapter, out _));
        Assert.Equal(6, block.GetNewestSequenceToken(adapter).SequenceNumber);
    }

    private static PooledQueueCache NewCache(TimeSpan? remembers = null) => new(new Adapter(), NullLogger.Instance, null, null, remembers);

    private static EventSequenceTokenV2 At(long number) => new(number);

    private static void Add(
        PooledQueueCache cache, long number, StreamId stream, DateTime? at = null, ArraySegment<byte> segment = default) =>
        cache.Add([new CachedMessage
        {
            StreamId = stream, SequenceNumber = number, EnqueueTimeUtc = at ?? Noon, DequeueTimeUtc = at ?? Noon, Segment = segment,
        }], at ?? Noon);

    private static void Remove(PooledQueueCache cache, int count)
    {
        for (var i = 0; i < count; i++)
            cache.RemoveOldestMessage();
    }

    private static List<long> Rest(PooledQueueCache cache, object cursor)
    {
        var found = new List<long>();
        while (cache.TryGetNextMessage(cursor, out var batch))
            found.Add(batch!.SequenceToken.SequenceNumber);
        return found;
    }

    private sealed class Adapter : ICacheDataAdapter
    {
        public IBatchContainer GetBatchContainer(ref CachedMessage cachedMessage) =>
            new Batch(cachedMessage.StreamId, GetSequenceToken(ref cachedMessage));

        public StreamSequenceToken GetSequenceToken(ref CachedMessage cachedMessage) =>
            new EventSequenceTokenV2(cachedMessage.SequenceNumber, cachedMessage.EventIndex);
    }

    private sealed class Batch(StreamId stream, StreamSequenceToken token) : IBatchContainer
    {
        public StreamId StreamId => stream;

        public StreamSequenceToken SequenceToken => token;

        public IEnumerable<Tuple<T, StreamSequenceToken>> GetEvents<T>() => [];

        public bool ImportRequestContext() => false;
    }
}
