using ActOp.Cluster.Tests.Simulation;
using ActOp.Mesh;
using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests;

/// <summary>A silo becomes active only after it and the members have reached each other.</summary>
public sealed class NewcomerTests
{
    /// <summary>Old silos, newcomers, and what is wrong with the newcomers.</summary>
    public static TheoryData<int, int, DisconnectReason> Wrong { get; } = Matrix();

    [Theory, MemberData(nameof(Wrong))]
    public void Newcomers_with_wrong_settings_cost_no_old_silo_anything(int old, int newcomers, DisconnectReason reason)
    {
        var cluster = new SimulatedCluster(old + newcomers).With(old);
        var members = cluster.Silos.ToArray();
        var wrong = StartWrong(cluster, newcomers, reason);

        cluster.Run(60_000, () => AssertUnharmed(cluster, members, wrong));

        Assert.All(wrong, silo => Assert.Contains(silo.Seen, action => action is MembershipAction.NotAccepted { Members: var text }
            && text.Contains(DialFailures.Cause(new DialFailure(reason, null)), StringComparison.Ordinal)));
        Assert.All(wrong, silo => Assert.False(cluster.TableNow.FindRow(silo.Address)!.IsAlive));
    }

    [Theory, MemberData(nameof(Wrong))]
    public void Newcomers_that_nobody_answers_do_not_become_active_either(int old, int newcomers, DisconnectReason reason)
    {
        var cluster = new SimulatedCluster(old + newcomers, Brief).With(old);
        var members = cluster.Silos.ToArray();
        var wrong = Enumerable.Range(10, newcomers).Select(port => cluster.Start(port, silo =>
        {
            foreach (var other in members)
            {
                if (reason != DisconnectReason.ConnectRefused)
                {
                    cluster.CutOneWay(other, silo);
                }

                cluster.CutOneWay(silo, other);
            }
        })).ToArray();

        cluster.Run(60_000, () => AssertUnharmed(cluster, members, wrong));

        Assert.All(wrong, silo => Assert.Contains(silo.Seen, action => action is MembershipAction.NotAccepted));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void A_newcomer_waits_for_a_killed_silo_only_until_it_is_declared_dead(int old)
    {
        var cluster = new SimulatedCluster(old).With(old + 1);
        cluster.Silos[0].LoseHost();

        var newcomer = cluster.Start(10);

        Assert.True(cluster.RunUntil(cluster.Options.DetectionBound + 2_000, () =>
            newcomer.Protocol.View.StatusOf(newcomer.Address) == SiloStatus.Active));
    }

    [Theory]
    [InlineData(1, true)]
    [InlineData(1, false)]
    [InlineData(3, true)]
    [InlineData(3, false)]
    public void A_cluster_that_was_killed_whole_starts_again_at_other_addresses(int silos, bool refuses)
    {
        var cluster = new SimulatedCluster(silos).With(silos);
        foreach (var silo in cluster.Silos)
        {
            if (refuses)
            {
                silo.Kill();
            }
            else
            {
                silo.LoseHost();
            }
        }

        cluster.Run(1_000);
        for (var port = 10; port < 10 + silos; port++)
        {
            cluster.Start(port);
        }

        Assert.True(cluster.RunUntil(cluster.Options.StaleTime + (3 * cluster.Options.DetectionBound), () =>
            cluster.Running.All(silo => silo.Protocol.View.ActiveSilos.Length == silos) && cluster.IsSettled()));
    }

    [Fact]
    public void A_cluster_that_was_killed_whole_starts_at_once_at_its_addresses()
    {
        var cluster = new SimulatedCluster(4).With(3);
        cluster.Silos.ForEach(silo => silo.Kill());
        cluster.Run(100);
        for (var port = 0; port < 3; port++)
        {
            cluster.Start(port);
        }

        Assert.True(cluster.RunUntil(3_000, () => cluster.Running.Count() == 3
            && cluster.Running.All(silo => silo.Protocol.View.ActiveSilos.Length == 3)));
    }

    [Fact]
    public void A_newcomer_joins_when_two_of_three_are_lost_because_the_third_says_so()
    {
        var cluster = new SimulatedCluster(5).With(3);
        cluster.Silos[0].LoseHost();
        cluster.Silos[1].LoseHost();

        var newcomer = cluster.Start(10);

        // Long before the signs of life of the lost ones are stale, and its vote makes them dead.
        Assert.True(cluster.RunUntil(2 * cluster.Options.DetectionBound, () => newcomer.Protocol.View.ActiveSilos.Length == 2));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Of_two_that_start_together_and_do_not_reach_each_other_the_first_becomes_active_and_the_other_ends(bool bothWays)
    {
        var cluster = new SimulatedCluster(6);
        var silos = new[]
        {
            cluster.Start(0, silo => silo.RefusedBy = bothWays ? DisconnectReason.NotAuthenticated : null),
            cluster.Start(1, silo => silo.RefusedBy = DisconnectReason.NotAuthenticated),
        };

        cluster.Run(30_000);

        var first = Assert.Single(
            silos, silo => !silo.Protocol.IsStopped && silo.Protocol.View.StatusOf(silo.Address) == SiloStatus.Active);
        Assert.Contains(silos.Single(silo => silo != first).Seen, action => action is MembershipAction.NotAccepted);
        Assert.DoesNotContain(first.Seen, action => action is MembershipAction.NotAccepted);
        Assert.DoesNotContain(silos, silo => silo.Seen.Any(action => action is MembershipAction.StopDead));
    }

    [Fact]
    public void A_trouble_that_passes_delays_a_start_and_does_not_fail_it()
    {
        var cluster = new SimulatedCluster(7).With(2);
        var newcomer = cluster.Start(10, silo => silo.NotReachable = DisconnectReason.HandshakeTimeout);
        cluster.Run(10_000, () => Assert.Equal(SiloStatus.Joining, newcomer.Protocol.View.StatusOf(newcomer.Address)));

        newcomer.NotReachable = DisconnectReason.None;

        Assert.True(cluster.RunUntil(2_000, () => newcomer.Protocol.View.StatusOf(newcomer.Address) == SiloStatus.Active));
    }

    [Fact]
    public void A_silo_that_hears_nobody_has_no_vote_even_if_one_vote_is_enough()
    {
        var cluster = new SimulatedCluster(8, Brief with { VotesForDeath = 1, StretchTimeouts = false }).With(4);
        var deaf = cluster.Silos[0];
        foreach (var other in cluster.Silos.Skip(1))
        {
            cluster.Cut(deaf, other);
        }

        cluster.Run(20_000);

        Assert.True(deaf.Protocol.IsStopped);
        Assert.All(cluster.Silos.Skip(1), silo => Assert.False(silo.Protocol.IsStopped));
    }

    [Fact]
    public void An_outage_of_the_table_makes_no_sign_of_life_stale()
    {
        var cluster = new SimulatedCluster(9, Brief).With(2);
        cluster.Silos.ForEach(silo => silo.ReachesTable = false);
        cluster.Run(5 * cluster.Options.StaleTime);
        cluster.Silos.ForEach(silo => silo.ReachesTable = true);

        cluster.Run(10_000, () => Assert.All(cluster.Silos, silo => Assert.All(
            cluster.Silos, other => Assert.True(silo.Protocol.StillFor(other.Address) < cluster.Options.StaleTime))));
    }

    private static MembershipOptions Brief => new() { LeaseDuration = 10_000, TableRefreshPeriod = 1_500, MaxJoinTime = 20_000 };

    private static SimulatedSilo[] StartWrong(SimulatedCluster cluster, int newcomers, DisconnectReason reason) =>
    [
        .. Enumerable.Range(10, newcomers).Select(port => cluster.Start(port, silo =>
        {
            if (reason is DisconnectReason.ConnectRefused)
            {
                silo.NotReachable = reason;
            }
            else
            {
                silo.RefusedBy = reason;
            }
        })),
    ];

    private static void AssertUnharmed(SimulatedCluster cluster, SimulatedSilo[] members, SimulatedSilo[] wrong)
    {
        Assert.All(members, silo => Assert.True(silo.MayRunTurns));
        Assert.All(members, silo => Assert.Equal(members.Length, silo.Protocol.View.ActiveSilos.Length));
        Assert.All(wrong, silo => Assert.False(cluster.TableNow.FindRow(silo.Address) is { } row && Member.MayHostIn(row.Status)));
        Assert.All(cluster.TableNow.Rows, row => Assert.Empty(row.Votes));
    }

    private static TheoryData<int, int, DisconnectReason> Matrix()
    {
        var matrix = new TheoryData<int, int, DisconnectReason>();
        foreach (var old in new[] { 1, 2, 4 })
        {
            foreach (var newcomers in new[] { 1, 2, 4 })
            {
                matrix.Add(old, newcomers, DisconnectReason.NotAuthenticated);
                matrix.Add(old, newcomers, DisconnectReason.TlsFailed);
                matrix.Add(old, newcomers, DisconnectReason.WrongCluster);
                matrix.Add(old, newcomers, DisconnectReason.ConnectRefused);
            }
        }

        return matrix;
    }
}
