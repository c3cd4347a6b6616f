using ActOp.TestClusters;

namespace ActOp.Faults.Tests;

/// <summary>Calls made while or after a node ends get an answer: that it ends.</summary>
public class ClosedNodeTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Calls_of_a_client_that_has_stopped_end_at_once(bool killed)
    {
        await using var cluster = await TestSilos.StartAsync();
        using var gate = new Gate();
        var grain = cluster.Client.GetGrain<ILeaving>(1);
        var inFlight = grain.Hold(gate.Name);
        await gate.ArrivedAsync();
        await (killed ? cluster.KillClientAsync() : cluster.StopClusterClientAsync());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => inFlight.WaitAsync(Gate.Patience));
        await Assert.ThrowsAsync<ObjectDisposedException>(() => grain.Hold(null).WaitAsync(Gate.Patience));
        await Assert.ThrowsAsync<ObjectDisposedException>(() => grain.Echo(1).AsTask().WaitAsync(Gate.Patience));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Calls_of_a_silo_that_has_ended_end_at_once(bool killed)
    {
        await using var cluster = await TestSilos.StartAsync(2);
        using var gate = new Gate();
        var going = cluster.Silos[1];
        var grain = going.ServiceProvider.GetRequiredService<IGrainFactory>().GetGrain<ILeaving>(2);
        var late = going.ServiceProvider.GetRequiredService<IGrainFactory>().GetGrain<ILeaving>(3);
        await Place.On(cluster.Silos[0].SiloAddress, () => grain.Hold(null));
        var inFlight = grain.Hold(gate.Name);
        await gate.ArrivedAsync();
        await (killed ? cluster.KillSiloAsync(going) : cluster.StopSiloAsync(going));
        await Assert.ThrowsAsync<SiloUnavailableException>(() => inFlight.WaitAsync(Gate.Patience));
        await Assert.ThrowsAsync<SiloUnavailableException>(() => grain.Hold(null).WaitAsync(Gate.Patience));
        await Assert.ThrowsAsync<SiloUnavailableException>(() => late.Echo(1).AsTask().WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task Calls_made_while_a_client_stops_end()
    {
        await using var cluster = await TestSilos.StartAsync();
        var grain = cluster.Client.GetGrain<ILeaving>(4);
        using var warm = new Gate();
        var callers = Enumerable.Range(0, 4).Select(_ => Task.Run(async () =>
        {
            for (var calls = 0; ; calls++)
            {
                if (calls == 100)
                    Gate.Touch(warm.Name);
                await grain.Echo(calls);
            }
        })).ToArray();
        for (var caller = 0; caller < callers.Length; caller++)
            await warm.ArrivedAsync();
        await cluster.StopClusterClientAsync();
        foreach (var caller in callers)
            await Assert.ThrowsAsync<ObjectDisposedException>(() => caller.WaitAsync(Gate.Patience));
    }

    public interface ILeaving : IGrainWithIntegerKey
    {
        Task Hold(string? gate);

        ValueTask<int> Echo(int value);
    }

    public sealed class LeavingGrain : Grain, ILeaving
    {
        public Task Hold(string? gate) => Gate.PassAsync(gate);

        public ValueTask<int> Echo(int value) => new(value);
    }
}
