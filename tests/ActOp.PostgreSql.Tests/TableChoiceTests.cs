using ActOp.PostgreSql.Configuration;
using ActOp.PostgreSql.Reminders;
using ActOp.PostgreSql.Schema;
using ActOp.PostgreSql.Storage;
using Npgsql;
using Orleans.Storage;

namespace ActOp.PostgreSql.Tests;

/// <summary>Whose tables are used, what is refused at the start, and reminders in those of Orleans.</summary>
public sealed class TableChoiceTests(PostgresFixture postgres)
{
    [Fact]
    public async Task The_tables_of_Orleans_are_used_if_they_are_there_and_nothing_else_is_made()
    {
        var connectionString = await postgres.CreateAsync();
        Assert.False(await IsOrleansAsync(connectionString));
        await SqlAsync(connectionString, OrleansScript.Text);
        // The tables of ActOp that the first look has made are empty.
        Assert.True(await IsOrleansAsync(connectionString));
        Assert.False(await IsOrleansAsync(connectionString, PostgresTables.ActOp));

        var other = await postgres.CreateAsync();
        await SqlAsync(other, OrleansScript.Text);
        Assert.True(await IsOrleansAsync(other));
        await using var source = NpgsqlDataSource.Create(other);
        await using var command = source.CreateCommand("select count(*) from pg_tables where tablename like 'actop%'");
        Assert.Equal(0L, await command.ExecuteScalarAsync(TestContext.Current.CancellationToken));
    }

    [Fact]
    public async Task Rows_of_the_service_in_the_tables_of_ActOp_decide_for_them_and_rows_in_both_are_refused()
    {
        var connectionString = await postgres.CreateAsync();
        Assert.False(await IsOrleansAsync(connectionString));
        await SqlAsync(connectionString, OrleansScript.Text
            + "insert into actop_state values ('service', 's', 'g', 1, null);"
            + "insert into OrleansStorage values (1, 0, 0, 1, 's', 'g', 'others', null, now(), 1);");
        Assert.False(await IsOrleansAsync(connectionString));
        await SqlAsync(connectionString, "insert into OrleansStorage values (1, 0, 0, 1, 's', 'g', 'service', null, now(), 1)");

        var refused = await Assert.ThrowsAsync<OrleansConfigurationException>(() => IsOrleansAsync(connectionString));
        Assert.Contains("Both OrleansStorage and actop_state have rows of the service service. Set PostgresOptions.Tables", refused.Message,
            StringComparison.Ordinal);
        Assert.True(await IsOrleansAsync(connectionString, PostgresTables.Orleans));
        Assert.False(await IsOrleansAsync(connectionString, PostgresTables.ActOp));
    }

