using ActOp.Runtime.Activations;

namespace ActOp.Lifecycle.Tests;

/// <summary>The end of a silo with more activations than may end at the same time.</summary>
public class ManyEndsTests
{
    private const int Grains = ActivationDrain.MostEndingAtOnce + 1_000;

    private static readonly TaskCompletionSource Full = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private static int s_ending;
    private static int s_most;
    private static int s_ended;

    [Fact]
    public async Task A_silo_that_stops_ends_all_activations_but_only_so_many_at_once()
    {
        var cluster = new InProcessTestClusterBuilder(1).Build();
        await cluster.DeployAsync();
        for (var key = 0; key < Grains; key += 100)
        {
            await Task.WhenAll(
                Enumerable.Range(key, Math.Min(100, Grains - key)).Select(one => cluster.Client.GetGrain<IEnding>(one).Begin()));
        }

        await cluster.StopSiloAsync(cluster.Silos[0]);
        await cluster.DisposeAsync();
        Assert.Equal(Grains, s_ended);
        Assert.Equal(ActivationDrain.MostEndingAtOnce, s_most);
    }

    public interface IEnding : IGrainWithIntegerKey
    {
        Task Begin();
    }

    /// <summary>None ends before as many end as may: so many must be asked, and more would be seen.</summary>
    public sealed class EndingGrain : Grain, IEnding
    {
        public Task Begin() => Task.CompletedTask;

        public override async Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
        {
            var ending = Interlocked.Increment(ref s_ending);
            for (var most = s_most; ending > most; most = s_most)
                Interlocked.CompareExchange(ref s_most, ending, most);
            if (ending == ActivationDrain.MostEndingAtOnce)
                Full.SetResult();
            await Full.Task;
            Interlocked.Decrement(ref s_ending);
            Interlocked.Increment(ref s_ended);
        }
    }
}
