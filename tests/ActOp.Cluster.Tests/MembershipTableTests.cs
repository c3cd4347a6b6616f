using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests;

public sealed class MembershipTableTests
{
    private readonly InMemoryMembershipTable _table = new();

    [Fact]
    public void A_write_against_an_old_version_changes_nothing_and_shows_the_table()
    {
        Assert.True(Write(0, Row(1)).Accepted);

        var late = Write(0, Row(2));

        Assert.False(late.Accepted);
        Assert.Equal(Views.Silo(1), Assert.Single(late.Snapshot.Rows).Silo);
    }

    /// <summary>
    /// A silo that joins, or has heard of something newer, must not wait for the next read of its period, which may be a minute away.
    /// </summary>
    [Fact]
    public void A_read_that_failed_is_repeated_soon()
    {
        var options = new MembershipOptions { TableRefreshPeriod = 60_000 };
        var protocol = new MembershipProtocol(Views.Silo(1), "one", null, options);
        protocol.Join(1_000);
        protocol.OnTableFailed(Assert.IsType<MembershipAction.UseTable>(Assert.Single(protocol.Actions)).Request.Id, 2_000);
        protocol.Actions.Clear();

        protocol.Tick(2_000 + options.ProbePeriod);

        Assert.IsType<MembershipAction.UseTable>(Assert.Single(protocol.Actions));
    }

    [Fact]
    public void A_silo_whose_table_was_replaced_stops_on_the_word_of_its_holder_and_not_on_hearsay()
    {
        var protocol = new MembershipProtocol(Views.Silo(1), "one", null, new MembershipOptions());
        protocol.Join(1_000);
        for (var step = 0; step < 2; step++)
        {
            var request = protocol.Actions.OfType<MembershipAction.UseTable>().Last().Request;
            protocol.Actions.Clear();
            protocol.OnTableReply(_table.Apply(request), 1_000);
        }

        var other = new InMemoryMembershipTable(id: 2).Apply(new TableRequest(9, TableOperation.Read)).Snapshot;
        protocol.Actions.Clear();
        protocol.OnGossip(other with { Version = 100, View = 100 }, 2_000);
        Assert.Empty(protocol.Actions);
        Assert.False(protocol.IsStopped);

        protocol.Refresh(3_000);
        var asked = protocol.Actions.OfType<MembershipAction.UseTable>().Last().Request;
        protocol.OnTableReply(new TableReply(asked.Id, true, other), 3_000);
        Assert.Contains(protocol.Actions, action => action is MembershipAction.StopDead);
        Assert.True(protocol.IsStopped);
    }

    [Fact]
    public void A_heartbeat_advances_the_counter_but_no_version()
    {
        Write(0, Row(1));

        var reply = _table.Apply(new TableRequest(2, TableOperation.Heartbeat) { Silo = Views.Silo(1) });

        Assert.Equal(1, reply.Snapshot.Version);
        Assert.Equal(1, reply.Snapshot.FindRow(Views.Silo(1))!.Heartbeat);
        Assert.Equal(1, Write(1, Row(1)).Snapshot.FindRow(Views.Silo(1))!.Heartbeat);
    }

    [Fact]
    public void A_vote_changes_the_version_but_not_the_view()
    {
        Write(0, Row(1));

        var reply = _table.Apply(new TableRequest(
            2, TableOperation.Write)
        { ExpectedVersion = 1, Rows = [Row(1) with { Votes = [new Vote(Views.Silo(2), 1, false)] }] });

        Assert.Equal((2L, 1L), (reply.Snapshot.Version, reply.Snapshot.View));
    }

    [Fact]
    public void A_view_shows_only_the_newest_generation_of_an_endpoint_alive()
    {
        var view = new View(1, [Views.Active(1), new Member(Views.Silo(1, 2), "1", SiloStatus.Active, null, DeathCause.None)]);

        Assert.Equal([Views.Silo(1, 2)], view.ActiveSilos.ToArray());
        Assert.True(view.IsDead(Views.Silo(1)));
        Assert.True(view.IsDead(Views.Silo(1, 0)));
        Assert.False(view.IsDead(Views.Silo(1, 3)));
    }

    [Fact]
    public void The_difference_of_two_views_names_who_came_left_and_died()
    {
        var change =
            new View(2, [Views.Active(1) with { Status = SiloStatus.ShuttingDown }, Views.Dead(2, DeathCause.Refused),
                Views.Active(4)]).Since(Views.Of(1, 1, 2, 3));

        Assert.Equal([Views.Silo(4)], change.Joined.ToArray());
        Assert.Equal([Views.Silo(1), Views.Silo(2), Views.Silo(3)], change.Left.ToArray());
        Assert.Equal([DeathCause.Refused, DeathCause.Silent], change.Died.Select(dead => dead.Cause));
    }

    private static MembershipRow Row(int n) => new(Views.Silo(n), $"silo-{n}", SiloStatus.Active, null);

    private TableReply Write(long expected, MembershipRow row) =>
        _table.Apply(new TableRequest(1, TableOperation.Write) { ExpectedVersion = expected, ChangesView = true, Rows = [row] });
}
