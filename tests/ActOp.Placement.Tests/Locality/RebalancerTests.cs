using ActOp.Configuration;
using ActOp.Locality;
using ActOp.Management.Rebalancing;
using ActOp.Runtime.Activations;
using ActOp.TestClusters;
using Microsoft.Extensions.Options;
using Orleans.Placement.Rebalancing;
using Orleans.Placement.Repartitioning;

namespace ActOp.Placement.Tests.Locality;

/// <summary>Activations that are spread evenly over the silos, and the names of Orleans for locality partitioning.</summary>
public class RebalancerTests
{
    private static readonly SiloAddress[] Silos =
        [.. Enumerable.Range(1, 4).Select(static number => SiloAddress.FromParsableString("127.0.0.1:" + number + "@1"))];

    [Fact]
    public void The_imbalance_is_0_when_all_have_the_same_and_1_when_one_has_all()
    {
        Assert.Equal(0, RebalancingSession.ImbalanceOf([5, 5, 5]), 6);
        Assert.Equal(1, RebalancingSession.ImbalanceOf([9, 0, 0]), 6);
        Assert.InRange(RebalancingSession.ImbalanceOf([6, 5, 4]), 0.001, 0.1);
        Assert.Equal(0, RebalancingSession.ImbalanceOf([7]));
        Assert.Equal(0, RebalancingSession.ImbalanceOf([0, 0]));
    }

    [Fact]
    public void A_session_balances_the_silos_cycle_by_cycle_and_never_turns_a_difference_round()
    {
        int[] counts = [1000, 10, 300, 90];
        var session = new RebalancingSession(new ActivationRebalancerOptions());
        for (var cycle = 0; ; cycle++)
        {
            Assert.InRange(cycle, 0, 100);
            var step = session.Next(Of(counts));
            Assert.False(step.HasFailed);
            if (step.Ends)
                break;
            var before = RebalancingSession.ImbalanceOf(counts);
            Apply(counts, step.Moves);
            Assert.True(RebalancingSession.ImbalanceOf(counts) < before);
        }

        Assert.Equal(1400, counts.Sum());
        Assert.InRange(counts.Max() - counts.Min(), 0, 20);
    }

    [Fact]
    public void Weights_and_limits_decide_how_many_move_in_a_cycle()
    {
        var usual = FirstMoves(static _ => { });
        Assert.True(FirstMoves(static options => options.CycleNumberWeight = 1) > usual);
        Assert.True(FirstMoves(static options => options.SiloNumberWeight = 1) < usual);
        Assert.Equal(7, FirstMoves(static options => options.ActivationMigrationCountLimit = 7));

        static int FirstMoves(Action<ActivationRebalancerOptions> configure)
        {
            var options = new ActivationRebalancerOptions();
            configure(options);
            return new RebalancingSession(options).Next(Of([1000, 0, 500, 100])).Moves.Sum(static move => move.Count);
        }
    }

    [Fact]
    public void A_session_ends_when_the_allowed_deviation_is_reached_which_grows_with_the_activations()
    {
        Assert.True(Ends(static options => options.AllowedEntropyDeviation = 0.1));
        Assert.False(Ends(static options => options.AllowedEntropyDeviation = 0));
        Assert.False(Ends(static options => options.AllowedEntropyDeviation = 0.001));
        Assert.True(Ends(static options =>
        {
            options.AllowedEntropyDeviation = 0.001;
            options.ScaledEntropyDeviationActivationThreshold = 1000;
        }));
        Assert.False(Ends(static options =>
        {
            options.AllowedEntropyDeviation = 0.001;
            options.ScaledEntropyDeviationActivationThreshold = 1000;
            options.ScaleAllowedEntropyDeviation = false;
        }));

        static bool Ends(Action<ActivationRebalancerOptions> configure)
        {
            var options = new ActivationRebalancerOptions { ScaledEntropyDeviationActivationThreshold = 1_000_000 };
            configure(options);
            return new RebalancingSession(options).Next(Of([53_000, 47_000])).Ends;
        }
    }

