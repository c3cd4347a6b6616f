using System.Collections.Concurrent;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Orleans.Statistics;

namespace ActOp.Lifecycle.Tests;

/// <summary>What a silo does when processors or memory run short, and with workers that it does not need.</summary>
public class SheddingTests(SheddingTests.Shedding cluster) : IClassFixture<SheddingTests.Shedding>
{
    [Fact]
    public async Task Clients_are_refused_while_the_processors_are_overloaded_and_silos_are_not()
    {
        await ConnectAsync();
        var grain = cluster.Client.GetGrain<IShed>(Guid.NewGuid());
        await grain.Touch();
        cluster.Machine.Cpu = 96;
        await PassUntilAsync(() => Node.Router.Overload!.IsOn);
        await Assert.ThrowsAsync<GatewayTooBusyException>(() => grain.Touch());
        await cluster.ClientOf(0).GetGrain<IShed>(grain.GetPrimaryKey()).Touch();
        cluster.Machine.Cpu = 50;
        await PassUntilAsync(() => !Node.Router.Overload!.IsOn);
        await grain.Touch();
    }

    [Fact]
    public async Task Clients_are_refused_while_memory_is_short()
    {
        await ConnectAsync();
        var grain = cluster.Client.GetGrain<IShed>(Guid.NewGuid());
        await grain.Touch();
        cluster.Machine.Memory = 100;
        await PassUntilAsync(() => Node.Router.Overload!.IsOn);
        await Assert.ThrowsAsync<GatewayTooBusyException>(() => grain.Touch());
        cluster.Machine.Memory = 10;
        await PassUntilAsync(() => !Node.Router.Overload!.IsOn);
    }

