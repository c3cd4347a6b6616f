using ActOp.Streams;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging.Abstractions;
using Orleans.Providers.Streams.Common;
using Orleans.Streams;
using Orleans.Streams.PubSub;

namespace ActOp.Streams.Tests;

/// <summary>The cache of an agent, and how queues are shared.</summary>
public class QueueCacheTests
{
    private static readonly StreamId One = StreamId.Create("ns", "one");
    private static readonly StreamId Two = StreamId.Create("ns", "two");

    [Fact]
    public void A_cursor_visits_the_batches_of_its_stream_only_in_order()
    {
        var cache = new SimpleQueueCache(10, NullLogger.Instance);
        using var cursor = cache.GetCacheCursor(One, null);
        cache.AddToCache([Batch(One, 1), Batch(Two, 2), Batch(One, 3)]);
        Assert.Equal([1L, 3L], Read(cursor));
        Assert.Empty(Read(cursor));
        cache.AddToCache([Batch(One, 4)]);
        Assert.Equal([4L], Read(cursor));
    }

    [Fact]
    public void A_batch_is_purged_when_every_cursor_has_passed_it_and_stays_readable()
    {
        var cache = new SimpleQueueCache(10, NullLogger.Instance);
        using var slow = cache.GetCacheCursor(One, null);
        using var fast = cache.GetCacheCursor(One, null);
        cache.AddToCache([Batch(One, 1), Batch(One, 2)]);
        Read(fast);
        Assert.False(cache.TryPurgeFromCache(out _));
        slow.MoveNext();
        slow.MoveNext();
        Assert.True(cache.TryPurgeFromCache(out var purged));
        Assert.Equal([1L], purged.Select(static batch => batch.SequenceToken.SequenceNumber));
        using var late = cache.GetCacheCursor(One, new EventSequenceTokenV2(1));
        Assert.Equal([1L, 2L], Read(late));
    }

    [Fact]
    public void Batches_that_nobody_reads_are_purged_at_once()
    {
        var cache = new SimpleQueueCache(10, NullLogger.Instance);
        cache.AddToCache([Batch(One, 1), Batch(Two, 2)]);
        Assert.True(cache.TryPurgeFromCache(out var purged));
        Assert.Equal(2, purged.Count);
    }

    [Fact]
    public void A_cache_full_of_batches_that_were_not_delivered_is_under_pressure()
    {
        var cache = new SimpleQueueCache(3, NullLogger.Instance);
        using var cursor = cache.GetCacheCursor(One, null);
        cache.AddToCache([Batch(One, 1), Batch(One, 2), Batch(One, 3)]);
        Assert.True(cache.IsUnderPressure());
        Assert.Equal(0, cache.GetMaxAddCount());
        cursor.MoveNext();
        cursor.MoveNext();
        cache.TryPurgeFromCache(out _);
        Assert.Equal(1, cache.GetMaxAddCount());
        cache.AddToCache([Batch(One, 4)]);
        Assert.Equal(3, cache.Size);
        Assert.Throws<QueueCacheMissException>(() => cache.GetCacheCursor(One, new EventSequenceTokenV2(1)));
    }

    [Fact]
    public void A_cursor_that_is_given_back_holds_nothing()
    {
        var cache = new SimpleQueueCache(3, NullLogger.Instance);
        var cursor = cache.GetCacheCursor(One, null);
        cache.AddToCache([Batch(One, 1)]);
        cursor.Dispose();
        cursor.Dispose();
        Assert.True(cache.TryPurgeFromCache(out _));
    }

    /// <summary>The batch at which the cursor is was the last one of its stream, and its place was needed.</summary>
    [Fact]
    public void A_cursor_that_has_gone_back_gets_everything_that_comes_later()
    {
        var cache = new SimpleQueueCache(2, NullLogger.Instance);
        cache.AddToCache([Batch(One, 1)]);
        cache.TryPurgeFromCache(out _);
        using var back = cache.GetCacheCursor(One, new EventSequenceTokenV2(1));
        cache.AddToCache([Batch(Two, 2), Batch(Two, 3)]);
        cache.TryPurgeFromCache(out _);
        cache.AddToCache([Batch(One, 4)]);
        Assert.Equal([1L, 4L], Read(back));
    }

