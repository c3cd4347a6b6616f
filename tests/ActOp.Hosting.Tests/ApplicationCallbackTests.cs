using ActOp.TestClusters;

namespace ActOp.Hosting.Tests;

/// <summary>What the application registers on tokens runs where it can hold up only itself, not on the thread of all timers.</summary>
public class ApplicationCallbackTests
{
    [Fact]
    public async Task A_blocking_callback_on_the_token_of_an_activation_does_not_hold_up_the_timeouts_of_others()
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.Options.InitializeClientOnDeploy = false;
        await using var cluster = builder.ConfigureSilo(static (_, silo) =>
        {
            silo.Configure<GrainCollectionOptions>(static options => options.ActivationTimeout = TimeSpan.FromMilliseconds(100));
            silo.Configure<SiloMessagingOptions>(static options => options.ResponseTimeout = TimeSpan.FromMilliseconds(500));
        }).Build();
        await cluster.DeployAsync();
        var factory = cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>();
        using var gate = new Gate();
        using var other = new Gate();
        var blocked = factory.GetGrain<IStubborn>(gate.Name).Ask();
        await gate.ArrivedAsync();
        // The callback blocks now, whichever thread it has got. The call of another grain still times out.
        await Assert.ThrowsAsync<TimeoutException>(() => factory.GetGrain<IWaiting>(other.Name).Wait().WaitAsync(Gate.Patience));
        Stubborn.Release(gate.Name);
        await Record.ExceptionAsync(() => blocked.WaitAsync(Gate.Patience));
    }

    public interface IStubborn : IGrainWithStringKey
    {
        Task Ask();
    }

    public interface IWaiting : IGrainWithStringKey
    {
        Task Wait();
    }

    public sealed class Waiting : Grain, IWaiting
    {
        public Task Wait() => Gate.PassAsync(this.GetPrimaryKeyString());
    }

    public sealed class Stubborn : Grain, IStubborn
    {
        private static readonly System.Collections.Concurrent.ConcurrentDictionary<string, ManualResetEventSlim> Held = new();

        public static void Release(string gate) => Held.GetOrAdd(gate, static _ => new ManualResetEventSlim()).Set();

        public override async Task OnActivateAsync(CancellationToken cancellationToken)
        {
            var name = this.GetPrimaryKeyString();
            cancellationToken.Register(() =>
            {
                Gate.Touch(name);
                Held.GetOrAdd(name, static _ => new ManualResetEventSlim()).Wait(Gate.Patience);
            });
            await new TaskCompletionSource().Task.WaitAsync(cancellationToken);
        }

        public Task Ask() => Task.CompletedTask;
    }
}
