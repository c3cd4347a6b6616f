using ActOp.PostgreSql.Membership;
using ActOp.PostgreSql.Schema;
using ActOp.Runtime.Cluster;
using Npgsql;

namespace ActOp.PostgreSql.Tests;

/// <summary>The tables, made by whoever comes first, and connections that are lost.</summary>
public sealed class DatabaseTests(PostgresFixture postgres)
{
    [Fact]
    public async Task Nodes_that_start_at_the_same_time_make_the_tables_once()
    {
        var connectionString = await postgres.CreateAsync();
        Database[] databases = [.. Enumerable.Range(0, 16).Select(_ => PostgresFixture.Open(connectionString, connections: 2))];

        await Task.WhenAll(databases.Select(static database => Task.Run(async () =>
        {
            await using var connection = await database.OpenAsync(CancellationToken.None);
        }))).WaitAsync(PostgresFixture.Limit);

        Assert.Equal((long)Database.SchemaVersion, await ScalarAsync(connectionString, "select count(*) from actop_schema"));
        foreach (var database in databases)
            await database.DisposeAsync();
    }

    /// <summary>As with a database that is slow: a silo that starts then must not take it for one that refuses it.</summary>
    [Fact]
    public async Task Tables_that_cannot_be_made_in_time_are_a_database_that_cannot_be_reached()
    {
        await using var held = await HeldSchema.HoldAsync(await postgres.CreateAsync());
        await using var database = PostgresFixture.Open(held.ConnectionString, connections: 2);
        using var limit = new CancellationTokenSource();
        var opening = database.OpenAsync(limit.Token).AsTask();
        await held.WaiterAsync();

        await limit.CancelAsync();

        await Assert.ThrowsAsync<IOException>(() => opening.WaitAsync(PostgresFixture.Limit));
    }

    [Fact]
    public async Task A_connection_that_is_lost_while_the_tables_are_made_is_opened_again()
    {
        await using var held = await HeldSchema.HoldAsync(await postgres.CreateAsync());
        await using var database = PostgresFixture.Open(held.ConnectionString, connections: 2);
        var opening = database.OpenAsync(CancellationToken.None).AsTask();

        await ScalarAsync(held.ConnectionString, "select pg_terminate_backend(" + await held.WaiterAsync() + ")");
        await held.DisposeAsync();

        await using var connection = await opening.WaitAsync(PostgresFixture.Limit);
        Assert.Equal(Database.SchemaVersion, await ScalarAsync(held.ConnectionString, "select max(version) from actop_schema"));
    }

    [Fact]
    public async Task The_script_may_run_again()
    {
        var connectionString = await postgres.CreateAsync();

        await ScalarAsync(connectionString, Database.Script);
        await ScalarAsync(connectionString, Database.Script);

        Assert.Equal(Database.SchemaVersion, await ScalarAsync(connectionString, "select max(version) from actop_schema"));
    }

    [Fact]
    public async Task A_role_that_may_not_create_tables_is_told_what_to_run_and_works_when_it_was_run()
    {
        var owner = await postgres.CreateAsync();
        await ScalarAsync(owner, "drop role if exists app");
        await ScalarAsync(owner, "create role app login");
        await using var database = PostgresFixture.Open(new NpgsqlConnectionStringBuilder(owner) { Username = "app" }.ConnectionString);

        var refused = await Assert.ThrowsAsync<OrleansConfigurationException>(async () => await database.OpenAsync(CancellationToken.None));
        Assert.Contains("actop.sql", refused.Message, StringComparison.Ordinal);

        await ScalarAsync(owner, Database.Script);
        await ScalarAsync(owner, "grant select, insert, update, delete on all tables in schema public to app");
        var table = new PostgresMembershipTable(database, "cluster");
        Assert.True((await table.Execute(
            new TableRequest(1, TableOperation.Write) { Rows = [MembershipTableContract.Row(1)] }, CancellationToken.None)).Accepted);
        await ScalarAsync(owner, "drop owned by app");
        await ScalarAsync(owner, "drop role app");
    }