    /// <summary>A batch that is purged is acknowledged: the cursor behind it has not delivered it.</summary>
    [Fact]
    public void What_comes_behind_a_cursor_that_has_gone_back_is_not_purged_before_it_and_no_batch_is_purged_twice()
    {
        var cache = new SimpleQueueCache(3, NullLogger.Instance);
        using var fast = cache.GetCacheCursor(One, null);
        cache.AddToCache([Batch(One, 1)]);
        Assert.Equal([1L], Read(fast));
        Assert.True(cache.TryPurgeFromCache(out _));
        using var back = cache.GetCacheCursor(One, new EventSequenceTokenV2(1));
        cache.AddToCache([Batch(One, 2)]);
        Assert.Equal([2L], Read(fast));
        Assert.False(cache.TryPurgeFromCache(out _));
        Assert.Equal(1, cache.GetMaxAddCount());
        Assert.Equal([1L, 2L], Read(back));
        Assert.True(cache.TryPurgeFromCache(out var purged));
        Assert.Equal([2L], purged.Select(static batch => batch.SequenceToken.SequenceNumber));
        Assert.Equal(3, cache.GetMaxAddCount());
    }

    [Fact]
    public void Positions_of_both_classes_are_in_one_order()
    {
        StreamSequenceToken[] firsts = [new EventSequenceToken(1, 2), new EventSequenceTokenV2(1, 2)];
        StreamSequenceToken[] seconds = [new EventSequenceToken(1, 3), new EventSequenceTokenV2(2)];
        foreach (var first in firsts)
        {
            Assert.All(firsts, same => Assert.Equal((0, true, first.GetHashCode()),
                (first.CompareTo(same), first.Equals(same), same.GetHashCode())));
            Assert.All(seconds, second => Assert.Equal((-1, 1, false),
                (first.CompareTo(second), second.CompareTo(first), first.Equals(second))));
            Assert.Throws<ArgumentOutOfRangeException>(() => first.CompareTo(new OtherPosition()));
        }
    }

    [Fact]
    public void A_cursor_begins_at_a_position_of_the_other_class()
    {
        var cache = new SimpleQueueCache(3, NullLogger.Instance);
        using (cache.GetCacheCursor(One, null))
            cache.AddToCache([Batch(One, 1), Batch(One, 2), Batch(One, 3)]);
        using var cursor = cache.GetCacheCursor(One, new EventSequenceToken(2));
        Assert.Equal([2L, 3L], Read(cursor));
    }

    [Fact]
    public void A_position_that_cannot_be_compared_leaves_no_cursor_behind()
    {
        var cache = new SimpleQueueCache(3, NullLogger.Instance);
        cache.AddToCache([Batch(One, 1)]);
        Assert.Throws<ArgumentOutOfRangeException>(() => cache.GetCacheCursor(One, new OtherPosition()));
        cache.AddToCache([Batch(One, 2)]);
        Assert.True(cache.TryPurgeFromCache(out var purged));
        Assert.Equal(2, purged.Count);
    }

    [Fact]
    public void Delivered_batches_leave_by_their_age_and_are_remembered_for_a_time()
    {
        var clock = new FakeClock();
        var cache = new SimpleQueueCache(
            10,
            new StreamCacheEvictionOptions
            {
                DataMinTimeInCache = TimeSpan.FromMinutes(1),
                DataMaxAgeInCache = TimeSpan.FromMinutes(2),
                MetadataMinTimeInCache = TimeSpan.FromMinutes(10),
            },
            clock);
        cache.AddToCache([Batch(One, 1)]);
        cache.TryPurgeFromCache(out _);
        Assert.Equal(1, cache.Size);
        clock.Advance(TimeSpan.FromMinutes(3));
        cache.TryPurgeFromCache(out _);
        Assert.Equal(0, cache.Size);
        Assert.Throws<QueueCacheMissException>(() => cache.GetCacheCursor(One, new EventSequenceTokenV2(1)));
        clock.Advance(TimeSpan.FromMinutes(11));
        using var cursor = cache.GetCacheCursor(One, new EventSequenceTokenV2(1));
        cache.AddToCache([Batch(One, 2)]);
        Assert.Equal([2L], Read(cursor));
    }

    [Fact]
    public void Queues_are_shared_evenly_and_few_move_when_a_silo_leaves()
    {
        QueueId[] queues =
            [.. new HashRingBasedStreamQueueMapper(new HashRingStreamQueueMapperOptions { TotalQueueCount = 16 }, "p").GetAllQueues()];
        SiloAddress[] silos = [.. Enumerable.Range(1, 4).Select(static port =>
            SiloAddress.New(new System.Net.IPEndPoint(System.Net.IPAddress.Loopback, port), 1))];
        var shares = Array.ConvertAll(silos, silo => EvenQueueBalancer.Share(queues, silos, silo));
        Assert.All(shares, static share => Assert.Equal(4, share.Length));
        Assert.Equal(queues, shares.SelectMany(static share => share).Order());
        var left = silos[1..];
        Assert.Equal(queues, left.SelectMany(silo => EvenQueueBalancer.Share(queues, left, silo)).Order());
        Assert.Empty(EvenQueueBalancer.Share(queues, left, silos[0]));
    }

