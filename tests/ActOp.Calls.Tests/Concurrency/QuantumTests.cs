using ActOp.Configuration;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests.Concurrency;

/// <summary>How long one activation may run while others wait.</summary>
public class QuantumTests
{
    [Theory]
    [InlineData(100)]
    [InlineData(1_000_000)]
    public async Task An_activation_yields_after_the_scheduling_quantum(int quantum)
    {
        var clock = new FakeClock();
        var builder = new InProcessTestClusterBuilder(1);
        builder.Options.InitializeClientOnDeploy = false;
        builder.ConfigureSilo((_, silo) =>
        {
            silo.Services.AddSingleton<TimeProvider>(clock);
            silo.Configure<StageOptions>(options => (options.Controller, options.WorkThreads) = (StageController.Fixed, 1));
            silo.Configure<SchedulingOptions>(options => options.ActivationSchedulingQuantum = TimeSpan.FromMilliseconds(quantum));
            silo.Configure<SiloMessagingOptions>(options => options.ResponseTimeout = TimeSpan.FromHours(1));
        });
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        SlowGrain.Clock = clock;
        var factory = cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>();
        var (first, second) = (factory.GetGrain<ISlow>(1), factory.GetGrain<ISlow>(2));
        await first.Take(TimeSpan.Zero);
        await second.Take(TimeSpan.Zero);
        SlowGrain.Order.Clear();
        using var started = new ManualResetEventSlim();
        using var blocked = new ManualResetEventSlim();
        (SlowGrain.Started, SlowGrain.Blocked) = (started, blocked);
        // Not from threads of the pool: they would run the turns themselves, and be replaced when they block.
        // Another grain blocks, so that the turns of the first are a new item, which nobody has found to take long.
        var blocking = FromOwnThread(() => factory.GetGrain<ISlow>(3).Block());
        Assert.True(started.Wait(Gate.Patience));
        var calls = Enumerable.Range(0, 10).Select(_ => FromOwnThread(() => first.Take(TimeSpan.FromMilliseconds(60)))).ToList();
        calls.Add(FromOwnThread(() => second.Take(TimeSpan.Zero)));
        var node = cluster.Silos[0].ServiceProvider.GetRequiredService<ActOp.Runtime.Nodes.Node>();
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(node.Calls.InFlight == 12), Gate.Patience);
        blocked.Set();
        await Task.WhenAll([blocking, .. calls]).WaitAsync(Gate.Patience);
        var place = SlowGrain.Order.IndexOf(2);
        Assert.Equal(quantum == 100, place < 10);
    }

    private static Task FromOwnThread(Func<Task> call)
    {
        Task? called = null;
        var thread = new Thread(() => called = call());
        thread.Start();
        thread.Join();
        return called!;
    }

    public interface ISlow : IGrainWithIntegerKey
    {
        Task Take(TimeSpan time);

        Task Block();
    }

    public class SlowGrain : Grain, ISlow
    {
        public static readonly List<long> Order = [];
        public static FakeClock Clock = null!;
        public static ManualResetEventSlim? Started;
        public static ManualResetEventSlim? Blocked;

        public Task Take(TimeSpan time)
        {
            if (Blocked is not null)
                Order.Add(this.GetPrimaryKeyLong());
            Clock.Advance(time);
            return Task.CompletedTask;
        }

        public Task Block()
        {
            Started!.Set();
            Blocked!.Wait();
            return Task.CompletedTask;
        }
    }
}