    [Fact]
    public async Task Memory_pressure_ends_the_activations_that_are_idle_for_longest()
    {
        var silo = cluster.ClientOf(0);
        var grains = Enumerable.Range(0, 40).Select(_ => silo.GetGrain<IShed>(Guid.NewGuid())).ToArray();
        foreach (var grain in grains)
        {
            await grain.Touch();
            await PassAsync();
        }

        cluster.Machine.Memory = 60;
        await PassUntilAsync(static () => ShedGrain.Ended.Count >= 10);
        cluster.Machine.Memory = 10;
        Assert.All(ShedGrain.Ended.Values, static reason => Assert.Equal(DeactivationReasonCode.HighMemoryPressure, reason));
        Assert.False(ShedGrain.Ended.ContainsKey(grains[^1].GetPrimaryKey()));
        // Nothing more ends until a collection has measured again.
        await PassAsync();
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(Node.Activations.Where(static one => one.Class.IsOrdinary)
                .All(static one => one.IsIdle && one.State == ActivationState.Active)),
            Gate.Patience, TimeSpan.FromMilliseconds(1));
        var left = Node.Activations.Count;
        for (var period = 0; period < 20; period++)
            await PassAsync();
        Assert.Equal(left, Node.Activations.Count);
    }

    [Fact]
    public async Task Workers_that_are_idle_for_some_periods_end_except_the_last_one()
    {
        var worker = cluster.ClientOf(0).GetGrain<IShed>(Guid.NewGuid(), typeof(ShedWorker).FullName);
        await UseAsync(worker);
        await PassAsync();
        await PassAsync();
        Assert.Equal(3, Workers(worker));
        await PassUntilAsync(() => Workers(worker) == 1);
        for (var period = 0; period < 20; period++)
            await PassAsync();
        Assert.Equal(1, Workers(worker));
    }

    [Fact]
    public async Task A_worker_that_has_ended_is_not_counted_as_idle_any_more()
    {
        var worker = cluster.ClientOf(0).GetGrain<IShed>(Guid.NewGuid(), typeof(ShedWorker).FullName);
        await UseAsync(worker);
        await PassUntilAsync(() => Node.Activations.CountedIdleWorkers(worker.GetGrainId()) == 3);
        foreach (var activation in Node.Activations.Where(one => one.GrainId == worker.GetGrainId()).Skip(1).ToArray())
        {
            activation.Deactivate(new DeactivationReason(DeactivationReasonCode.ApplicationRequested, "The test ends it."));
            await activation.Deactivated.WaitAsync(Gate.Patience);
        }

        await PassAsync();
        Assert.InRange(Node.Activations.CountedIdleWorkers(worker.GetGrainId()), 0, 1);
    }

    [Fact]
    public async Task Workers_of_a_class_that_forbids_it_do_not_end_when_idle()
    {
        var worker = cluster.ClientOf(0).GetGrain<IShed>(Guid.NewGuid(), typeof(StayingWorker).FullName);
        await UseAsync(worker);
        for (var period = 0; period < 20; period++)
            await PassAsync();
        Assert.Equal(3, Workers(worker));
    }

    [Fact]
    public async Task Idle_workers_stay_if_the_option_says_so()
    {
        var clock = new FakeClock();
        var builder = new InProcessTestClusterBuilder(1);
        builder.Options.InitializeClientOnDeploy = false;
        builder.ConfigureSilo((_, silo) =>
        {
            silo.Services.AddSingleton<TimeProvider>(clock);
            silo.Configure<StatelessWorkerOptions>(options => options.RemoveIdleWorkers = false);
        });
        await using var other = builder.Build();
        await other.DeployAsync();
        var services = other.Silos[0].ServiceProvider;
        var worker = services.GetRequiredService<IGrainFactory>().GetGrain<IShed>(Guid.NewGuid(), typeof(ShedWorker).FullName);
        await UseAsync(worker);
        var node = services.GetRequiredService<Node>();
        for (var period = 0; period < 20; period++)
            await PassAsync(node, clock);
        Assert.Equal(3, node.Activations.Count(activation => activation.GrainId == worker.GetGrainId()));
    }

    private Node Node => cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    /// <summary>A new client: by the clock of the silo the one before may have been silent for so long that it lost its link.</summary>
    private Task ConnectAsync() => cluster.Cluster.InitializeClientAsync();

    private static async Task UseAsync(IShed worker)
    {
        using var gate = new Gate();
        var calls = Enumerable.Range(0, 3).Select(_ => worker.Hold(gate.Name)).ToArray();
        foreach (var _ in calls)
            await gate.ArrivedAsync();
        gate.Open();
        await Task.WhenAll(calls);
    }

    private int Workers(IShed worker) => Node.Activations.Count(activation => activation.GrainId == worker.GetGrainId());

    private Task PassUntilAsync(Func<bool> condition) => TestingUtils.WaitUntilAsync(
        async _ =>
        {
            await PassAsync();
            return condition();
        },
        Gate.Patience, TimeSpan.FromMilliseconds(1));

    private Task PassAsync() => PassAsync(Node, cluster.Clock);

    /// <summary>Advances the time by one period; afterwards the control stage has done what was due.</summary>
    private static Task PassAsync(Node node, FakeClock clock)
    {
        clock.Advance(Shedding.Period);
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        node.Stages.Control.Post(new StageAction(done.SetResult));
        return done.Task.WaitAsync(Gate.Patience);
    }

    public sealed class Shedding() : ClusterFixture(1)
    {
        internal static readonly TimeSpan Period = TimeSpan.FromMilliseconds(500);

        internal FakeClock Clock { get; } = new();

        internal FakeMachine Machine { get; } = new();

        protected override void Configure(InProcessTestClusterOptions options) => options.InitializeClientOnDeploy = false;

        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            silo.Services.AddSingleton<TimeProvider>(Clock).AddSingleton<IEnvironmentStatisticsProvider>(Machine);
            silo.Configure<LoadSheddingOptions>(options =>
                (options.LoadSheddingEnabled, options.CpuThreshold, options.MemoryThreshold) = (true, 95, 70));
            silo.Configure<StatelessWorkerOptions>(options =>
                (options.IdleWorkersInspectionPeriod, options.MinIdleCyclesBeforeRemoval) = (Period, 4));
            silo.Configure<GrainCollectionOptions>(options =>
            {
                options.CollectionAge = TimeSpan.FromDays(7);
                options.EnableActivationSheddingOnMemoryPressure = true;
                options.MemoryUsageLimitPercentage = 50;
                options.MemoryUsageTargetPercentage = 30;
                options.MemoryUsagePollingPeriod = TimeSpan.FromSeconds(2);
            });
        }
    }

    internal sealed class FakeMachine : IEnvironmentStatisticsProvider
    {
        internal volatile float Cpu = 10;
        internal volatile int Memory = 10;

        public EnvironmentStatistics GetEnvironmentStatistics() => new(Cpu, Cpu, Memory, Memory, 100 - Memory, 100 - Memory, 100);
    }

    [Orleans.Metadata.DefaultGrainType("shed")]
    public interface IShed : IGrainWithGuidKey
    {
        Task Touch();

        Task Hold(string gate);
    }

    public class ShedGrain : Grain, IShed
    {
        public static readonly ConcurrentDictionary<Guid, DeactivationReasonCode> Ended = new();

        public Task Touch() => Task.CompletedTask;

        public Task Hold(string gate) => Gate.PassAsync(gate);

        public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
        {
            if (GetType() == typeof(ShedGrain))
                Ended[this.GetPrimaryKey()] = reason.ReasonCode;
            return Task.CompletedTask;
        }
    }

    [StatelessWorker(3)]
    public class ShedWorker : ShedGrain;

    [StatelessWorker(3, removeIdleWorkers: false)]
    public class StayingWorker : ShedGrain;
}
