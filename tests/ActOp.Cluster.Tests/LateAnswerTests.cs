using ActOp.Cluster.Tests.Simulation;
using ActOp.Runtime.Cluster;

namespace ActOp.Cluster.Tests;

/// <summary>What a silo concludes from answers that come late, and from bytes that come instead.</summary>
public sealed class LateAnswerTests
{
    private const long Begin = 1_000_000_000;

    [Fact]
    public void An_answer_after_a_pause_renews_the_lease_only_from_when_the_probe_was_sent()
    {
        var protocol = Quiet(out var probe);

        // As after SIGSTOP: the tick comes first, then the answer that has waited.
        protocol.Tick(Begin + 26_500);
        protocol.OnProbeReply(new ProbeReply(probe.Id, protocol.Probed.First(), protocol.Table.Version, 0), Begin + 26_500);

        Assert.Equal(Begin + 9_000, protocol.LeaseDeadline);
    }

    [Fact]
    public void A_pause_of_this_silo_is_no_missed_probe_of_another()
    {
        var protocol = Quiet(out _);

        protocol.Tick(Begin + 26_500);

        Assert.DoesNotContain(protocol.Actions, action => action is MembershipAction.SendIndirectProbe);
        Assert.Equal(0, protocol.MissedBy(protocol.Probed.First()));
    }

    [Fact]
    public void A_silo_that_sends_anything_is_waited_for_longer_but_not_for_ever()
    {
        var protocol = Quiet(out _);
        var other = protocol.Probed.First();

        for (var now = Begin; now < Begin + 20_000; now += 200)
        {
            protocol.OnBytes(other, now);
            protocol.Tick(now);
            if (now < Begin + 3_800)
            {
                Assert.Equal(0, protocol.MissedBy(other));
            }
        }

        Assert.NotEqual(0, protocol.MissedBy(other));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void A_silo_that_talks_but_hears_nobody_is_declared_dead(int seed)
    {
        var cluster = new SimulatedCluster(seed).With(2 + seed);
        var deaf = cluster.Silos[0];
        foreach (var other in cluster.Silos.Skip(1))
        {
            cluster.CutOneWay(other, deaf);
        }

        Assert.True(cluster.RunUntil(3 * cluster.Options.DetectionBound, () => deaf.Protocol.IsStopped));
        Assert.All(cluster.Silos.Skip(1), silo => Assert.False(silo.Protocol.IsStopped));
    }

    [Fact]
    public void A_suspect_that_hears_of_votes_against_it_probes_the_voters_and_is_probed_at_once()
    {
        var cluster = new SimulatedCluster(2).With(3);
        var suspect = cluster.Silos[0].Protocol;
        var voter = cluster.Silos[1];
        suspect.Actions.Clear();
        var row = suspect.Table.FindRow(cluster.Silos[0].Address)!;
        var rows = suspect.Table.Rows.Replace(row, row with { Votes = [new Vote(voter.Address, 1, false)] });

        suspect.OnGossip(suspect.Table with { Version = suspect.Table.Version + 1, Rows = rows }, Begin);

        Assert.Contains(suspect.Actions, action => action is MembershipAction.SendProbe { To: var to } && to.Equals(voter.Address));
    }

    /// <summary>The protocol of one of two silos, which has just sent a probe.</summary>
    private static MembershipProtocol Quiet(out Probe probe)
    {
        var protocol = new SimulatedCluster(1).With(2).Silos[0].Protocol;
        protocol.Tick(Begin);
        protocol.Actions.Clear();
        protocol.OnLinkLost(protocol.Probed.First(), Begin);
        probe = protocol.Actions.OfType<MembershipAction.SendProbe>().First().Probe;
        return protocol;
    }
}
