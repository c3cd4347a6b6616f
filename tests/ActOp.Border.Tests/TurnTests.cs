using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;

namespace ActOp.Border.Tests;

/// <summary>Steps of the runtime beside grains: one that fails takes no other with it, and late code of a grain is named rightly.</summary>
public class TurnTests(TurnTests.Logged cluster) : IClassFixture<TurnTests.Logged>
{
    [Fact]
    public async Task An_action_of_the_directory_that_fails_takes_no_other_with_it()
    {
        var directory = cluster.Cluster.Nodes.First().DirectoryService;
        var failed = 0;
        directory.NewerViewSeen += () =>
        {
            failed++;
            throw new InvalidOperationException("view");
        };
        var request = new SlotRequest(1, 1, cluster.AddressOf(0), 1_000, false, new SlotSet());
        await OnTurn(directory.Host, () => directory.RequestSlots(request).AsTask());
        await OnTurn(directory.Host, () => directory.RequestSlots(request).AsTask());
        // Each one is done once, also the one that fails.
        Assert.Equal(2, failed);
        Assert.Contains(cluster.Log.Lines(LogLevel.Error), static line => line.Contains("RefreshView", StringComparison.Ordinal));
    }

    [Fact]
    public async Task The_disposal_of_a_grain_that_takes_several_turns_is_no_late_work()
    {
        using var gate = new Gate();
        var grain = cluster.ClientOf(0).GetGrain<IDisposedLate>(gate.Name);
        await grain.Ask();
        var ended = cluster.Cluster.Nodes.First().Activations.First(one => one.GrainId == grain.GetGrainId()).Deactivated;
        await grain.End();
        await gate.ArrivedAsync();
        gate.Open();
        await ended.WaitAsync(Gate.Patience);
        Assert.DoesNotContain(
            cluster.Log.Lines(LogLevel.Warning), static line => line.Contains("activations that have ended ran", StringComparison.Ordinal));
    }

    private static Task OnTurn(Activation host, Func<Task> step) =>
        Task.Factory.StartNew(step, CancellationToken.None, TaskCreationOptions.DenyChildAttach, host).Unwrap();

    public interface IDisposedLate : IGrainWithStringKey
    {
        Task Ask();

        Task End();
    }

    public sealed class BorderDisposed : Grain, IDisposedLate, IAsyncDisposable
    {
        public Task Ask() => Task.CompletedTask;

        public Task End()
        {
            DeactivateOnIdle();
            return Task.CompletedTask;
        }

        public async ValueTask DisposeAsync()
        {
            await Gate.PassAsync(this.GetPrimaryKeyString());
            await Task.Yield();
            GC.SuppressFinalize(this);
        }
    }

    public sealed class Logged() : ClusterFixture(1)
    {
        internal LogCapture Log { get; } = new();

        protected override void Configure(InProcessTestClusterOptions options) => options.InitializeClientOnDeploy = false;

        protected override void ConfigureSilo(ISiloBuilder silo) => silo.Services.AddSingleton<ILoggerProvider>(Log);
    }
}