    [Fact]
    public void A_session_fails_after_as_many_cycles_without_progress_as_configured()
    {
        foreach (var limit in new[] { 1, 4 })
        {
            var session = new RebalancingSession(new ActivationRebalancerOptions { MaxStagnantCycles = limit });
            for (var cycle = 0; cycle < limit; cycle++)
                Assert.False(session.Next(Of([100, 0])).Ends);
            Assert.True(session.Next(Of([100, 0])).HasFailed);
        }

        var slow = new RebalancingSession(new ActivationRebalancerOptions { MaxStagnantCycles = 1, EntropyQuantum = 0.1 });
        Assert.False(slow.Next(Of([100, 50])).Ends);
        Assert.True(slow.Next(Of([99, 51])).HasFailed);
    }

    [Fact]
    public void The_pause_after_a_session_that_failed_is_one_cycle_unless_the_application_chooses()
    {
        using var usual = Services(static silo => silo.AddActivationRebalancer());
        Assert.Equal(TimeSpan.FromSeconds(15), usual.GetRequiredService<IFailedSessionBackoffProvider>().Next(1));
        using var own = Services(static silo => silo.AddActivationRebalancer<OwnBackoff>());
        Assert.Equal(TimeSpan.FromHours(2), own.GetRequiredService<IFailedSessionBackoffProvider>().Next(2));
    }

    [Fact]
    public async Task Activations_move_from_the_silo_that_has_all_and_reports_say_so()
    {
        await using var cluster = await Start();
        var (full, empty) = (cluster.Silos[0], cluster.Silos[1]);
        for (var i = 0; i < 40; i++)
        {
            var grain = cluster.Client.GetGrain<IEchoGrain>("balanced " + i);
            await Place.On(full.SiloAddress, grain.Where);
        }

        var listener = new Listener();
        empty.ServiceProvider.GetRequiredService<IActivationRebalancer>().SubscribeToReports(listener);
        var report = await listener.FirstAsync(one => one.Statistics.Any(
            silo => silo.SiloAddress.Equals(empty.SiloAddress) && silo.AcquiredActivations >= 15));
        var left = Assert.Single(report.Statistics, silo => silo.SiloAddress.Equals(full.SiloAddress));
        Assert.True(left.DispersedActivations >= 15);
        Assert.Equal(cluster.Silos.Min(static silo => silo.SiloAddress), report.Host);
        Assert.InRange(empty.ServiceProvider.GetRequiredService<ActivationTable>().Count, 10, 30);
        for (var i = 0; i < 40; i++)
            await cluster.Client.GetGrain<IEchoGrain>("balanced " + i).Echo("still there");
    }

    [Fact]
    public async Task A_silo_that_has_left_is_no_longer_in_reports_nor_told_to_others()
    {
        await using var cluster = await Start();
        var leaves = cluster.Silos.MinBy(static silo => silo.SiloAddress)!;
        var stays = cluster.Silos.Single(silo => silo != leaves);
        var rebalancer = stays.ServiceProvider.GetRequiredService<IActivationRebalancer>();
        await ((IRebalancerTarget)rebalancer).Tell(NumbersOf(leaves.SiloAddress, stays.SiloAddress, Silos[0]));
        Assert.Equal([leaves.SiloAddress, stays.SiloAddress], StatisticsOf(await rebalancer.GetRebalancingReport()));
        await cluster.StopSiloAsync(leaves);
        var view = stays.ServiceProvider.GetRequiredService<Runtime.Nodes.Node>().ClusterView;
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(view.Active.Length == 1), Gate.Patience, TimeSpan.FromMilliseconds(1));
        Assert.Equal([stays.SiloAddress], StatisticsOf(await rebalancer.GetRebalancingReport(true)));
        Assert.Equal([stays.SiloAddress], (await ((IRebalancerTarget)rebalancer).Get()).Silos);

        static RebalancerState NumbersOf(params SiloAddress[] silos) => new()
        {
            Host = silos[0],
            Version = 1_000_000,
            Silos = silos,
            Dispersed = new ulong[silos.Length],
            Acquired = new ulong[silos.Length],
            ChangedAt = new DateTime[silos.Length],
        };

