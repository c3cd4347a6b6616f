using System.Net;
using ActOp.PostgreSql.Membership;
using ActOp.PostgreSql.Schema;
using ActOp.Runtime.Cluster;

namespace ActOp.PostgreSql.Tests;

/// <summary>What every membership table does, whatever holds it.</summary>
public abstract class MembershipTableContract : IAsyncLifetime
{
    private IClusterTable _table = null!;

    [Fact]
    public async Task A_new_table_is_empty_and_has_an_identity()
    {
        var table = await ReadAsync();

        Assert.Equal((0L, 0L, 0), (table.Version, table.View, table.Rows.Length));
        Assert.NotEqual(0, table.TableId);
        Assert.Equal(table.TableId, (await ReadAsync()).TableId);
    }

    [Fact]
    public async Task A_row_comes_back_as_it_was_written()
    {
        var row = Row(1) with
        {
            Gateway = new IPEndPoint(IPAddress.Parse("10.0.0.1"), 30_000),
            Cause = DeathCause.Silent,
            Status = SiloStatus.Dead,
            Votes = [new Vote(Silo(2), 7, true), new Vote(SiloAddress.New(IPAddress.IPv6Loopback, 5, 6), 8, false)],
            Heartbeat = 5,
        };
        await WriteAsync(0, row);

        var read = Assert.Single((await ReadAsync()).Rows);

        Assert.Equal(row with { ChangedAt = 1, Votes = [] }, read with { Votes = [] });
        Assert.Equal(row.Votes, read.Votes);
    }

    [Fact]
    public async Task A_write_against_an_old_version_changes_nothing_and_shows_the_table()
    {
        Assert.True((await WriteAsync(0, Row(1))).Accepted);

        var late = await WriteAsync(0, Row(2));

        Assert.False(late.Accepted);
        Assert.Equal(1, late.Snapshot.Version);
        Assert.Equal(Silo(1), Assert.Single(late.Snapshot.Rows).Silo);
    }

    [Fact]
    public async Task A_write_advances_the_version_and_the_view_only_if_a_status_changed()
    {
        Assert.Equal((1L, 1L), Numbers(await WriteAsync(0, Row(1))));

        var vote = await WriteAsync(1, Row(1) with { Votes = [new Vote(Silo(2), 1, false)] }, changesView: false);

        Assert.Equal((2L, 1L), Numbers(vote));
        Assert.Equal(2, vote.Snapshot.FindRow(Silo(1))!.ChangedAt);
    }

    [Fact]
    public async Task Rows_are_written_and_removed_together()
    {
        await WriteAsync(0, Row(1), Row(2));

        var reply = await _table.Execute(
            new TableRequest(
                4, TableOperation.Write)
            { ExpectedVersion = 1, ChangesView = true, Rows = [Row(1, 2), Row(2)], Removed = [Silo(1)] },
            CancellationToken.None);

        Assert.Equal(4, reply.Id);
        Assert.Equal(
            [Silo(1, 2), Silo(2)], reply.Snapshot.Rows.Select(static row => row.Silo).OrderByDescending(static silo => silo.Generation));
    }

    [Fact]
    public async Task A_heartbeat_advances_the_counter_but_no_version_and_a_write_keeps_it()
    {
        await WriteAsync(0, Row(1));

        var reply = await HeartbeatAsync(1);

        Assert.Equal((1L, 1L), Numbers(reply));
        Assert.Equal(1, reply.Snapshot.FindRow(Silo(1))!.Heartbeat);
        Assert.Equal(1, (await WriteAsync(1, Row(1))).Snapshot.FindRow(Silo(1))!.Heartbeat);
    }

    [Fact]
    public async Task A_heartbeat_of_a_silo_without_a_row_makes_none() => Assert.Empty((await HeartbeatAsync(1)).Snapshot.Rows);

