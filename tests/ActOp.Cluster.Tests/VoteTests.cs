using ActOp.Cluster.Tests.Simulation;
using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests;

/// <summary>Whose word counts when a silo is suspected. One silo of five; the messages of the others are made by the test.</summary>
public sealed class VoteTests
{
    private readonly SimulatedCluster _cluster = new SimulatedCluster(4).With(5);

    private MembershipProtocol Protocol => _cluster.Silos[0].Protocol;

    [Fact]
    public void The_vote_of_a_dead_silo_does_not_count()
    {
        var (suspect, voter) = (_cluster.Silos[1].Address, _cluster.Silos[2].Address);
        Learn(table => table with
        {
            View = table.View + 1,
            Rows = [.. table.Rows.Select(row => row.Silo.Equals(voter) ? row.AsDead(DeathCause.Silent)
                : row.Silo.Equals(suspect) ? row with { Votes = [new Vote(voter, table.View, false)] } : row)],
        });

        var row = Suspect(suspect, health: 0)!;

        Assert.True(row.IsAlive);
        Assert.Equal([_cluster.Silos[0].Address], row.Votes.Select(vote => vote.Voter));
    }

    [Fact]
    public void The_vote_of_a_living_silo_counts()
    {
        var (suspect, voter) = (_cluster.Silos[1].Address, _cluster.Silos[2].Address);
        Learn(table => table with
        {
            Rows = [.. table.Rows.Select(row =>
                row.Silo.Equals(suspect) ? row with { Votes = [new Vote(voter, table.View, false)] } : row)],
        });

        Assert.False(Suspect(suspect, health: 0)!.IsAlive);
    }

    [Theory]
    [InlineData(0, true)]
    [InlineData(3, true)]
    [InlineData(4, false)]
    [InlineData(8, false)]
    public void A_silo_in_poor_health_does_not_testify_against_another(int health, bool counts) =>
        Assert.Equal(counts, Suspect(_cluster.Silos[1].Address, health) is not null);

    private void Learn(Func<TableSnapshot, TableSnapshot> change)
    {
        var table = Protocol.Table;
        Protocol.OnGossip(change(table) with { Version = table.Version + 1 }, _cluster.Now);
    }

    /// <summary>
    /// A probe is refused, and another silo of this health says that its probe was, too. Returns the row of the suspect that is written.
    /// </summary>
    private MembershipRow? Suspect(SiloAddress suspect, int health)
    {
        Protocol.Actions.Clear();
        Protocol.OnLinkLost(suspect, _cluster.Now);
        Protocol.OnRefused(suspect, _cluster.Now);
        var asked = Protocol.Actions.OfType<MembershipAction.SendIndirectProbe>().Single();
        Protocol.Actions.Clear();
        Protocol.OnIndirectProbeReply(new IndirectProbeReply(asked.Probe.Id, asked.To, suspect, false, true, health), _cluster.Now);
        return Protocol.Actions.OfType<MembershipAction.UseTable>().SelectMany(action => action.Request.Rows)
            .SingleOrDefault(row => row.Silo.Equals(suspect));
    }
}