    [Fact]
    public void A_stream_is_in_one_queue_of_every_process()
    {
        var mapper = new HashRingBasedStreamQueueMapper(new HashRingStreamQueueMapperOptions { TotalQueueCount = 5 }, "p");
        var used = Enumerable.Range(0, 200).Select(key => mapper.GetQueueForStream(StreamId.Create("ns", key))).Distinct().ToArray();
        Assert.Equal(5, used.Length);
        Assert.Equal(mapper.GetAllQueues().Order(), used.Order());
        Assert.Equal("p-3", mapper.GetAllQueues().ElementAt(3).ToString());
    }

    [Theory]
    [InlineData("10", "9", 1)]
    [InlineData("+9", "9", 0)]
    [InlineData("100000000000000000000", "99999999999999999999", 1)]
    [InlineData("no number", "9", 0)]
    [InlineData("9", "", 0)]
    public void Checkpoints_that_are_numbers_compare_as_numbers_and_others_are_equal(string left, string right, int order)
    {
        Assert.Equal(order, StreamCheckpointComparers.Numeric.Compare(left, right));
        Assert.Equal(-order, StreamCheckpointComparers.Numeric.Compare(right, left));
    }

    [Fact]
    public void Patterns_with_a_type_make_only_predicates()
    {
        var provider = new ConstructorStreamNamespacePredicateProvider();
        var regex = ConstructorStreamNamespacePredicateProvider.FormatPattern(typeof(RegexStreamNamespacePredicate), "a+");
        Assert.True(provider.TryGetPredicate(regex, out var predicate) && predicate.IsMatch("aa"));
        Assert.False(provider.TryGetPredicate("namespace:a", out _));
        Assert.False(provider.TryGetPredicate("ctor:Absent.Type, Absent", out _));
        var foreign = "ctor:" + typeof(System.Collections.ArrayList).FullName;
        Assert.Throws<InvalidOperationException>(() => provider.TryGetPredicate(foreign, out _));
        Assert.Throws<ArgumentNullException>("predicatePattern", () => provider.TryGetPredicate(null!, out _));
    }

    [Fact]
    public void A_missing_manager_of_subscriptions_is_named_before_the_grain_is_sought()
    {
        Assert.Throws<ArgumentNullException>("manager", () =>
        {
            _ = StreamSubscriptionManagerExtensions.AddSubscription<IGrainWithGuidKey>(null!, null!, default, "p", Guid.Empty);
        });
    }

    [Fact]
    public void A_mapper_of_no_queues_is_empty()
    {
        var mapper = new HashRingBasedStreamQueueMapper(new HashRingStreamQueueMapperOptions { TotalQueueCount = 0 }, "p");
        Assert.Empty(mapper.GetAllQueues());
        Assert.Equal(default, mapper.GetQueueForStream(StreamId.Create("ns", 1)));
    }

    private static List<long> Read(IQueueCacheCursor cursor)
    {
        var numbers = new List<long>();
        while (cursor.MoveNext())
            numbers.Add(cursor.GetCurrent(out _)!.SequenceToken.SequenceNumber);
        return numbers;
    }

    private static NumberedBatch Batch(StreamId stream, long number) => new(stream, number);

    private sealed class NumberedBatch(StreamId stream, long number) : IBatchContainer
    {
        public StreamId StreamId => stream;

        public StreamSequenceToken SequenceToken => new EventSequenceTokenV2(number);

        public IEnumerable<Tuple<T, StreamSequenceToken>> GetEvents<T>() => [];

        public bool ImportRequestContext() => false;
    }

    /// <summary>A position of an application's queue.</summary>
    private sealed class OtherPosition : StreamSequenceToken
    {
        public override long SequenceNumber { get; protected set; }

        public override int EventIndex { get; protected set; }

        public override bool Equals(StreamSequenceToken? other) => other is OtherPosition;

        public override int CompareTo(StreamSequenceToken? other) => throw new ArgumentOutOfRangeException(nameof(other));
    }
}
