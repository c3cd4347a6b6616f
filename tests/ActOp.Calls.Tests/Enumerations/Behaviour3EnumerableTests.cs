using ActOp.Runtime.Activations;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests.Enumerations;

/// <summary>Hard-to-match behaviour 3: IAsyncEnumerable batching, interleaving, cancellation and what filters see.</summary>
public sealed class Behaviour3EnumerableTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    private const string Start = "Orleans.Runtime.IAsyncEnumerableGrainExtension.StartEnumeration";
    private const string Next = "Orleans.Runtime.IAsyncEnumerableGrainExtension.MoveNext";
    private const string Disposal = "Orleans.Runtime.IAsyncEnumerableGrainExtension.DisposeAsync";

    private IFeed NewFeed(int caller = -1) => (caller < 0 ? cluster.Client : cluster.ClientOf(caller)).GetGrain<IFeed>(Guid.NewGuid());

    [Theory]
    [InlineData(-1)]
    [InlineData(0)]
    [InlineData(1)]
    public async Task Items_arrive_in_order_while_other_calls_run(int caller)
    {
        var feed = NewFeed(caller);
        await Place.On(cluster.AddressOf(0), () => feed.Seat().AsTask());
        var producer = Task.Run(async () =>
        {
            for (var item = 0; item < 5; item++)
            {
                await Task.Yield();
                await feed.Publish(item.ToString());
            }

            await feed.Complete();
        });
        var items = await feed.Items().ToListAsync().AsTask().WaitAsync(Gate.Patience);
        await producer;
        Assert.Equal(["0", "1", "2", "3", "4"], items);
        Assert.Contains(Disposal, await feed.IncomingCalls());
    }

    [Fact]
    public async Task Nothing_is_called_before_the_first_step()
    {
        using var begun = new Gate();
        using var ended = new Gate();
        var feed = NewFeed();
        await using (feed.Silence(begun.Name, ended.Name).GetAsyncEnumerator())
            Assert.DoesNotContain(Start, await feed.IncomingCalls());
        Assert.Equal(0, begun.Count);
    }

    [Theory]
    [InlineData(50, 1, 0)]
    [InlineData(10, 1, 5)]
    [InlineData(7, 1, 7)]
    public async Task Items_that_are_there_come_in_batches_of_the_wanted_size(int batch, int starts, int steps)
    {
        var feed = NewFeed();
        for (var item = 0; item < 50; item++)
            await feed.Publish(item.ToString());
        await feed.Complete();
        Assert.Equal(50, await feed.Items().WithBatchSize(batch).CountAsync());
        var calls = await feed.IncomingCalls();
        Assert.Equal(starts, calls.Count(static call => call == Start));
        Assert.InRange(calls.Count(static call => call == Next), Math.Max(0, steps - 1), steps + 1);
        Assert.Single(calls, static call => call == Disposal);
    }

    [Fact]
    public async Task A_grain_sends_at_most_a_fixed_number_of_items_at_once_whatever_the_consumer_wants()
    {
        const int count = 10_000;
        var feed = NewFeed();
        Assert.Equal(count, await feed.Numbers(count).WithBatchSize(int.MaxValue).CountAsync());
        Assert.InRange((await feed.IncomingCalls()).Count(static call => call == Next), count / ActOp.Runtime.Calls.Enumerations.MaxBatch, int.MaxValue);
    }

    [Fact]
    public async Task An_error_comes_with_its_type_after_the_items_before_it()
    {
        var items = new List<int>();
        var exception = await Assert.ThrowsAsync<FeedException>(async () =>
        {
            await foreach (var item in NewFeed().NumbersThenFailure(3))
                items.Add(item);
        });
        Assert.Equal("after 3", exception.Message);
        Assert.Equal([0, 1, 2], items);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_cancelled_enumeration_ends_at_the_grain_too(bool byArgument)
    {
        using var begun = new Gate();
        using var ended = new Gate();
        using var source = new CancellationTokenSource();
        var feed = NewFeed();
        var items = byArgument
            ? feed.Silence(begun.Name, ended.Name, source.Token)
            : feed.Silence(begun.Name, ended.Name);
        var consumer = Task.Run(async () =>
        {
            await foreach (var item in items.WithCancellation(byArgument ? default : source.Token).ConfigureAwait(false))
                Assert.Fail("An item " + item);
        });
        await begun.ArrivedAsync();
        source.Cancel();
        var exception = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => consumer.WaitAsync(Gate.Patience));
        Assert.Equal(new OperationCanceledException().Message, exception.Message);
        Assert.Equal(source.Token, exception.CancellationToken);
        await ended.ArrivedAsync();
    }

    [Fact]
    public async Task Items_that_have_come_already_are_not_handed_out_after_a_cancellation()
    {
        using var source = new CancellationTokenSource();
        await using var items = NewFeed().Numbers(100).GetAsyncEnumerator(source.Token);
        Assert.True(await items.MoveNextAsync());
        source.Cancel();
        var exception = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => items.MoveNextAsync().AsTask());
        Assert.Equal(new OperationCanceledException().Message, exception.Message);
    }

    [Fact]
    public async Task A_consumer_that_stops_early_leaves_nothing()
    {
        var feed = NewFeed(0);
        await Place.On(cluster.AddressOf(0), () => feed.Seat().AsTask());
        await foreach (var item in feed.Numbers(1_000_000))
        {
            if (item == 250)
                break;
        }

        Assert.Equal(0, OpenAt(feed));
        Assert.InRange((await feed.IncomingCalls()).Count(static call => call == Next), 1, 4);
    }

    [Fact]
    public async Task Several_enumerations_of_a_grain_do_not_disturb_each_other()
    {
        var feed = NewFeed();
        var counts = await Task.WhenAll(Enumerable.Range(0, 10).Select(index =>
            feed.Numbers(5_000).WithBatchSize(index + 1).CountAsync().AsTask()));
        Assert.All(counts, static count => Assert.Equal(5_000, count));
    }

    [Fact]
    public async Task A_grain_enumerates_another_one()
    {
        var (one, other) = (NewFeed(), NewFeed());
        await Place.On(cluster.AddressOf(0), () => one.Seat().AsTask());
        await Place.On(cluster.AddressOf(1), () => other.Seat().AsTask());
        Assert.Equal(499_500, await one.SumOf(other, 1_000));
        Assert.Equal(499_500, await one.SumOf(one, 1_000));
    }

    [Fact]
    public async Task A_generic_method_may_return_items()
    {
        var feed = NewFeed();
        Assert.Equal(["a", "a"], await feed.Repeat("a", 2).ToListAsync());
        Assert.Equal([(1, "b"), (1, "b"), (1, "b")], await feed.Repeat((1, "b"), 3).ToListAsync());
        var reference = Assert.Single(await feed.Repeat(feed, 1).ToListAsync());
        Assert.Equal(feed.GetGrainId(), reference.GetGrainId());
        Assert.Equal([null, null], await feed.Repeat<string?>(null, 2).ToListAsync());
    }

    [Fact]
    public async Task A_deactivation_ends_the_enumeration_at_once()
    {
        using var begun = new Gate();
        using var ended = new Gate();
        var feed = NewFeed();
        var consumer = Task.Run(async () => await feed.Silence(begun.Name, ended.Name).CountAsync());
        await begun.ArrivedAsync();
        await feed.End();
        await Assert.ThrowsAsync<EnumerationAbortedException>(() => consumer.WaitAsync(Gate.Patience));
        await ended.ArrivedAsync();
    }

    private int OpenAt(IFeed feed)
    {
        var node = cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<ActOp.Runtime.Nodes.Node>();
        Assert.True(node.Activations.TryGet(feed.GetGrainId(), out var activation));
        return ((Activation)activation).PublishedExtras!.Enumerations!.Count;
    }
}

