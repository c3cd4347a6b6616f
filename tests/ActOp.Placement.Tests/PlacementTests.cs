using ActOp.Foundation;
using ActOp.Runtime.Placement;
using ActOp.TestClusters;
using Orleans.Placement;
using Orleans.Runtime.Placement;

namespace ActOp.Placement.Tests;

public class PlacementTests(PlacementTests.FourSilos cluster) : IClassFixture<PlacementTests.FourSilos>
{
    [Fact]
    public async Task The_default_spreads_a_burst_of_new_grains_evenly()
    {
        // Time stands still, so no report of the loads comes in the midst of the burst: each silo counts what it places.
        await using var silos = await SilosInVirtualTime.Deploy(silos: 4);
        var seats = await Task.WhenAll(Enumerable.Range(0, 4000).Select(
            key => ((IGrainFactory)silos.NodeOf(key % 4).Factory).GetGrain<IDefault>(key).Seat())).WaitAsync(Gate.Patience);
        var counts = seats.CountBy(seat => seat).ToDictionary();
        Assert.Equal(4, counts.Count);
        Assert.All(counts.Values, count => Assert.InRange(count, 900, 1100));
    }

    [Fact]
    public async Task Random_placement_uses_all_silos()
    {
        var seats = await Seats<IRandom>(200);
        Assert.Equal(4, seats.Distinct().Count());
    }

    [Fact]
    public async Task Counted_placement_uses_all_silos()
    {
        // Many more than the grains of other tests, by which the silos differ at the begin: the one with most gets none at first.
        var seats = await Seats<ICounted>(2000);
        Assert.Equal(4, seats.Distinct().Count());
    }

    [Fact]
    public async Task Counted_placement_waits_for_nobody_and_leaves_out_a_silo_that_does_not_answer()
    {
        await using var silos = await SilosInVirtualTime.Deploy();
        using var hang = new ManualResetEventSlim();
        silos.NodeOf(1).Stages.Control.Post(new StageAction(() => hang.Wait(Gate.Patience)));
        try
        {
            var node = silos.NodeOf(0);
            var director = new ActivationCountDirector(node.Local, node.ClusterView, node.Factory);
            var context = new PlacementContext(node.ClusterView, silos.AddressOf(0), node.Manifests.Known, node.Placement);
            var target = new PlacementTarget(silos.Grains.GetGrain<ICounted>(0).GetGrainId(), [], default, 0);
            Assert.True(director.OnAddActivation(new ActivationCountBasedPlacement(), target, context).IsCompletedSuccessfully);
            await TestingUtils.WaitUntilAsync(
                _ => Task.FromResult(!director.IsAsking(silos.AddressOf(0))), Gate.Patience, TimeSpan.FromMilliseconds(1));
            await silos.PassAsync(TimeSpan.FromSeconds(2), 0);
            for (var grain = 0; grain < 50; grain++)
            {
                var seat = director.OnAddActivation(new ActivationCountBasedPlacement(), target, context);
                Assert.True(seat.IsCompletedSuccessfully);
                Assert.Equal(silos.AddressOf(0), await seat);
            }
        }
        finally
        {
            hang.Set();
        }
    }

    [Fact]
    public async Task Local_placement_stays_with_the_first_caller()
    {
        for (var silo = 0; silo < 4; silo++)
        {
            var grain = cluster.ClientOf(silo).GetGrain<ILocal>(silo);
            Assert.Equal(cluster.AddressOf(silo), await grain.Seat());
            Assert.Equal(cluster.AddressOf(silo), await cluster.Client.GetGrain<ILocal>(silo).Seat());
        }
    }

    [Fact]
    public async Task Hashed_placement_is_the_same_for_every_activation()
    {
        var seats = await Seats<IHashed>(50);
        Assert.InRange(seats.Distinct().Count(), 2, 4);
        for (var key = 0; key < 50; key++)
            await cluster.Cluster.DeactivateAsync(cluster.Client.GetGrain<IHashed>(key));
        Assert.Equal(seats, await Seats<IHashed>(50));
    }

