using ActOp.Cluster.Tests.Simulation;
using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests;

public sealed class MembershipSimulationTests
{
    public static TheoryData<int> Seeds { get; } = [.. Enumerable.Range(1, 20)];

    [Theory, MemberData(nameof(Seeds))]
    public void Silos_that_start_together_end_in_one_view(int seed)
    {
        var cluster = new SimulatedCluster(seed).With(3 + (seed % 5));

        Assert.True(cluster.IsSettled());
        Assert.All(cluster.Running, silo => Assert.Equal(cluster.Silos.Count, silo.Protocol.View.ActiveSilos.Length));
        Assert.All(cluster.Running, silo => Assert.True(silo.MayRunTurns));
    }

    [Theory, MemberData(nameof(Seeds))]
    public void A_silo_whose_host_is_lost_is_evicted_within_the_bound(int seed)
    {
        var cluster = new SimulatedCluster(seed).With(2 + (seed % 6));
        cluster.Run(seed * 137);
        var victim = cluster.Silos[seed % cluster.Silos.Count];

        victim.LoseHost();

        Assert.True(
            cluster.RunUntil(cluster.Options.DetectionBound, () => cluster.Running.All(silo => silo.Protocol.View.IsDead(victim.Address))));
        Assert.Equal(DeathCause.Silent, cluster.TableNow.FindRow(victim.Address)!.Cause);
        Assert.InRange(cluster.Options.DetectionBound, 1, 15_000);
    }

    [Theory, MemberData(nameof(Seeds))]
    public void A_killed_process_is_evicted_at_once_because_its_host_refuses(int seed)
    {
        var cluster = new SimulatedCluster(seed).With(2 + (seed % 6));
        var victim = cluster.Silos[seed % cluster.Silos.Count];

        victim.Kill();

        Assert.True(cluster.RunUntil(1_000, () => cluster.Running.All(silo => silo.Protocol.View.IsDead(victim.Address))));
        Assert.Equal(DeathCause.Refused, cluster.TableNow.FindRow(victim.Address)!.Cause);
    }

    [Theory, MemberData(nameof(Seeds))]
    public void One_sick_silo_does_not_get_a_healthy_one_evicted(int seed)
    {
        var cluster = new SimulatedCluster(seed).With(3 + (seed % 5));
        var sick = cluster.Silos[seed % cluster.Silos.Count];
        // It hears nobody, or handles everything seconds late; the table it can reach.
        if (seed % 2 == 0)
        {
            foreach (var other in cluster.Silos.Where(other => other != sick))
            {
                cluster.CutOneWay(other, sick);
            }
        }
        else
        {
            sick.Lag = 4_000;
        }

        cluster.Run(40_000);

        Assert.All(cluster.Silos.Where(silo => silo != sick), silo => Assert.False(silo.Protocol.IsStopped));
    }

    [Theory, MemberData(nameof(Seeds))]
    public void Loss_and_delay_alone_evict_nobody(int seed)
    {
        var cluster = new SimulatedCluster(seed).With(5);
        cluster.Faults = new Faults { Loss = 0.05, Duplication = 0.1, MaxDelay = 200 };

        cluster.Run(120_000);

        Assert.All(cluster.Silos, silo => Assert.False(silo.Protocol.IsStopped));
    }

    [Theory, MemberData(nameof(Seeds))]
    public void A_partitioned_silo_stops_itself_before_its_lease_ends_for_the_others(int seed)
    {
        var cluster = new SimulatedCluster(seed).With(3 + (seed % 5));
        var alone = cluster.Silos[seed % cluster.Silos.Count];
        cluster.Isolate(alone);

        Assert.True(cluster.RunUntil(cluster.Options.DetectionBound, () => !cluster.TableNow.FindRow(alone.Address)!.IsAlive));
        var evictedAt = cluster.Now;
        Assert.True(cluster.RunUntil(cluster.Options.LeaseDuration, () => !alone.MayRunTurns));
        Assert.True(cluster.Now < evictedAt + cluster.Limits.SilentLease);

        cluster.Heal();
        Assert.True(cluster.RunUntil(5_000, () => alone.Protocol.IsStopped));
        Assert.Contains(alone.Seen, action => action is MembershipAction.StopDead);
    }

    [Fact]
    public void A_table_outage_shorter_than_the_lease_stops_nothing_and_a_longer_one_pauses_turns()
    {
        var cluster = new SimulatedCluster(1).With(3);
        cluster.Silos.ForEach(silo => silo.ReachesTable = false);
        cluster.Run(cluster.Options.LeaseForOwnTurns - cluster.Options.TableRefreshPeriod - 500);
        Assert.All(cluster.Silos, silo => Assert.True(silo.MayRunTurns));

        cluster.Run(5_000);
        Assert.All(cluster.Silos, silo => Assert.False(silo.MayRunTurns));

        cluster.Heal();
        cluster.Run(3_000);
        Assert.All(cluster.Silos, silo => Assert.True(silo.MayRunTurns));
    }

