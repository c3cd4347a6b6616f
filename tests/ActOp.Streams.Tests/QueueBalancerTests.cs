using ActOp.TestClusters;
using Microsoft.Extensions.Logging;
using Orleans.LeaseProviders;
using Orleans.Runtime.Development;
using Orleans.Streams;

namespace ActOp.Streams.Tests;

/// <summary>Which silo reads which queues with the balancers of Orleans, and where positions of partitions are kept.</summary>
public class QueueBalancerTests
{
    private const string Provider = "balanced";
    private const int Queues = 7;
    private static readonly TimeSpan Length = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan Renewal = TimeSpan.FromSeconds(29);

    /// <summary>The clock knows a timer by when it is due: with the renewal it must not add up to the length of a lease.</summary>
    private static readonly TimeSpan Acquisition = TimeSpan.FromSeconds(33);

    [Fact]
    public async Task Leases_give_each_queue_to_one_silo_and_those_of_a_stopped_silo_to_the_others()
    {
        var leases = new Leases();
        await using var cluster = await TestSilos.StartAsync(3, silo =>
        {
            silo.Services.AddSingleton<ILeaseProvider>(leases);
            silo.AddMemoryStreams(Provider, static streams =>
            {
                streams.ConfigurePartitioning(Queues);
                streams.UseLeaseBasedQueueBalancer(static options => options.Configure(
                    static one => one.LeaseAcquisitionPeriod = TimeSpan.FromMilliseconds(20)));
            });
        });
        await UntilAsync(cluster, static shares => shares is [[_, _], [_, _], [_, _, _]]);
        await cluster.StopSiloAsync(cluster.Silos[2]);
        await UntilAsync(cluster, static shares => shares is [[_, _, _], [_, _, _, _]]);
        await cluster.StartAdditionalSiloAsync();
        await UntilAsync(cluster, static shares => shares is [[_, _], [_, _], [_, _, _]]);
        Assert.Equal(0, leases.Doubles);
    }

    [Fact]
    public async Task Leases_in_memory_serve_a_balancer()
    {
        await using var cluster = await TestSilos.StartAsync(2, silo =>
        {
            silo.UseInMemoryLeaseProvider();
            silo.AddMemoryStreams(Provider, static streams =>
            {
                streams.ConfigurePartitioning(Queues);
                streams.UseLeaseBasedQueueBalancer(static options => options.Configure(
                    static one => one.LeaseAcquisitionPeriod = TimeSpan.FromMilliseconds(20)));
            });
        });
        await UntilAsync(cluster, static shares => shares is [[_, _, _], [_, _, _, _]]);
    }