    [Fact]
    public async Task A_stateless_worker_is_on_every_silo_that_calls_it()
    {
        for (var silo = 0; silo < 4; silo++)
            Assert.Equal(cluster.AddressOf(silo), await cluster.ClientOf(silo).GetGrain<IWorker>(0).Seat());
    }

    [Fact]
    public async Task A_director_of_the_application_decides_for_its_strategy()
    {
        var last = cluster.Cluster.Silos.MaxBy(silo => silo.SiloAddress)!.SiloAddress;
        Assert.All(await Seats<ILast>(20), seat => Assert.Equal(last, seat));
    }

    [Fact]
    public async Task An_exception_of_a_director_reaches_the_caller()
    {
        foreach (var client in new[] { cluster.Client, cluster.ClientOf(0), cluster.ClientOf(3) })
        {
            var exception = await Assert.ThrowsAsync<InvalidOperationException>(() => client.GetGrain<ILast>(-1).Seat());
            Assert.Equal("no negative grains", exception.Message);
        }
    }

    [Fact]
    public async Task A_hint_in_the_request_context_wins_for_a_new_grain()
    {
        for (var silo = 0; silo < 4; silo++)
        {
            Assert.Equal(
                cluster.AddressOf(silo), await Place.On(cluster.AddressOf(silo), cluster.Client.GetGrain<IDefault>(10_000 + silo).Seat));
        }

        Assert.Equal(cluster.AddressOf(0), await Place.On(cluster.AddressOf(1), cluster.Client.GetGrain<IDefault>(10_000).Seat));
    }

    private Task<SiloAddress[]> Seats<T>(int count)
        where T : ISeatedGrain => Task.WhenAll(Enumerable.Range(0, count).Select(key => cluster.Client.GetGrain<T>(key).Seat()));

    public sealed class FourSilos() : ClusterFixture(4)
    {
        protected override void ConfigureSilo(ISiloBuilder silo) => silo.AddPlacementDirector<LastPlacement, LastDirector>();
    }

    [Serializable]
    public sealed class LastPlacement : PlacementStrategy;

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class LastPlacementAttribute() : PlacementAttribute(new LastPlacement());

    public sealed class LastDirector : IPlacementDirector
    {
        public Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context) =>
            target.GrainIdentity.GetIntegerKey() < 0
                ? throw new InvalidOperationException("no negative grains")
                : Task.FromResult(context.GetCompatibleSilos(target).Max()!);
    }

    public interface ISeatedGrain : IGrainWithIntegerKey
    {
        Task<SiloAddress> Seat();
    }

    public interface IDefault : ISeatedGrain;

    public interface IRandom : ISeatedGrain;

    public interface ICounted : ISeatedGrain;

    public interface ILocal : ISeatedGrain;

    public interface IHashed : ISeatedGrain;

    public interface IWorker : ISeatedGrain;

    public interface ILast : ISeatedGrain;

    public abstract class SeatedGrain(ILocalSiloDetails silo) : Grain, ISeatedGrain
    {
        public Task<SiloAddress> Seat() => Task.FromResult(silo.SiloAddress);
    }

    public sealed class DefaultGrain(ILocalSiloDetails silo) : SeatedGrain(silo), IDefault;

    [RandomPlacement]
    public sealed class RandomGrain(ILocalSiloDetails silo) : SeatedGrain(silo), IRandom;

    [ActivationCountBasedPlacement]
    public sealed class CountedGrain(ILocalSiloDetails silo) : SeatedGrain(silo), ICounted;

    [PreferLocalPlacement]
    public sealed class LocalGrain(ILocalSiloDetails silo) : SeatedGrain(silo), ILocal;

    [HashBasedPlacement]
    public sealed class HashedGrain(ILocalSiloDetails silo) : SeatedGrain(silo), IHashed;

    [StatelessWorker]
    public sealed class WorkerGrain(ILocalSiloDetails silo) : SeatedGrain(silo), IWorker;

    [LastPlacement]
    public sealed class LastGrain(ILocalSiloDetails silo) : SeatedGrain(silo), ILast;
}