/// <summary>Hard-to-match behaviour 3: signs of life of slow producers, and the end of enumerations that nobody reads.</summary>
public sealed class Behaviour3EnumerableTimeTests(VirtualTime cluster) : IClassFixture<VirtualTime>
{
    [Fact]
    public async Task A_slow_producer_gives_signs_of_life_so_that_no_call_takes_too_long()
    {
        using var gate = new Gate();
        var feed = cluster.Silo.GetGrain<IFeed>(Guid.NewGuid());
        await using var items = feed.Stubborn(gate.Name).GetAsyncEnumerator();
        Assert.True(await items.MoveNextAsync());
        var second = items.MoveNextAsync().AsTask();
        await gate.ArrivedAsync();
        for (var step = 1; step <= 4; step++)
        {
            await CallsAsync(feed, step);
            cluster.Clock.Advance(TimeSpan.FromSeconds(16));
        }

        await CallsAsync(feed, 5);

        gate.Open();
        Assert.True(await second.WaitAsync(Gate.Patience));
        Assert.Equal(2, items.Current);
    }

    [Fact]
    public async Task An_enumeration_that_nobody_reads_ends_after_the_response_timeout()
    {
        var feed = cluster.Silo.GetGrain<IFeed>(Guid.NewGuid());
        await using var items = feed.Numbers(1_000).WithBatchSize(1).GetAsyncEnumerator();
        Assert.True(await items.MoveNextAsync());
        cluster.Clock.Advance(TimeSpan.FromSeconds(31));
        await feed.Seat();
        cluster.Clock.Advance(TimeSpan.FromSeconds(31));
        await feed.Seat();
        await Assert.ThrowsAsync<EnumerationAbortedException>(() => items.MoveNextAsync().AsTask());
        Assert.False(await items.MoveNextAsync());
    }

    /// <summary>The seeds 22 and 44 of the theme items have found that it did not: a producer that never waits was taken for idle.</summary>
    [Fact]
    public async Task An_enumeration_that_is_read_goes_on_also_if_its_producer_never_waits()
    {
        var feed = cluster.Silo.GetGrain<IFeed>(Guid.NewGuid());
        await using var items = feed.Numbers(1_000).WithBatchSize(1).GetAsyncEnumerator();
        for (var number = 0; number < 10; number++)
        {
            Assert.True(await items.MoveNextAsync());
            Assert.Equal(number, items.Current);
            cluster.Clock.Advance(TimeSpan.FromSeconds(16));
            await feed.Seat();
        }
    }

    [Fact]
    public async Task An_answer_ends_after_a_time_with_the_items_that_it_has()
    {
        var feed = cluster.Silo.GetGrain<IFeed>(Guid.NewGuid());
        FeedGrain.MakeItem = () => cluster.Clock.Advance(TimeSpan.FromMilliseconds(100));
        try
        {
            Assert.Equal(20, await feed.NumbersInTime(20).WithBatchSize(int.MaxValue).CountAsync());
        }
        finally
        {
            FeedGrain.MakeItem = null;
        }

        var calls = await feed.IncomingCalls();
        Assert.InRange(calls.Count(static call => call.EndsWith(".MoveNext", StringComparison.Ordinal)), 10, 21);
    }

    private static Task CallsAsync(IFeed feed, int count) => TestingUtils.WaitUntilAsync(
        async _ => (await feed.IncomingCalls()).Count(static call => call.EndsWith(".MoveNext", StringComparison.Ordinal)) >= count,
        Gate.Patience,
        TimeSpan.FromMilliseconds(1));
}
