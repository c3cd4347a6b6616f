using ActOp.Cluster.Tests.Simulation;
using ActOp.Runtime.Cluster;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests;

/// <summary>What each of the options of the membership changes.</summary>
public sealed class MembershipOptionTests
{
    [Fact]
    public void The_probe_timeout_is_both_the_time_limit_and_the_period_of_probes_as_configured()
    {
        var options = From(options => options.ProbeTimeout = TimeSpan.FromSeconds(5));
        Assert.Equal((5_000, 5_000), (options.ProbePeriod, options.ProbeTimeout));
        Assert.False(DiesWithin(options, options.ProbePeriod * 2));
        Assert.True(DiesWithin(options, options.DetectionBound));
    }

    [Fact]
    public void More_missed_probes_take_longer()
    {
        Assert.True(DiesWithin(From(static options => options.NumMissedProbesLimit = 3), 8_000));
        Assert.False(DiesWithin(From(static options => options.NumMissedProbesLimit = 12), 8_000));
    }

    [Fact]
    public void Nobody_is_declared_dead_without_liveness() =>
        Assert.False(DiesWithin(From(static options => options.LivenessEnabled = false), 60_000));

    [Fact]
    public void A_killed_process_is_detected_by_missed_probes_only_if_connections_are_not_watched()
    {
        Assert.True(DiesWithin(From(static _ => { }), 1_000, static silo => silo.Kill()));
        Assert.False(DiesWithin(From(static options => options.EnableConnectionLivenessCheck = false), 2_000, static silo => silo.Kill()));
    }

    [Fact]
    public void A_silo_that_others_reach_is_not_suspected_by_one_that_does_not_unless_indirect_probes_are_off()
    {
        Assert.False(ABrokenPathKills(static options => options.NumVotesForDeathDeclaration = 1));
        Assert.True(ABrokenPathKills(static options => (options.NumVotesForDeathDeclaration, options.EnableIndirectProbes) = (1, false)));
    }

    [Fact]
    public void As_many_votes_as_configured_declare_a_silo_dead()
    {
        Assert.True(ABrokenPathKills(static options => (options.NumVotesForDeathDeclaration, options.EnableIndirectProbes) = (1, false)));
        Assert.False(ABrokenPathKills(static options => (options.NumVotesForDeathDeclaration, options.EnableIndirectProbes) = (2, false)));
    }

    [Fact]
    public void A_silo_probes_as_many_others_as_configured()
    {
        var cluster = new SimulatedCluster(3, From(static options => options.NumProbedSilos = 2)).With(6);
        Assert.All(cluster.Running, static silo => Assert.Equal(2, silo.Protocol.Probed.Count));
    }

    [Fact]
    public void Without_gossip_silos_learn_of_changes_when_they_read_the_table()
    {
        Assert.True(LearnOfALeaveWithin(From(static options => Rarely(options, gossips: true)), 1_500));
        Assert.False(LearnOfALeaveWithin(From(static options => Rarely(options, gossips: false)), 1_500));
    }

    [Fact]
    public void The_table_is_read_and_the_sign_of_life_written_within_the_shorter_of_both_periods()
    {
        Assert.Equal(7_000, From(static options => options.IAmAliveTablePublishTimeout = TimeSpan.FromSeconds(7)).TableRefreshPeriod);
        Assert.Equal(4_000, From(static options => options.TableRefreshTimeout = TimeSpan.FromSeconds(4)).TableRefreshPeriod);
        Assert.Equal(5_000, From(static _ => { }).TableRefreshPeriod);
        Assert.Equal(5_000, From(static _ => { }, TimeSpan.FromSeconds(30)).TableRefreshPeriod);
    }

    [Fact]
    public void Signs_of_a_fault_of_its_own_lengthen_a_timeout_only_if_the_option_says_so_and_within_its_limits()
    {
        Assert.Equal(5_000, Stretched(static _ => { }));
        Assert.Equal(1_000, Stretched(static options => options.ExtendProbeTimeoutDuringDegradation = false));
        Assert.Equal(3_000, Stretched(static options => options.MaxProbeTimeout = TimeSpan.FromSeconds(3)));
        Assert.Equal(9_000, Stretched(static options => options.MinProbeTimeout = TimeSpan.FromSeconds(9)));
    }

