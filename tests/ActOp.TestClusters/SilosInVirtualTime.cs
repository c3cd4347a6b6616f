using System.Globalization;
using ActOp.Configuration;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Nodes;
using Orleans.Statistics;

namespace ActOp.TestClusters;

/// <summary>
/// Silos, two unless told otherwise, whose common clock stands still until a test moves it on. Nobody is suspected: the clock says nothing
/// about how long an answer takes.
/// </summary>
internal sealed class SilosInVirtualTime : IAsyncDisposable
{
    private static readonly TimeSpan Slice = TimeSpan.FromMilliseconds(50);
    private readonly InProcessTestCluster _cluster;

    private SilosInVirtualTime(InProcessTestCluster cluster, FakeClock clock) => (_cluster, Clock) = (cluster, clock);

    public FakeClock Clock { get; }

    public IGrainFactory Grains => _cluster.Silos[0].ServiceProvider.GetRequiredService<IClusterClient>();

    public Node NodeOf(int silo) => _cluster.Nodes.ElementAt(silo);

    public SiloAddress AddressOf(int silo) => NodeOf(silo).Address;

    public static async Task<SilosInVirtualTime> Deploy(Action<ISiloBuilder>? configure = null, short silos = 2)
    {
        var clock = new FakeClock();
        var builder = new InProcessTestClusterBuilder(silos);
        builder.Options.InitializeClientOnDeploy = false;
        builder.ConfigureSilo((_, silo) =>
        {
            silo.Services.AddSingleton<TimeProvider>(clock).AddSingleton<IEnvironmentStatisticsProvider, IdleMachine>();
            silo.Configure<ClusterMembershipOptions>(options =>
            {
                options.ProbeTimeout = options.MaxProbeTimeout = TimeSpan.FromHours(1);
                options.TableRefreshTimeout = options.IAmAliveTablePublishTimeout = TimeSpan.FromHours(1);
            });
            // What threads cost is measured in real time, which has nothing to do with this clock's seconds, as the use of processors.
            silo.Configure<StageOptions>(options => options.Controller = StageController.Fixed);
            silo.Configure<SiloMessagingOptions>(options => options.ResponseTimeout = TimeSpan.FromHours(1));
            configure?.Invoke(silo);
        });
        var cluster = builder.Build();
        await Pump(clock, cluster.DeployAsync());
        var deployed = new SilosInVirtualTime(cluster, clock);
        await deployed.ServeAllSlots();
        return deployed;
    }

    /// <summary>Lets time pass in steps of the fold; after each, the locality turns of the given silos have done what was due.</summary>
    public async Task PassAsync(TimeSpan time, params int[] silos)
    {
        for (var passed = TimeSpan.Zero; passed < time; passed += Slice)
        {
            Clock.Advance(Slice);
            foreach (var silo in silos)
                await Fence(NodeOf(silo));
        }
    }

    public ValueTask DisposeAsync() => new(Pump(Clock, _cluster.DisposeAsync().AsTask()));

    /// <summary>
    /// The answers of calls that may have to wait for time to pass, as a look-up does in a slot of the directory that is not ready yet.
    /// </summary>
    public async Task<T[]> AskAll<T>(IEnumerable<Task<T>> calls)
    {
        var all = Task.WhenAll(calls);
        await Pump(Clock, all);
        return await all;
    }

    public async Task<T> Ask<T>(ValueTask<T> call) => (await AskAll([call.AsTask()]))[0];

    /// <summary>From then on nobody who asks the directory waits for time to pass, until silos come or go.</summary>
    private async Task ServeAllSlots()
    {
        var grains = new Dictionary<int, GrainId>();
        for (var key = 0; grains.Count < SlotMap.SlotCount; key++)
        {
            var grain = GrainId.Create("slot", key.ToString(CultureInfo.InvariantCulture));
            grains.TryAdd(SlotMap.SlotOf(grain), grain);
        }

        foreach (var some in grains.Values.Chunk(256))
            await AskAll(some.Select(NodeOf(0).Directory.LookupAsync));
    }

    /// <summary>Start and stop wait for time to pass, between steps that take real time.</summary>
    private static async Task Pump(FakeClock clock, Task work)
    {
        await TestingUtils.WaitUntilAsync(
            _ =>
            {
                if (!work.IsCompleted)
                    clock.Advance(Slice);
                return Task.FromResult(work.IsCompleted);
            },
            3 * Gate.Patience,
            TimeSpan.FromMilliseconds(1));
        await work.WaitAsync(Gate.Patience);
    }

    private static Task Fence(Node node)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        node.Locality.Host.Enqueue(new ActionItem(static state => ((TaskCompletionSource)state!).SetResult(), done));
        return done.Task.WaitAsync(Gate.Patience);
    }

    /// <summary>All silos use the same.</summary>
    private sealed class IdleMachine : IEnvironmentStatisticsProvider
    {
        private const long Gigabyte = 1L << 30;

        public EnvironmentStatistics GetEnvironmentStatistics() =>
            new(0, 0, Gigabyte, Gigabyte, 7 * Gigabyte, 7 * Gigabyte, 8 * Gigabyte);
    }
}
