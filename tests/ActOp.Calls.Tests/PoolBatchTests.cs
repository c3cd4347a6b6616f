using System.Collections.Concurrent;
using ActOp.Runtime.Routing;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>Callers outside of grains whose answers come together: none may wait for what another one does afterwards.</summary>
public class PoolBatchTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    private const int Callers = 8;

    [Fact]
    public Task A_caller_that_blocks_on_its_next_call_keeps_no_other_waiting() =>
        TogetherAsync(static grain => Block(grain.Touch(null)));

    [Fact]
    public async Task What_a_caller_sends_before_it_blocks_leaves_at_once()
    {
        using var seen = new Gate();
        await TogetherAsync(grain =>
        {
            var before = seen.Count;
            var call = grain.Touch(seen.Name);
            Assert.True(SpinUntil(() => seen.Count > before));
            return call;
        });
        Assert.Equal(Callers, seen.Count);
    }

    [Fact]
    public async Task What_a_caller_sends_first_is_flushed_by_the_batch()
    {
        ConcurrentBag<FlushedBy> flushed = [];
        await TogetherAsync(grain =>
        {
            flushed.Add(SendBatch.Decide(isControl: false));
            return grain.Touch(null);
        });
        Assert.Contains(FlushedBy.Batch, flushed);
    }

    [Fact]
    public Task What_a_caller_sends_one_after_the_other_arrives_in_that_order() => TogetherAsync(static async grain =>
    {
        await grain.Touch(null);
        await Task.WhenAll(Enumerable.Range(1, 100).Select(grain.Append));
        Assert.Equal(Enumerable.Range(1, 100), await grain.Appended());
    });

    /// <summary>Blocks this thread until the condition holds; false if it does not in time.</summary>
    internal static bool SpinUntil(Func<bool> condition)
    {
        using var moment = new ManualResetEventSlim();
        for (var left = Gate.Patience.TotalMilliseconds; left > 0 && !condition(); left--)
            moment.Wait(1);
        return condition();
    }

    private static Task Block(Task task)
    {
        task.Wait(Gate.Patience);
        return task;
    }

    /// <summary>
    /// Runs <paramref name="next"/> for many callers whose answers leave one silo in one write, each with a grain of its own.
    /// </summary>
    private async Task TogetherAsync(Func<ITogetherGrain, Task> next)
    {
        using var gate = new Gate();
        var first = cluster.Client.GetGrain<ITogetherGrain>(Guid.NewGuid());
        var callers = Enumerable.Range(0, Callers).Select(_ => Task.Run(async () =>
        {
            await first.Pass(gate.Name);
            await next(cluster.Client.GetGrain<ITogetherGrain>(Guid.NewGuid()));
        })).ToArray();
        for (var arrived = 0; arrived < Callers; arrived++)
            await gate.ArrivedAsync();
        gate.Open();
        await Task.WhenAll(callers).WaitAsync(Gate.Patience);
    }
}

public interface ITogetherGrain : IGrainWithGuidKey
{
    [AlwaysInterleave]
    Task Pass(string gate);

    Task Touch(string? gate);

    Task Append(int number);

    Task<List<int>> Appended();
}

public sealed class TogetherGrain : Grain, ITogetherGrain
{
    private readonly List<int> _numbers = [];

    public Task Pass(string gate) => Gate.PassAsync(gate);

    public Task Touch(string? gate)
    {
        Gate.Touch(gate);
        return Task.CompletedTask;
    }

    public Task Append(int number)
    {
        _numbers.Add(number);
        return Task.CompletedTask;
    }

    public Task<List<int>> Appended() => Task.FromResult(_numbers);
}