    [Fact]
    public async Task Of_many_writers_of_one_version_one_succeeds_and_heartbeats_are_not_lost()
    {
        await WriteAsync(0, Row(0));
        for (var round = 1; round <= 10; round++)
        {
            var writes = Enumerable.Range(1, 12).Select(writer => Task.Run(() => WriteAsync(round, Row(writer)))).ToArray();
            var beats = Enumerable.Range(0, 4).Select(_ => Task.Run(() => HeartbeatAsync(0))).ToArray();
            var replies = await Task.WhenAll(writes).WaitAsync(PostgresFixture.Limit);
            await Task.WhenAll(beats).WaitAsync(PostgresFixture.Limit);
            Assert.Single(replies, static reply => reply.Accepted);
            Assert.All(replies, reply => Assert.Equal(round + 1, reply.Snapshot.Version));
        }

        var table = await ReadAsync();
        Assert.Equal((11L, 11L), (table.Version, table.View));
        Assert.Equal(40, table.FindRow(Silo(0))!.Heartbeat);
    }

    [Fact]
    public async Task Writers_that_try_again_from_what_they_were_shown_all_get_through()
    {
        await Task.WhenAll(Enumerable.Range(1, 8).Select(silo => Task.Run(async () =>
        {
            for (var version = 0L; ;)
            {
                var reply = await WriteAsync(version, Row(silo));
                if (reply.Accepted)
                    return;
                version = reply.Snapshot.Version;
            }
        }))).WaitAsync(PostgresFixture.Limit);

        var table = await ReadAsync();
        Assert.Equal((8L, 8), (table.Version, table.Rows.Length));
        Assert.Equal(
            Enumerable.Range(1, 8).Select(static version => (long)version), table.Rows.Select(static row => row.ChangedAt).Order());
    }

    public virtual async ValueTask InitializeAsync() => _table = await MakeAsync();

    public virtual ValueTask DisposeAsync()
    {
        GC.SuppressFinalize(this);
        return default;
    }

    internal abstract Task<IClusterTable> MakeAsync();

    internal static SiloAddress Silo(int number, int generation = 1) =>
        SiloAddress.New(IPAddress.Parse("10.0.0." + number), 11_111, generation);

    internal static MembershipRow Row(int number, int generation = 1) =>
        new(Silo(number, generation), "silo \"" + number + "\"", SiloStatus.Active, null);

    private static (long, long) Numbers(TableReply reply) => (reply.Snapshot.Version, reply.Snapshot.View);

    private async Task<TableSnapshot> ReadAsync() =>
        (await _table.Execute(new TableRequest(1, TableOperation.Read), CancellationToken.None)).Snapshot;

    private Task<TableReply> HeartbeatAsync(int silo) =>
        _table.Execute(new TableRequest(2, TableOperation.Heartbeat) { Silo = Silo(silo) }, CancellationToken.None).AsTask();

    private Task<TableReply> WriteAsync(long expected, params MembershipRow[] rows) => WriteAsync(expected, rows, changesView: true);

    private Task<TableReply> WriteAsync(long expected, MembershipRow row, bool changesView) => WriteAsync(expected, [row], changesView);

    private Task<TableReply> WriteAsync(long expected, MembershipRow[] rows, bool changesView) => _table.Execute(
        new TableRequest(3, TableOperation.Write) { ExpectedVersion = expected, ChangesView = changesView, Rows = [.. rows] },
        CancellationToken.None).AsTask();
}

public sealed class InMemoryTableContractTests : MembershipTableContract
{
    internal override Task<IClusterTable> MakeAsync() => Task.FromResult<IClusterTable>(new InMemoryMembershipTable());
}

public sealed class PostgresTableContractTests(PostgresFixture postgres) : MembershipTableContract
{
    private Database? _database;

    internal override async Task<IClusterTable> MakeAsync()
    {
        _database = PostgresFixture.Open(await postgres.CreateAsync());
        return new PostgresMembershipTable(_database, "cluster");
    }

    public override async ValueTask DisposeAsync()
    {
        GC.SuppressFinalize(this);
        if (_database is not null)
            await _database.DisposeAsync();
    }
}