    [Fact]
    public async Task A_wrong_name_fails_at_once_and_does_not_wait_for_the_database()
    {
        await using var database = PostgresFixture.Open(
            new NpgsqlConnectionStringBuilder(postgres.Server.ConnectionString) { Database = "absent" }.ConnectionString);

        var refused = await Assert.ThrowsAsync<PostgresException>(async () => await database.OpenAsync(CancellationToken.None));

        Assert.Equal(PostgresErrorCodes.InvalidCatalogName, refused.SqlState);
    }

    [Theory]
    [InlineData("Microsoft.Data.SqlClient", "Host=x", "Invariant")]
    [InlineData("", "Host=x", "Invariant")]
    [InlineData("Npgsql", "", "ConnectionString")]
    [InlineData("Npgsql", "Password=hush;Nonsense=1", "ConnectionString")]
    public void A_wrong_option_is_named_and_no_password_with_it(string invariant, string connectionString, string option)
    {
        var refused = Assert.Throws<OrleansConfigurationException>(
            () => new DatabaseChoice("Clustering", "TheOptions", connectionString, null, invariant).Validate());

        Assert.Contains("TheOptions." + option, refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("hush", refused.ToString(), StringComparison.Ordinal);
    }

    /// <summary>Reads and heartbeats wait for the database; connections that were open when it was killed are not used again.</summary>
    [Fact]
    public async Task A_table_whose_database_is_killed_answers_when_it_is_back()
    {
        Assert.NotNull(postgres.Server);
        await using var server = await PostgresFixture.StartServerAsync();
        await using var database = PostgresFixture.Open(server.ConnectionString);
        var table = new PostgresMembershipTable(database, "cluster");
        var before = await table.Execute(
            new TableRequest(1, TableOperation.Write) { Rows = [MembershipTableContract.Row(1)] }, CancellationToken.None);

        await server.KillAsync();
        var waiting =
            table.Execute(new TableRequest(2, TableOperation.Heartbeat) { Silo = MembershipTableContract.Silo(1) }, CancellationToken.None);
        using var soon = new CancellationTokenSource(TimeSpan.FromMilliseconds(200));
        await Assert.ThrowsAnyAsync<Exception>(async () => await table.Execute(new TableRequest(3, TableOperation.Read), soon.Token));
        await server.StartAgainAsync();

        var after = await waiting.AsTask().WaitAsync(PostgresFixture.Limit);
        Assert.Equal(before.Snapshot.TableId, after.Snapshot.TableId);
        Assert.Equal(1, Assert.Single(after.Snapshot.Rows).Heartbeat);
    }

    private static async Task<object?> ScalarAsync(string connectionString, string sql)
    {
        await using var source = NpgsqlDataSource.Create(connectionString);
        await using var command = source.CreateCommand(sql);
        return await command.ExecuteScalarAsync();
    }
}

/// <summary>Has the lock of the script, so that whoever makes the tables waits.</summary>
internal sealed class HeldSchema : IAsyncDisposable
{
    private readonly NpgsqlConnection _connection;

    private HeldSchema(NpgsqlConnection connection) => _connection = connection;

    internal string ConnectionString { get; private init; } = "";

    internal static async Task<HeldSchema> HoldAsync(string connectionString)
    {
        var connection = new NpgsqlConnection(connectionString + ";Pooling=false");
        await connection.OpenAsync();
        await using var hold = new NpgsqlCommand("select pg_advisory_lock(280967958640)", connection);
        await hold.ExecuteNonQueryAsync();
        return new HeldSchema(connection) { ConnectionString = connectionString };
    }

    /// <summary>The process of the server that waits for the lock.</summary>
    internal async Task<int> WaiterAsync()
    {
        using var limit = new CancellationTokenSource(PostgresFixture.Limit);
        while (true)
        {
            await using var find = new NpgsqlCommand(
                "select max(pid) from pg_locks where locktype = 'advisory' and not granted "
                + "and database = (select oid from pg_database where datname = current_database())", _connection);
            if (await find.ExecuteScalarAsync(limit.Token) is int waiter)
                return waiter;
        }
    }

    public ValueTask DisposeAsync() => _connection.DisposeAsync();
}