    [Fact]
    public void The_health_recovers_by_one_step_per_monitoring_period()
    {
        var health = new HealthScore(From(static options => options.LocalHealthDegradationMonitoringPeriod = TimeSpan.FromSeconds(7)));
        health.Worsen(2, 1_000);
        health.Decay(7_999);
        Assert.Equal(2, health.Value);
        health.Decay(8_000);
        Assert.Equal(1, health.Value);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_silo_that_stays_joining_is_evicted_if_the_option_says_so(bool evicts)
    {
        var options = From(options =>
        {
            options.EvictWhenMaxJoinAttemptTimeExceeded = evicts;
            options.MaxJoinAttemptTime = TimeSpan.FromSeconds(20);
            options.LivenessEnabled = false;
            options.TableRefreshTimeout = TimeSpan.FromSeconds(2);
        });
        var cluster = new SimulatedCluster(4, options).With(3);
        var joining = SiloAddress.New(System.Net.IPAddress.Loopback, 99, 1);
        var change = new TableChange();
        change.SetRow(new MembershipRow(joining, "joining", SiloStatus.Joining, null), changesView: true);
        cluster.Table.Apply(change.Against(cluster.TableNow, 1));
        Assert.False(cluster.RunUntil(15_000, () => !cluster.TableNow.FindRow(joining)!.IsAlive));
        Assert.Equal(evicts, cluster.RunUntil(30_000, () => !cluster.TableNow.FindRow(joining)!.IsAlive));
    }

    [Fact]
    public void Rows_of_dead_silos_are_removed_when_they_have_expired_or_are_too_many()
    {
        Assert.Equal(2, DeadRowsAfter(static options => options.MaxDefunctSiloEntries = 2));
        Assert.Equal(5, DeadRowsAfter(static options => options.MaxDefunctSiloEntries = null));
        Assert.Equal(0, DeadRowsAfter(static options =>
            (options.DefunctSiloExpiration, options.DefunctSiloCleanupPeriod) = (TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(5))));
        Assert.Equal(5, DeadRowsAfter(static options =>
            (options.DefunctSiloExpiration, options.DefunctSiloCleanupPeriod) = (TimeSpan.FromSeconds(10), null)));
    }

    [Fact]
    public void A_silo_without_signs_of_life_does_not_count_for_the_quorum_after_the_configured_number()
    {
        Assert.Equal(4, From(static _ => { }).StaleHeartbeats);
        Assert.True(TwoOfThreeAreClearedWithin(From(static options => Quick(options, missed: 1)), 30_000));
        Assert.False(TwoOfThreeAreClearedWithin(From(static options => Quick(options, missed: 100)), 30_000));
    }

    private static void Quick(ClusterMembershipOptions options, int missed)
    {
        options.TableRefreshTimeout = TimeSpan.FromSeconds(2);
        options.NumMissedTableIAmAliveLimit = missed;
    }

    private static bool TwoOfThreeAreClearedWithin(MembershipOptions options, int time)
    {
        var cluster = new SimulatedCluster(11, options).With(3);
        var (first, second) = (cluster.Silos[0], cluster.Silos[1]);
        first.LoseHost();
        second.LoseHost();
        return cluster.RunUntil(
            time, () => cluster.Running.All(silo => silo.Protocol.View.IsDead(first.Address) && silo.Protocol.View.IsDead(second.Address)));
    }

    private static int DeadRowsAfter(Action<ClusterMembershipOptions> configure)
    {
        var options = From(
            options =>
            {
                options.TableRefreshTimeout = TimeSpan.FromSeconds(1);
                configure(options);
            },
            TimeSpan.FromSeconds(2));
        var cluster = new SimulatedCluster(8, options).With(3);
        for (var port = 10; port < 15; port++)
        {
            var guest = cluster.Start(port);
            cluster.Run(1_000);
            guest.EndGracefully();
            cluster.Run(500);
        }

        cluster.Run(60_000);
        return cluster.TableNow.Rows.Count(static row => !row.IsAlive);
    }

    private static int Stretched(Action<ClusterMembershipOptions> configure)
    {
        var options = From(configure);
        var health = new HealthScore(options);
        health.Worsen(8, 0);
        return health.Stretch(options.ProbeTimeout);
    }

    /// <summary>Probes, which tell of newer tables too, are rare.</summary>
    private static void Rarely(ClusterMembershipOptions options, bool gossips) =>
        (options.ProbeTimeout, options.MaxProbeTimeout, options.UseLivenessGossip) =
            (TimeSpan.FromMinutes(5), TimeSpan.FromMinutes(5), gossips);

    private static bool LearnOfALeaveWithin(MembershipOptions options, int time)
    {
        var cluster = new SimulatedCluster(5, options).With(5);
        cluster.Run(120_000);
        var leaving = cluster.Silos[2];
        leaving.EndGracefully();
        return cluster.RunUntil(time, () => cluster.Running.All(silo => !silo.Protocol.View.ActiveSilos.Contains(leaving.Address)));
    }

    private static bool DiesWithin(MembershipOptions options, int time, Action<SimulatedSilo>? end = null)
    {
        var cluster = new SimulatedCluster(2, options).With(4);
        var victim = cluster.Silos[1];
        (end ?? (static silo => silo.LoseHost()))(victim);
        return cluster.RunUntil(time, () => cluster.Running.All(silo => silo.Protocol.View.IsDead(victim.Address)));
    }

    /// <summary>Two of five silos do not reach each other, and are reached by all others: whether one of them is declared dead.</summary>
    private static bool ABrokenPathKills(Action<ClusterMembershipOptions> configure)
    {
        var cluster = new SimulatedCluster(21, From(configure)).With(5);
        cluster.Cut(cluster.Silos[0], cluster.Silos[1]);
        return cluster.RunUntil(30_000, () => cluster.TableNow.Rows.Any(static row => !row.IsAlive));
    }

    private static MembershipOptions From(Action<ClusterMembershipOptions> configure, TimeSpan? lease = null)
    {
        var options = new ClusterMembershipOptions();
        configure(options);
        return MembershipOptions.From(options, lease ?? Timeout.InfiniteTimeSpan);
    }
}
