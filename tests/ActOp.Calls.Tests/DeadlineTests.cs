using ActOp.Foundation;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>The deadline travels with the request: what nobody waits for any more does not run.</summary>
public class DeadlineTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_request_that_nobody_waits_for_any_more_does_not_run(int silo)
    {
        using var gate = new Gate();
        using var ran = new Gate();
        var grain = cluster.ClientOf(0).GetGrain<IQueue>(silo);
        await Place.On(cluster.AddressOf(silo), () => grain.Touch(null));
        var blocking = grain.Hold(gate.Name);
        await gate.ArrivedAsync();
        var node = cluster.Cluster.Silos[silo].ServiceProvider.GetRequiredService<Node>();
        var dropped = node.Metrics.Dropped;
        var late = Enumerable.Range(0, 10).Select(_ => grain.TouchSoon(ran.Name)).ToArray();
        var patient = grain.Touch(ran.Name);
        foreach (var call in late)
            await Assert.ThrowsAsync<TimeoutException>(() => call.WaitAsync(Gate.Patience));
        await PassAsync(node.Local.Clock);
        gate.Open();
        await blocking;
        await patient;
        Assert.Equal(1, ran.Count);
        Assert.Equal(late.Length, node.Metrics.Dropped - dropped);
    }

    [Fact]
    public async Task A_request_that_is_sent_on_keeps_its_deadline()
    {
        using var gate = new Gate();
        using var ran = new Gate();
        var grain = cluster.ClientOf(0).GetGrain<IQueue>(2);
        await Place.On(cluster.AddressOf(1), () => grain.Touch(null));
        var blocking = grain.Hold(gate.Name);
        await gate.ArrivedAsync();
        var late = grain.TouchSoon(ran.Name);
        var patient = grain.Touch(ran.Name);
        await cluster.Client.GetGrain<IQueue>(2).Ask(cluster.AddressOf(0));
        await Assert.ThrowsAsync<TimeoutException>(() => late.WaitAsync(Gate.Patience));
        await PassAsync(cluster.Cluster.Silos[1].ServiceProvider.GetRequiredService<Node>().Local.Clock);
        gate.Open();
        await blocking;
        await patient;
        Assert.Equal(1, ran.Count);
    }

    /// <summary>Until the clock has passed any deadline that a call of half a second may have there.</summary>
    private static Task PassAsync(Clock clock)
    {
        var now = clock.Now;
        return TestingUtils.WaitUntilAsync(_ => Task.FromResult(clock.Now > now + 1_000), Gate.Patience, Clock.Period);
    }

    public interface IQueue : IGrainWithIntegerKey
    {
        Task Hold(string gate);

        Task Touch(string? gate);

        [ResponseTimeout("00:00:00.500")]
        Task TouchSoon(string gate);

        [AlwaysInterleave]
        Task Ask(SiloAddress target);
    }

    public sealed class QueueGrain : Grain, IQueue
    {
        public Task Hold(string gate) => Gate.PassAsync(gate);

        public Task Touch(string? gate)
        {
            Gate.Touch(gate);
            return Task.CompletedTask;
        }

        public Task TouchSoon(string gate) => Touch(gate);

        public Task Ask(SiloAddress target)
        {
            RequestContext.Set(Orleans.Runtime.Placement.IPlacementDirector.PlacementHintKey, target);
            this.MigrateOnIdle();
            return Task.CompletedTask;
        }
    }
}
