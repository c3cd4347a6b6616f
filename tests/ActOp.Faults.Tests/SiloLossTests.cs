using ActOp.Runtime.Cluster;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Faults.Tests;

public class SiloLossTests
{
    private const int Grains = 60;

    [Fact]
    public async Task Calls_that_wait_for_a_killed_silo_fail_at_once_and_its_grains_live_on_elsewhere()
    {
        await using var cluster = await TestSilos.StartAsync(3);
        using var gate = new Gate();
        var victim = cluster.Silos[2];
        var silo = cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>();
        await Place.On(victim.SiloAddress, silo.GetGrain<ILasting>(1).Seat);
        await Place.On(victim.SiloAddress, silo.GetGrain<ILasting>(2).Seat);
        var fromSilo = silo.GetGrain<ILasting>(1).Block(gate.Name);
        var fromClient = cluster.Client.GetGrain<ILasting>(2).Block(gate.Name);
        await gate.ArrivedAsync();
        await gate.ArrivedAsync();
        await cluster.KillSiloAsync(victim);
        await Assert.ThrowsAsync<SiloUnavailableException>(() => fromSilo.WaitAsync(Gate.Patience));
        await Assert.ThrowsAsync<SiloUnavailableException>(() => fromClient.WaitAsync(Gate.Patience));
        await cluster.WaitForLivenessToStabilizeAsync(didKill: true);
        Assert.NotEqual(victim.SiloAddress, await SeatSoonAsync(silo.GetGrain<ILasting>(1)));
        Assert.NotEqual(victim.SiloAddress, await SeatSoonAsync(cluster.Client.GetGrain<ILasting>(2)));
    }

    /// <summary>Nobody but the dead silo knows whether such a request had left it, so its caller must not be left waiting.</summary>
    [Fact]
    public async Task Calls_that_a_killed_silo_has_sent_on_fail_and_others_do_not()
    {
        await using var cluster = await TestSilos.StartAsync(3);
        using var gate = new Gate();
        var silo = cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>();
        var calls = new List<Task>();
        // The client knows none of the grains and asks for each at one silo or another.
        for (var key = 0; key < Grains; key++)
        {
            await Place.On(cluster.Silos[1].SiloAddress, silo.GetGrain<ILasting>(key).Seat);
            calls.Add(cluster.Client.GetGrain<ILasting>(key).Block(gate.Name));
            await gate.ArrivedAsync();
        }

        await cluster.KillSiloAsync(cluster.Silos[2]);
        await Assert.ThrowsAsync<SiloUnavailableException>(() => Task.WhenAny(calls).Unwrap().WaitAsync(Gate.Patience));
        gate.Open();
        var answered = 0;
        foreach (var call in calls)
        {
            if (await Record.ExceptionAsync(() => call.WaitAsync(Gate.Patience)) is { } exception)
                Assert.IsType<SiloUnavailableException>(exception);
            else
                answered++;
        }

        Assert.InRange(answered, 1, Grains - 1);
    }

