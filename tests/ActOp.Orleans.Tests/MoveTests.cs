using ActOp.Orleans.Locality;
using Microsoft.Extensions.DependencyInjection;
using Orleans.TestingHost;

namespace ActOp.Orleans.Tests;

/// <summary>Moves of single grains, begun by the test.</summary>
public class MoveTests
{
    [Fact]
    public async Task A_state_that_was_not_written_moves_with_its_grain()
    {
        await using var cluster = await StartAsync();
        var counter = cluster.Client.GetGrain<IStoredCounter>(1);
        await counter.Add();
        await counter.Add();
        var before = await counter.Where();
        Assert.Null(await MoveAsync(cluster, counter.GetGrainId(), before));
        Assert.Equal(3, await counter.Add());
        Assert.NotEqual(before, await counter.Where());
    }

    [Fact]
    public async Task A_grain_whose_requests_interleave_stays_while_one_runs_and_serves_the_next()
    {
        await using var cluster = await StartAsync();
        var grain = cluster.Client.GetGrain<IReentrantGrain>(1);
        var waits = grain.Wait();
        LocalGrain? local = null;
        await Clusters.Until(
            () => Task.FromResult(Enumerable.Range(0, 2).Any(silo =>
                cluster.PartOf<LocalGrains>(silo).TryGet(grain.GetGrainId(), out local!))),
            async () => await cluster.Client.GetGrain<ITalker>(1).Hear());
        Assert.Equal("Busy", await MoveAsync(cluster, grain.GetGrainId(), local!.Context.Address.SiloAddress!.ToString()));
        await grain.Release();
        Assert.Equal(local.Context.Address.SiloAddress!.ToString(), await waits);
        await Clusters.Until(() => Task.FromResult(local.Running == 0), grain.Release);
    }

    [Fact]
    public async Task A_filter_of_the_application_that_refuses_the_request_keeps_the_grain_in_place()
    {
        await using var cluster = await StartAsync(static silo => silo.AddIncomingGrainCallFilter(static context =>
            context.InterfaceName.Contains("IMoveExtension", StringComparison.Ordinal)
                ? throw new UnauthorizedAccessException() : context.Invoke()));
        var talker = cluster.Client.GetGrain<ITalker>(1);
        var before = await talker.Where();
        await Assert.ThrowsAsync<UnauthorizedAccessException>(() => MoveAsync(cluster, talker.GetGrainId(), before));
        Assert.Equal(before, await talker.Where());
    }

    private static Task<InProcessTestCluster> StartAsync(Action<ISiloBuilder>? configure = null) => Clusters.StartAsync(2, silo =>
    {
        // Only the test moves.
        silo.AddActOpLocality(static options => options.Enabled = false);
        silo.AddMemoryGrainStorageAsDefault();
        configure?.Invoke(silo);
    });

    /// <summary>Moves a grain from the silo where it is to the other one.</summary>
    private static async Task<string?> MoveAsync(InProcessTestCluster cluster, GrainId grain, string from)
    {
        var source = cluster.Silos.ToList().FindIndex(silo => silo.SiloAddress.ToString() == from);
        var parts = cluster.GetSiloServiceProvider(cluster.Silos[source].SiloAddress);
        var moves = new Moves(
            parts.GetRequiredService<LocalGrains>(), parts.GetRequiredService<IGrainFactory>(), cluster.LocalityOf(source).Turns,
            TimeProvider.System);
        return await moves.MoveAsync(grain, cluster.Silos[1 - source].SiloAddress);
    }
}