    [Fact]
    public void A_silo_that_cannot_reach_the_table_lives_on_what_its_peers_confirm()
    {
        var cluster = new SimulatedCluster(2).With(3);
        cluster.Silos[0].ReachesTable = false;

        cluster.Run(60_000, () => Assert.True(cluster.Silos[0].MayRunTurns));
    }

    [Fact]
    public void A_restarted_silo_replaces_its_older_generation()
    {
        var cluster = new SimulatedCluster(3).With(3);
        var old = cluster.Silos[1];
        old.LoseHost();
        var reborn = cluster.Start(1);
        cluster.Run(2_000);

        Assert.True(cluster.IsSettled());
        Assert.True(reborn.Protocol.View.IsDead(old.Address));
        Assert.Equal(3, reborn.Protocol.View.ActiveSilos.Length);
    }

    [Fact]
    public void A_graceful_leave_moves_through_shutting_down_and_leaves_no_doubt()
    {
        var cluster = new SimulatedCluster(4).With(3);
        var leaver = cluster.Silos[2];
        leaver.BeginShutdown();
        cluster.Run(500);
        Assert.All(cluster.Silos, silo => Assert.Equal(SiloStatus.ShuttingDown, silo.Protocol.View.StatusOf(leaver.Address)));
        Assert.True(leaver.MayRunTurns);

        leaver.Leave();
        cluster.Run(500);

        Assert.Contains(leaver.Seen, action => action is MembershipAction.Left);
        Assert.DoesNotContain(leaver.Seen, action => action is MembershipAction.StopDead);
        Assert.Equal(DeathCause.Graceful, cluster.TableNow.FindRow(leaver.Address)!.Cause);
        Assert.All(cluster.Running, silo => Assert.True(silo.Protocol.View.IsDead(leaver.Address)));
    }

    [Fact]
    public void Two_of_three_lost_at_once_are_cleared_when_their_heartbeats_stand_still()
    {
        var cluster = new SimulatedCluster(5).With(3);
        cluster.Silos[0].LoseHost();
        cluster.Silos[1].LoseHost();

        Assert.True(cluster.RunUntil(40_000, () => cluster.Silos[2].Protocol.View.ActiveSilos.Length == 1));
    }

    [Fact]
    public void A_vote_is_withdrawn_when_the_suspect_answers_again()
    {
        var cluster = new SimulatedCluster(6, new MembershipOptions { IndirectProbes = false }).With(4);
        cluster.Cut(cluster.Silos[0], cluster.Silos[1]);
        Assert.True(cluster.RunUntil(20_000, () => cluster.TableNow.Rows.Count(row => row.Votes.Length == 1) == 2));

        cluster.Heal();
        cluster.Run(5_000);

        Assert.All(cluster.TableNow.Rows, row => Assert.Empty(row.Votes));
        Assert.All(cluster.Silos, silo => Assert.False(silo.Protocol.IsStopped));
    }

    [Fact]
    public void A_refused_message_of_any_kind_starts_a_probe_but_not_one_each()
    {
        var protocol = new SimulatedCluster(9).With(3).Silos[0].Protocol;
        var other = protocol.Probed.First();
        var later = 1_000_000_000L;

        for (var i = 0; i < 100; i++)
        {
            protocol.OnRefused(other, later + i);
            protocol.OnProbeReply(
                new ProbeReply(protocol.Actions.OfType<MembershipAction.SendProbe>().Last().Probe.Id, other, 0, 0), later + i);
        }

        Assert.Single(protocol.Actions.OfType<MembershipAction.SendProbe>());
    }

    [Fact]
    public void A_broken_link_between_two_silos_makes_neither_suspect()
    {
        var cluster = new SimulatedCluster(7).With(4);
        cluster.Cut(cluster.Silos[0], cluster.Silos[1]);

        cluster.Run(60_000, () => Assert.All(cluster.TableNow.Rows, row => Assert.Empty(row.Votes)));

        Assert.All(cluster.Silos, silo => Assert.True(silo.MayRunTurns));
    }

    [Fact]
    public void The_default_options_detect_a_silent_loss_within_eight_seconds()
    {
        var configured = new Orleans.Configuration.ClusterMembershipOptions();
        var options = MembershipOptions.From(configured, TimeSpan.FromSeconds(30));

        Assert.InRange(options.DetectionBound, 1, 8_000);
        Assert.Equal(1_000, options.ProbePeriod);
        Assert.Equal(5_000, options.TableRefreshPeriod);
    }

    [Fact]
    public void Dead_rows_are_trimmed_when_their_leases_are_long_over()
    {
        var options = new MembershipOptions { LeaseDuration = 2_000, TableRefreshPeriod = 500, MaxDefunctRows = 2 };
        var cluster = new SimulatedCluster(8, options).With(3);
        for (var port = 10; port < 15; port++)
        {
            var guest = cluster.Start(port);
            cluster.Run(1_000);
            guest.EndGracefully();
            cluster.Run(500);
        }

        cluster.Run(15_000);

        Assert.Equal(2, cluster.TableNow.Rows.Count(row => !row.IsAlive));
        Assert.True(cluster.IsSettled());
    }
}
