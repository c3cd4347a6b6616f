using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Lifecycle.Tests;

/// <summary>What is said of grains that only a silo that stops could run.</summary>
public class LastSiloTests
{
    private static readonly TaskCompletionSource<Exception?> Told = new(TaskCreationOptions.RunContinuationsAsynchronously);

    [Fact]
    public async Task A_grain_has_no_place_on_the_last_silo_while_it_stops_because_the_silo_is_not_available()
    {
        await using var cluster = await TestSilos.StartAsync();
        await cluster.Client.GetGrain<ICaller>(1).Begin();
        await cluster.StopSiloAsync(cluster.Silos[0]);
        var exception = Assert.IsType<SiloUnavailableException>(await Told.Task);
        Assert.Contains("This silo stops, and no other active silo can run ", exception.Message, StringComparison.Ordinal);
    }

    public interface ICaller : IGrainWithIntegerKey
    {
        Task Begin();
    }

    /// <summary>Looks for a place for itself when it ends.</summary>
    public sealed class CallerGrain : Grain, ICaller
    {
        public Task Begin() => Task.CompletedTask;

        public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
        {
            Told.SetResult(Record.Exception(
                () => ServiceProvider.GetRequiredService<Node>().Placement.CompatibleSilos(this.GetGrainId(), default)));
            return Task.CompletedTask;
        }
    }
}