    [Fact]
    public async Task A_lease_is_renewed_in_time_and_a_queue_whose_lease_is_lost_is_left_until_it_is_found_again()
    {
        var (leases, clock) = (new Leases(), new FakeClock());
        await using var cluster = await DeployAloneAsync(leases, clock);
        var balancer = Balancer(cluster, 0);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(balancer.GetMyQueues().Count() == Queues), Gate.Patience);
        await clock.TimerSetAsync(Renewal).WaitAsync(Gate.Patience);
        leases.Lost = leases.Held.First();
        clock.Advance(Renewal);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(balancer.GetMyQueues().Count() == Queues - 1), Gate.Patience);
        Assert.Equal(1, leases.Renewals);
        Assert.All(leases.Categories, static category => Assert.Equal(Leases.Category, category));
        leases.Clear();
        leases.Lost = null;
        await clock.TimerSetAsync(Renewal).WaitAsync(Gate.Patience);
        clock.Advance(Acquisition);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(balancer.GetMyQueues().Count() == Queues), Gate.Patience);
    }

    [Fact]
    public async Task While_the_provider_of_leases_fails_the_queues_are_read_until_their_leases_end()
    {
        var (leases, clock) = (new Leases(), new FakeClock());
        await using var cluster = await DeployAloneAsync(leases, clock);
        var balancer = Balancer(cluster, 0);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(balancer.GetMyQueues().Count() == Queues), Gate.Patience);
        await clock.TimerSetAsync(Renewal).WaitAsync(Gate.Patience);
        leases.Fails = true;
        clock.Advance(Renewal);
        await clock.TimerSetAsync(Renewal / 10).WaitAsync(Gate.Patience);
        Assert.Equal(Queues, balancer.GetMyQueues().Count());
        var failed = clock.TimerSetAsync(Acquisition);
        clock.Advance(Length);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(!balancer.GetMyQueues().Any()), Gate.Patience);
        // The attempt to take them again has failed: time stands still during the next one, so none of its steps is late.
        await failed.WaitAsync(Gate.Patience);
        leases.Fails = false;
        leases.Clear();
        clock.Advance(Acquisition);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(balancer.GetMyQueues().Count() == Queues), Gate.Patience);
    }

    [Fact]
    public async Task The_queues_of_a_silo_of_the_deployment_that_has_not_started_wait_until_the_others_are_mature()
    {
        var clock = new FakeClock();
        await using var cluster = await TestSilos.StartAsync(1, silo => AddStatic(silo, clock, isFixed: false));
        var balancer = Balancer(cluster, 0);
        var ideal = balancer.GetMyQueues().ToArray();
        Assert.InRange(ideal.Length, 2, 3);
        await clock.TimerSetAsync(TimeSpan.FromMinutes(2)).WaitAsync(Gate.Patience);
        clock.Advance(TimeSpan.FromMinutes(2));
        Assert.Equal(Queues, balancer.GetMyQueues().Distinct().Count());
        Assert.Equal(ideal, balancer.GetMyQueues().Take(ideal.Length));
    }

    [Fact]
    public async Task The_queues_of_a_fixed_deployment_always_wait_for_their_silo()
    {
        var clock = new FakeClock();
        await using var cluster = await TestSilos.StartAsync(1, silo => AddStatic(silo, clock, isFixed: true));
        clock.Advance(TimeSpan.FromMinutes(3));
        Assert.InRange(Balancer(cluster, 0).GetMyQueues().Count(), 2, 3);
    }

    [Fact]
    public async Task The_silos_that_have_joined_share_the_queues_by_their_names()
    {
        await using var cluster = await TestSilos.StartAsync(3, static silo => silo.AddMemoryStreams(Provider, static streams =>
        {
            streams.ConfigurePartitioning(Queues);
            streams.UseDynamicClusterConfigDeploymentBalancer(TimeSpan.FromMilliseconds(1));
        }));
        await UntilAsync(cluster, static _ => true);
        await cluster.KillSiloAsync(cluster.Silos[1]);
        await UntilAsync(cluster, static _ => true);
    }

    [Fact]
    public async Task The_period_of_monitors_is_reported_to_have_no_effect()
    {
        var log = new LogCapture();
        await using var cluster = await TestSilos.StartAsync(1, silo =>
        {
            silo.Services.AddSingleton<ILoggerProvider>(log);
            silo.AddMemoryStreams(Provider, static streams => streams.ConfigureStatistics(static options => options.Configure(
                static one => one.StatisticMonitorWriteInterval = TimeSpan.FromSeconds(1))));
        });
        Assert.Contains(log.Lines(LogLevel.Warning),
            static line => line.Contains("StreamStatisticOptions.StatisticMonitorWriteInterval", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_position_is_written_once_in_a_period_and_at_a_flush_and_never_goes_back()
    {
        await using var cluster = await TestSilos.StartAsync(2, static silo =>
        {
            silo.AddMemoryGrainStorage("positions");
            silo.AddMemoryStreams(Provider, static streams => streams.UseGrainCheckpointer(static options => options.Configure(static one =>
            {
                one.StorageProviderName = "positions";
                one.CheckpointComparer = Comparer<string>.Create(static (left, right) => int.Parse(left).CompareTo(int.Parse(right)));
            })));
        });
        var factory = cluster.Silos[0].ServiceProvider.GetRequiredKeyedService<IStreamQueueCheckpointerFactory>(Provider);
        var first = await factory.Create("0", CancellationToken.None);
        Assert.False(first.CheckpointExists);
        var now = new DateTime(2030, 1, 1);
        first.Update("5", now, CancellationToken.None);
        first.Update("7", now.AddSeconds(59), CancellationToken.None);
        first.Update("6", now.AddSeconds(59), CancellationToken.None);
        await TestingUtils.WaitUntilAsync(async _ => await LoadAsync(cluster) == "5", Gate.Patience);
        await first.FlushAsync(CancellationToken.None);
        Assert.Equal("7", await LoadAsync(cluster));
        var second = await cluster.Silos[1].ServiceProvider.GetRequiredKeyedService<IStreamQueueCheckpointerFactory>(Provider)
            .Create("0", CancellationToken.None);
        Assert.True(second.CheckpointExists);
        Assert.Equal("7", await second.Load(CancellationToken.None));
        second.Update("9", now, CancellationToken.None);
        await second.FlushAsync(CancellationToken.None);
        first.Update("8", now.AddMinutes(2), CancellationToken.None);
        await first.FlushAsync(CancellationToken.None);
        Assert.Equal("9", await LoadAsync(cluster));
        var grain = Checkpointer(cluster);
        Assert.Equal("9", await grain.Update("10", "7", CancellationToken.None));
        Assert.Equal("10", await grain.Update("10", "9", CancellationToken.None));
        await cluster.DeactivateAsync(grain);
        Assert.Equal("10", await LoadAsync(cluster));
    }

    private static string Key(InProcessTestCluster cluster) => Provider + "/" + cluster.Options.ServiceId + "/0";

    private static async Task<string> LoadAsync(InProcessTestCluster cluster) => await Checkpointer(cluster).Load(CancellationToken.None);

    /// <summary>Positions are for silos.</summary>
    private static IStreamCheckpointerGrain Checkpointer(InProcessTestCluster cluster) =>
        cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>().GetGrain<IStreamCheckpointerGrain>(Key(cluster));

    private static void AddStatic(ISiloBuilder silo, FakeClock clock, bool isFixed)
    {
        silo.Services.AddSingleton<TimeProvider>(clock);
        silo.Configure<StaticClusterDeploymentOptions>(static options => options.SiloNames = ["Silo_0", "Silo_1", "Silo_2"]);
        silo.AddMemoryStreams(Provider, streams =>
        {
            streams.ConfigurePartitioning(Queues);
            streams.UseStaticClusterConfigDeploymentBalancer();
            streams.Configure<DeploymentBasedQueueBalancerOptions>(options => options.Configure(one => one.IsFixed = isFixed));
        });
    }

    private static Task<InProcessTestCluster> DeployAloneAsync(Leases leases, FakeClock clock) => TestSilos.StartAsync(1, silo =>
    {
        silo.Services.AddSingleton<TimeProvider>(clock);
        silo.Services.AddSingleton<ILeaseProvider>(leases);
        silo.AddMemoryStreams(Provider, static streams =>
        {
            streams.ConfigurePartitioning(Queues);
            streams.UseLeaseBasedQueueBalancer(static options => options.Configure(
                static one => (one.LeaseLength, one.LeaseRenewPeriod, one.LeaseAcquisitionPeriod, one.LeaseCategory) =
                    (Length, Renewal, Acquisition, Leases.Category)));
        });
    });

    private static IStreamQueueBalancer Balancer(InProcessTestCluster cluster, int silo) =>
        cluster.Silos[silo].ServiceProvider.GetRequiredKeyedService<IStreamQueueBalancer>(Provider);

    /// <summary>Until each queue has one silo, and the shares, from small to large, are as they should be.</summary>
    private static Task UntilAsync(InProcessTestCluster cluster, Func<QueueId[][], bool> so) => TestingUtils.WaitUntilAsync(_ =>
    {
        var shares = cluster.GetActiveSilos().Select(silo => silo.ServiceProvider.GetRequiredKeyedService<IStreamQueueBalancer>(Provider)
            .GetMyQueues().ToArray()).OrderBy(static share => share.Length).ToArray();
        var all = shares.SelectMany(static share => share).ToArray();
        return Task.FromResult(all.Length == Queues && all.Distinct().Count() == Queues && so(shares));
    }, Gate.Patience);

    /// <summary>Leases that do not end by themselves.</summary>
    private sealed class Leases : ILeaseProvider
    {
        public const string Category = "test";

        private readonly Lock _gate = new();
        private readonly Dictionary<string, string> _held = [];

        public bool Fails { get; set; }

        /// <summary>The resource whose lease cannot be renewed or taken.</summary>
        public string? Lost { get; set; }

        public int Renewals { get; private set; }

        public System.Collections.Concurrent.ConcurrentBag<string> Categories { get; } = [];

        /// <summary>Leases that were given back by whoever had none.</summary>
        public int Doubles { get; private set; }

        public string[] Held
        {
            get
            {
                lock (_gate)
                    return [.. _held.Keys];
            }
        }

        public void Clear()
        {
            lock (_gate)
                _held.Clear();
        }

        public Task<AcquireLeaseResult[]> Acquire(string category, LeaseRequest[] leaseRequests)
        {
            ObjectDisposedException.ThrowIf(Fails, this);
            Categories.Add(category);
            lock (_gate)
                return Task.FromResult(leaseRequests.Select(one => Grant(one.ResourceKey, one.Duration)).ToArray());
        }

        public Task Release(string category, AcquiredLease[] aquiredLeases)
        {
            ObjectDisposedException.ThrowIf(Fails, this);
            lock (_gate)
            {
                foreach (var lease in aquiredLeases)
                    Doubles += _held.Remove(lease.ResourceKey, out var token) && token == lease.Token ? 0 : 1;
            }

            return Task.CompletedTask;
        }

        public Task<AcquireLeaseResult[]> Renew(string category, AcquiredLease[] aquiredLeases)
        {
            ObjectDisposedException.ThrowIf(Fails, this);
            lock (_gate)
            {
                Renewals++;
                return Task.FromResult(aquiredLeases.Select(one => one.ResourceKey == Lost
                    ? new AcquireLeaseResult(null, ResponseCode.InvalidToken, null)
                    : new AcquireLeaseResult(one, ResponseCode.OK, null)).ToArray());
            }
        }

        private AcquireLeaseResult Grant(string key, TimeSpan duration)
        {
            if (key == Lost || !_held.TryAdd(key, key + _held.Count))
                return new AcquireLeaseResult(null, ResponseCode.LeaseNotAvailable, null);
            return new AcquireLeaseResult(new AcquiredLease(key, duration, _held[key], default), ResponseCode.OK, null);
        }
    }
}