    /// <summary>A client that asks any of them knows what they know, also what they heard from each other.</summary>
    [Fact]
    public async Task Every_silo_tells_clients_of_the_view_it_acts_on()
    {
        await using var cluster = await TestSilos.StartAsync(4);
        var victim = cluster.Silos[3];
        await cluster.KillSiloAsync(victim);
        foreach (var silo in cluster.Silos)
        {
            var node = silo.ServiceProvider.GetRequiredService<Node>();
            // Asked for before the look at the view, so that no change is missed between the two.
            for (var next = node.ClusterView.Changed; !node.ClusterView.IsDead(victim.SiloAddress); next = node.ClusterView.Changed)
                await next.WaitAsync(Gate.Patience);
            var table = await node.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, silo.SiloAddress).GetTable();
            Assert.True(View.From(table).IsDead(victim.SiloAddress));
        }
    }

    /// <summary>The directory takes a view on a turn of its own, which comes after the turn that has made the view known.</summary>
    [Fact]
    public async Task A_call_between_a_view_and_the_turn_of_the_directory_finds_no_dead_silo()
    {
        await using var cluster = await TestSilos.StartAsync(2);
        var victim = cluster.Silos[1].SiloAddress;
        var services = cluster.Silos[0].ServiceProvider;
        var node = services.GetRequiredService<Node>();
        // The silo that is left has the grain in its own part of the directory.
        var grain = Enumerable.Range(0, 1000).Select(key => services.GetRequiredService<IGrainFactory>().GetGrain<ILasting>(key))
            .First(grain => node.Address.Equals(node.DirectoryService.Map.OwnerOf(grain.GetGrainId())));
        Assert.Equal(victim, await Place.On(victim, grain.Seat));
        var asked = new TaskCompletionSource<Task<SiloAddress>>(TaskCreationOptions.RunContinuationsAsynchronously);
        node.Cluster!.ViewChanged += (_, view, _) =>
        {
            if (view.IsDead(victim))
                asked.TrySetResult(grain.Seat());
        };
        await cluster.KillSiloAsync(cluster.Silos[1]);
        Assert.Equal(node.Address, await (await asked.Task.WaitAsync(Gate.Patience)).WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task A_client_goes_on_with_the_silos_that_are_left()
    {
        await using var cluster = await TestSilos.StartAsync(2);
        for (var key = 0; key < Grains; key++)
            await cluster.Client.GetGrain<ILasting>(key).Seat();
        await cluster.KillSiloAsync(cluster.Silos[1]);
        await cluster.WaitForLivenessToStabilizeAsync(didKill: true);
        for (var key = 0; key < Grains; key++)
            Assert.Equal(cluster.Silos[0].SiloAddress, await SeatSoonAsync(cluster.Client.GetGrain<ILasting>(key)));
    }

    [Fact]
    public async Task A_silo_that_stops_in_order_loses_no_call()
    {
        await using var cluster = await TestSilos.StartAsync(3);
        using var stop = new CancellationTokenSource();
        var factories = new IGrainFactory[] { cluster.Client, cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>() };
        using var warm = new Gate();
        var callers = factories.Select(factory => Task.Run(async () =>
        {
            var calls = 0;
            for (var key = 0; !stop.IsCancellationRequested; key = (key + 1) % Grains)
            {
                await factory.GetGrain<ILasting>(key).Seat();
                if (++calls == 2 * Grains)
                    Gate.Touch(warm.Name);
            }

            return calls;
        })).ToArray();
        await warm.ArrivedAsync();
        await warm.ArrivedAsync();
        await cluster.StopSiloAsync(cluster.Silos[2]);
        await cluster.WaitForLivenessToStabilizeAsync();
        for (var key = 0; key < Grains; key++)
            Assert.Contains(await cluster.Client.GetGrain<ILasting>(key).Seat(), cluster.Silos.Select(silo => silo.SiloAddress));
        stop.Cancel();
        Assert.All(await Task.WhenAll(callers).WaitAsync(Gate.Patience), calls => Assert.True(calls >= 2 * Grains));
    }

    /// <summary>The first calls after a death may still meet it; that passes as soon as the caller has the new view.</summary>
    private static async Task<SiloAddress> SeatSoonAsync(ILasting grain)
    {
        SiloAddress? seat = null;
        await TestingUtils.WaitUntilAsync(
            async last =>
            {
                try
                {
                    seat = await grain.Seat();
                    return true;
                }
                catch (OrleansException) when (!last)
                {
                    return false;
                }
            },
            Gate.Patience,
            TimeSpan.FromMilliseconds(5));
        return seat!;
    }

    public interface ILasting : IGrainWithIntegerKey
    {
        Task<SiloAddress> Seat();

        Task Block(string gate);
    }

    public sealed class LastingGrain(ILocalSiloDetails silo) : Grain, ILasting
    {
        public Task<SiloAddress> Seat() => Task.FromResult(silo.SiloAddress);

        public Task Block(string gate) => Gate.PassAsync(gate);
    }
}