        static SiloAddress[] StatisticsOf(RebalancingReport report) => [.. report.Statistics.Select(static one => one.SiloAddress).Order()];
    }

    [Fact]
    public async Task It_is_suspended_and_resumed_from_any_silo()
    {
        await using var cluster = await Start();
        foreach (var silo in cluster.Silos)
        {
            var rebalancer = silo.ServiceProvider.GetRequiredService<IActivationRebalancer>();
            var listener = new Listener();
            var first = await rebalancer.GetRebalancingReport(true);
            Assert.Equal((RebalancerStatus.Executing, null), (first.Status, first.SuspensionDuration));
            rebalancer.SubscribeToReports(listener);
            await rebalancer.SuspendRebalancing();
            await listener.HeardAsync(RebalancerStatus.Suspended);
            Assert.Equal((RebalancerStatus.Suspended, Timeout.InfiniteTimeSpan), (listener.Last!.Value.Status,
                listener.Last.Value.SuspensionDuration));
            await rebalancer.SuspendRebalancing(TimeSpan.FromHours(1));
            Assert.InRange((await rebalancer.GetRebalancingReport(true)).SuspensionDuration!.Value, TimeSpan.FromMinutes(50),
                TimeSpan.FromHours(1));
            foreach (var other in cluster.Silos)
            {
                var seen = await other.ServiceProvider.GetRequiredService<IActivationRebalancer>().GetRebalancingReport(true);
                Assert.Equal((RebalancerStatus.Suspended, first.Host), (seen.Status, seen.Host));
            }

            rebalancer.UnsubscribeFromReports(listener);
            await rebalancer.ResumeRebalancing();
            Assert.Equal(RebalancerStatus.Suspended, listener.Last.Value.Status);
            Assert.Equal(RebalancerStatus.Executing, (await rebalancer.GetRebalancingReport(true)).Status);
            await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => rebalancer.SuspendRebalancing(TimeSpan.Zero));
        }
    }

    [Fact]
    public async Task A_state_that_arrives_after_a_later_one_is_dropped()
    {
        await using var cluster = await Start();
        var decides = cluster.Silos.MinBy(static silo => silo.SiloAddress)!;
        var other = cluster.Silos.First(silo => silo != decides).ServiceProvider.GetRequiredService<IActivationRebalancer>();
        var listener = new Listener();
        other.SubscribeToReports(listener);
        var early = await ((IRebalancerTarget)decides.ServiceProvider.GetRequiredService<IActivationRebalancer>()).Get();
        await other.SuspendRebalancing();
        await listener.HeardAsync(RebalancerStatus.Suspended);
        await ((IRebalancerTarget)other).Tell(early);
        Assert.Equal(RebalancerStatus.Suspended, (await other.GetRebalancingReport()).Status);
        Assert.Equal(RebalancerStatus.Suspended, listener.Last!.Value.Status);
    }

    [Fact]
    public async Task A_listener_that_throws_keeps_no_report_from_the_others()
    {
        await using var cluster = await Start();
        var rebalancer = cluster.Silos[0].ServiceProvider.GetRequiredService<IActivationRebalancer>();
        var throws = new Listener { Throws = true };
        var listener = new Listener();
        rebalancer.SubscribeToReports(throws);
        rebalancer.SubscribeToReports(listener);

        await rebalancer.SuspendRebalancing();
        await Task.WhenAll(throws.HeardAsync(RebalancerStatus.Suspended), listener.HeardAsync(RebalancerStatus.Suspended));

        await rebalancer.ResumeRebalancing();
        await Task.WhenAll(throws.HeardAsync(RebalancerStatus.Executing), listener.HeardAsync(RebalancerStatus.Executing));
    }

    [Fact]
    public async Task A_wrong_option_of_the_rebalancer_fails_the_start()
    {
        var failure = await Assert.ThrowsAnyAsync<Exception>(() => TestSilos.StartAsync(1, static silo =>
            silo.Configure<ActivationRebalancerOptions>(static options => options.CycleNumberWeight = 0).AddActivationRebalancer()));
        Assert.Contains("ActivationRebalancerOptions.CycleNumberWeight", failure.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Options_of_the_repartitioner_are_those_of_locality()
    {
        using var usual = Services(static silo => silo.Configure<LocalityOptions>(static options => options.Enabled = false)
            .AddActivationRepartitioner());
        var locality = usual.GetRequiredService<IOptions<LocalityOptions>>().Value;
        Assert.Equal((true, 100_000, 30.0, 1.0), (locality.Enabled, locality.EdgeCapacity, locality.MaxRoundPeriod.TotalSeconds,
            locality.MinRoundPeriod.TotalSeconds));
        using var own = Services(static silo => silo.AddActivationRepartitioner().Configure<ActivationRepartitionerOptions>(static options =>
        {
            options.MaxEdgeCount = 123;
            options.MaxRoundPeriod = TimeSpan.FromSeconds(50);
            options.MinRoundPeriod = TimeSpan.FromSeconds(40);
            options.RecoveryPeriod = TimeSpan.FromSeconds(7);
        }));
        locality = own.GetRequiredService<IOptions<LocalityOptions>>().Value;
        Assert.Equal((123, 50.0, 40.0, 7.0), (locality.EdgeCapacity, locality.MaxRoundPeriod.TotalSeconds,
            locality.MinRoundPeriod.TotalSeconds, locality.RejectionWindow.TotalSeconds));
    }

    [Fact]
    public async Task A_rule_of_the_application_says_how_much_two_silos_may_differ()
    {
        var band = new ImbalanceBand(new AtMostTen(), static exception => throw exception);
        Assert.Equal(0.05, band.ToleranceAt(100)!.Value, 6);
        Assert.Equal(0.5, band.ToleranceAt(10)!.Value, 6);
        Assert.Null(band.ToleranceAt(0));
        Exception? failure = null;
        Assert.Null(new ImbalanceBand(new Broken(), exception => failure = exception).ToleranceAt(10));
        Assert.NotNull(failure);
        await using var cluster = await TestSilos.StartAsync(1, static silo => silo.AddActivationRepartitioner<AtMostTen>());
        Assert.IsType<AtMostTen>(cluster.Silos[0].ServiceProvider.GetRequiredService<IImbalanceToleranceRule>());
        Assert.True(AtMostTen.HasParticipated);
    }

    private static Task<InProcessTestCluster> Start() => TestSilos.StartAsync(
        2,
        static silo => silo.AddActivationRebalancer().Configure<ActivationRebalancerOptions>(static options =>
        {
            options.RebalancerDueTime = TimeSpan.FromMilliseconds(50);
            options.SessionCyclePeriod = TimeSpan.FromMilliseconds(50);
            options.CycleNumberWeight = 1;
        }));

    private static ServiceProvider Services(Action<ISiloBuilder> configure)
    {
        var services = new ServiceCollection();
        services.AddOptions<LocalityOptions>();
        configure(new ActOp.Hosting.SiloBuilder(services, new Microsoft.Extensions.Configuration.ConfigurationBuilder().Build()));
        return services.BuildServiceProvider();
    }

    private static List<KeyValuePair<SiloAddress, int>> Of(int[] counts) =>
        [.. counts.Select(static (count, index) => KeyValuePair.Create(Silos[index], count))];

    private static void Apply(int[] counts, List<RebalancingMove> moves)
    {
        foreach (var move in moves)
        {
            counts[Array.IndexOf(Silos, move.From)] -= move.Count;
            counts[Array.IndexOf(Silos, move.To)] += move.Count;
        }
    }

    private sealed class OwnBackoff : IFailedSessionBackoffProvider
    {
        public TimeSpan Next(int attempt) => TimeSpan.FromHours(attempt);
    }

    private sealed class Listener : IActivationRebalancerReportListener
    {
        private readonly TaskCompletionSource<RebalancingReport> _found = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private volatile Func<RebalancingReport, bool>? _condition;
        private volatile object? _last;

        public RebalancingReport? Last => (RebalancingReport?)_last;

        public bool Throws { get; init; }

        public void OnReport(RebalancingReport report)
        {
            _last = report;
            if (Throws)
                throw new InvalidOperationException("The listener throws.");
            if (_condition?.Invoke(report) == true)
                _found.TrySetResult(report);
        }

        /// <summary>
        /// Ends when the last report has the status: the thread that brings the state from the host may be the one that tells it, and
        /// that of the caller does not wait for it.
        /// </summary>
        public Task HeardAsync(RebalancerStatus status) => TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(Last?.Status == status), Gate.Patience, TimeSpan.FromMilliseconds(1));

        public Task<RebalancingReport> FirstAsync(Func<RebalancingReport, bool> condition)
        {
            _condition = condition;
            return _found.Task.WaitAsync(TimeSpan.FromSeconds(60), TestContext.Current.CancellationToken);
        }
    }

    private sealed class AtMostTen : IImbalanceToleranceRule, ILifecycleParticipant<ISiloLifecycle>
    {
        public static bool HasParticipated { get; private set; }

        public bool IsSatisfiedBy(uint imbalance) => imbalance <= 10;

        public void Participate(ISiloLifecycle lifecycle) => HasParticipated = true;
    }

    private sealed class Broken : IImbalanceToleranceRule
    {
        public bool IsSatisfiedBy(uint imbalance) => throw new InvalidOperationException("on purpose");
    }
}