    [Theory]
    [InlineData("drop table OrleansStorage", "no table OrleansStorage")]
    [InlineData("drop table OrleansQuery", "no table OrleansQuery")]
    [InlineData("delete from OrleansQuery where QueryKey in ('ReadFromStorageKey', 'WriteToStorageKey')",
        "OrleansQuery has no ReadFromStorageKey, no WriteToStorageKey")]
    [InlineData("update OrleansQuery set QueryText = 'select @PayloadJson, @PayloadXml' where QueryKey = 'WriteToStorageKey'",
        "asks for PayloadJson, PayloadXml")]
    [InlineData("update OrleansQuery set QueryText = 'select 1 as NewVersion' where QueryKey = 'WriteToStorageKey'",
        "does not return NewGrainStateVersion")]
    [InlineData("update OrleansQuery set QueryText = 'update OrleansStorage set Version = 1' where QueryKey = 'ClearStorageKey'",
        "does not return anything")]
    [InlineData("drop function WriteToStorage", "PostgreSQL refuses the query WriteToStorageKey")]
    [InlineData("alter table OrleansStorage drop column PayloadBinary", "PostgreSQL refuses the query ReadFromStorageKey")]
    public async Task Tables_of_Orleans_that_are_not_whole_are_refused_and_named(string damage, string reason)
    {
        var connectionString = await postgres.CreateAsync();
        await SqlAsync(connectionString, OrleansScript.Text + damage);
        var refused = await Assert.ThrowsAsync<OrleansConfigurationException>(
            () => IsOrleansAsync(connectionString, PostgresTables.Orleans));
        Assert.Contains(reason, refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_clear_that_removes_needs_its_query()
    {
        var connectionString = await postgres.CreateAsync();
        await SqlAsync(connectionString, OrleansScript.Text + "delete from OrleansQuery where QueryKey = 'DeleteStorageKey'");
        Assert.True(await IsOrleansAsync(connectionString));
        var refused = await Assert.ThrowsAsync<OrleansConfigurationException>(
            () => IsOrleansAsync(connectionString, pair: OrleansStatements.Tables(deletes: true)));
        Assert.Contains("no DeleteStorageKey", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_silo_does_not_start_with_the_usual_serializer_on_the_tables_of_Orleans()
    {
        var connectionString = await postgres.CreateAsync();
        await SqlAsync(connectionString, OrleansScript.Text);
        await using var nodes = new Nodes(connectionString);
        var refused = await Assert.ThrowsAsync<OrleansConfigurationException>(() => StartAsync(null!));
        Assert.Contains("UseOrleansJsonGrainStorageSerializer", refused.Message, StringComparison.Ordinal);

        await StartAsync(new Json());

        Task<IHost> StartAsync(IGrainStorageSerializer serializer) => nodes.StartSiloAsync(silo =>
            silo.AddAdoNetGrainStorage("counts", options =>
            {
                options.Invariant = "Npgsql";
                options.ConnectionString = connectionString;
                options.GrainStorageSerializer = serializer;
            }));
    }

    [Fact]
    public async Task The_configuration_chooses_the_tables_and_a_word_that_is_none_is_refused()
    {
        var connectionString = await postgres.CreateAsync();
        await SqlAsync(connectionString, OrleansScript.Text);
        await using var nodes = new Nodes(connectionString);
        // With the tables of ActOp, the usual serializer is right.
        await StartAsync("actop");
        var refused = await Assert.ThrowsAsync<OrleansConfigurationException>(() => StartAsync("mine"));
        Assert.Contains("GrainStorage:counts:Tables is mine, but must be Automatic or ActOp or Orleans", refused.Message,
            StringComparison.Ordinal);

        Task<IHost> StartAsync(string tables)
        {
            var ports = Harness.Processes.Ports.FindFree(2);
            return nodes.StartAsync(
                static builder => builder.UseOrleans(), ("Endpoints:AdvertisedIPAddress", "127.0.0.1"),
                ("Endpoints:SiloPort", $"{ports[0]}"), ("Endpoints:GatewayPort", $"{ports[1]}"), ("Clustering:ProviderType", "Development"),
                ("GrainStorage:counts:ProviderType", "AdoNet"), ("GrainStorage:counts:ConnectionString", connectionString),
                ("GrainStorage:counts:Tables", tables));
        }
    }

    [Fact]
    public async Task Reminders_are_in_the_table_of_Orleans_with_its_hash_and_milliseconds()
    {
        var connectionString = await postgres.CreateAsync();
        await SqlAsync(connectionString, OrleansScript.Text);
        await using var table = new PostgresReminderTable(OrleansScript.Open(connectionString, OrleansReminders.Tables), "service", 1);
        await table.StartAsync(TestContext.Current.CancellationToken);
        Assert.False(table.FindsSlots);
        var start = new DateTime(2026, 11, 27, 1, 2, 3, 456, DateTimeKind.Utc);
        var grains = Enumerable.Range(0, 40).Select(static key => GrainId.Create("t", "key " + key)).ToArray();
        foreach (var grain in grains)
        {
            var entry = new ReminderEntry
            {
                GrainId = grain,
                ReminderName = "a",
                StartAt = start.AddTicks(7),
                Period = TimeSpan.FromTicks(90_000_012_345),
            };
            Assert.Equal("0", await table.UpsertRow(entry));
            Assert.Equal("1", await table.UpsertRow(entry));
        }

        var read = (await table.ReadRow(grains[3], "a"))!;
        Assert.Equal((grains[3], "a", start, DateTimeKind.Utc, TimeSpan.FromMilliseconds(9_000_001), "1"),
            (read.GrainId, read.ReminderName, read.StartAt, read.StartAt.Kind, read.Period, read.ETag));
        Assert.Null(await table.ReadRow(grains[3], "b"));
        Assert.Single((await table.ReadRows(grains[3])).Reminders);

        // Ranges of unsigned numbers, around the ends of the signed ones of the table, too.
        uint[] cuts = [0x2000_0000, 0x7FFF_FFF0, 0x9000_0000, 0xF000_0000];
        List<ReminderEntry> parts = [];
        for (var at = 0; at < cuts.Length; at++)
        {
            var (begin, end) = (cuts[at], cuts[(at + 1) % cuts.Length]);
            var part = (await table.ReadRows(begin, end)).Reminders;
            Assert.All(part, entry =>
            {
                var hash = OrleansReminders.HashOf(entry.GrainId);
                Assert.True(begin < end ? hash > begin && hash <= end : hash > begin || hash <= end);
            });
            parts.AddRange(part);
        }

        Assert.Equal(grains.ToHashSet(), parts.Select(static entry => entry.GrainId).ToHashSet());
        Assert.Equal((40, 40), (parts.Count, (await table.ReadRows(0, 0)).Reminders.Count));

        Assert.False(await table.RemoveRow(grains[3], "a", "0"));
        Assert.False(await table.RemoveRow(grains[3], "a", "9000000000000000001"));
        Assert.True(await table.RemoveRow(grains[3], "a", "1"));
        await table.TestOnlyClearTable();
        Assert.Empty((await table.ReadRows(0, 0)).Reminders);
    }

    [Fact]
    public async Task A_reminder_whose_grain_cannot_be_read_has_none_and_does_not_fail_the_others()
    {
        var connectionString = await postgres.CreateAsync();
        await SqlAsync(connectionString, OrleansScript.Text + """
            insert into OrleansRemindersTable values
              ('service', 'no slash', 'a', now(), 1000, 5, 0), ('service', 't/k', 'a', now(), 1000, 6, 0);
            """);
        await using var table = new PostgresReminderTable(OrleansScript.Open(connectionString, OrleansReminders.Tables), "service", 1);
        var grains = (await table.ReadRows(0, 0)).Reminders.Select(static entry => entry.GrainId).ToHashSet();
        Assert.Equal([default, GrainId.Create("t", "k")], grains);
    }

    private static async Task<bool> IsOrleansAsync(
        string connectionString, PostgresTables wanted = PostgresTables.Automatic, TablePair? pair = null)
    {
        await using var database = OrleansScript.Open(connectionString, pair ?? OrleansStatements.Tables(deletes: false), wanted);
        await using var connection = await database.OpenAsync(TestContext.Current.CancellationToken);
        return database.Tables!.Queries is not null;
    }

    private static async Task SqlAsync(string connectionString, string sql)
    {
        await using var source = NpgsqlDataSource.Create(connectionString);
        await using var command = source.CreateCommand(sql);
        await command.ExecuteNonQueryAsync();
    }
}
