using System.Runtime.CompilerServices;

namespace DropIn;

public interface ICounting : IGrainWithStringKey
{
    IAsyncEnumerable<int> Count(int from, int to, int failsAt = -1);

    IAsyncEnumerable<string> Wait(string gate);

    IAsyncEnumerable<int> Forever(string journal, CancellationToken token = default);

    IAsyncEnumerable<int> Empty();

    Task<int> SumOf(ICounting other, int count);

    Task End();
}

public sealed class CountingGrain : Grain, ICounting
{
    public async IAsyncEnumerable<int> Count(int from, int to, int failsAt)
    {
        for (var number = from; number < to; number++)
        {
            if (number == failsAt)
                throw new OrderException("The enumeration fails.", number);
            await Task.Yield();
            yield return number;
        }
    }

    public async IAsyncEnumerable<string> Wait(string gate)
    {
        yield return "before";
        await Gate.PassAsync(gate);
        yield return "after";
    }

    public async IAsyncEnumerable<int> Forever(string journal, [EnumeratorCancellation] CancellationToken token)
    {
        try
        {
            for (var number = 0; ; number++)
            {
                yield return number;
                await Task.Yield();
            }
        }
        finally
        {
            Journal.Of(journal).Add("ended");
        }
    }

    public async IAsyncEnumerable<int> Empty()
    {
        await Task.CompletedTask;
        yield break;
    }

    public async Task<int> SumOf(ICounting other, int count)
    {
        var sum = 0;
        await foreach (var number in other.Count(0, count))
            sum += number;
        return sum;
    }

    public Task End()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }
}

/// <summary>Results that come one after the other.</summary>
public class EnumerationTests(CommonCluster cluster)
{
    private ICounting Grain([CallerMemberName] string key = "") => cluster.Client.GetGrain<ICounting>(key);

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(1000)]
    public async Task All_items_arrive_in_order(int count)
    {
        List<int> numbers = [];
        await foreach (var number in Grain().Count(0, count))
            numbers.Add(number);
        Assert.Equal(Enumerable.Range(0, count), numbers);
        await foreach (var _ in Grain().Empty())
            Assert.Fail("It is empty.");
    }

    [Fact]
    public async Task The_size_of_batches_changes_no_result()
    {
        List<int> numbers = [];
        await foreach (var number in Grain().Count(0, 20).WithBatchSize(3))
            numbers.Add(number);
        Assert.Equal(Enumerable.Range(0, 20), numbers);
    }

    [Fact]
    public async Task Items_before_an_exception_arrive_and_then_the_exception()
    {
        List<int> numbers = [];
        var exception = await Assert.ThrowsAsync<OrderException>(async () =>
        {
            await foreach (var number in Grain().Count(0, 10, failsAt: 3))
                numbers.Add(number);
        });
        Assert.Equal(("The enumeration fails.", 3), (exception.Message, exception.Order));
        Assert.Equal([0, 1, 2], numbers);
    }

    [Fact]
    public async Task An_item_arrives_before_the_next_one_is_made_and_calls_run_meanwhile()
    {
        using var gate = new Gate();
        await using var items = Grain().Wait(gate.Name).GetAsyncEnumerator();
        Assert.True(await items.MoveNextAsync());
        Assert.Equal("before", items.Current);
        var next = items.MoveNextAsync();
        await gate.ArrivedAsync();
        Assert.Equal(1, await Grain().SumOf(cluster.Client.GetGrain<ICounting>("another"), 2));
        Assert.False(next.IsCompleted);
        gate.Open();
        Assert.True(await next);
        Assert.Equal("after", items.Current);
        Assert.False(await items.MoveNextAsync());
    }

    [Fact]
    public async Task An_enumeration_that_is_left_ends_in_the_grain()
    {
        var (journal, name) = Journal.Create();
        await foreach (var number in Grain().Forever(name))
        {
            if (number == 5)
                break;
        }

        await journal.HasAsync("ended");
    }

    [Fact]
    public async Task An_enumeration_of_a_grain_that_ends_is_aborted()
    {
        var (journal, name) = Journal.Create();
        await using var items = Grain().Forever(name).WithBatchSize(1).GetAsyncEnumerator();
        Assert.True(await items.MoveNextAsync());
        var ended = cluster.Cluster.WaitForDeactivationAsync(Grain());
        await Grain().End();
        await ended;
        await Assert.ThrowsAsync<EnumerationAbortedException>(async () =>
        {
            while (await items.MoveNextAsync())
            {
            }
        });
    }

    [Fact]
    public async Task A_grain_enumerates_another_one() =>
        Assert.Equal(4950, await Grain().SumOf(cluster.Client.GetGrain<ICounting>("another"), 100));
}
