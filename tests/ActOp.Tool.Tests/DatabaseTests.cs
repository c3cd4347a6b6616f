using System.Text.Json;
using ActOp.Harness.Processes;
using Npgsql;

namespace ActOp.Tool.Tests;

/// <summary>What the check says of databases.</summary>
public sealed class DatabaseTests : IAsyncLifetime
{
    private PostgresServer? _server;

    public async ValueTask InitializeAsync()
    {
        if (PostgresServer.Programs is not null)
            _server = await PostgresServer.StartAsync("fsync=off");
        Assert.True(_server is not null || Environment.GetEnvironmentVariable("CI") != "true",
            "PostgreSQL is not installed, and a pipeline must not skip these tests.");
        if (_server is null)
            Assert.Skip("POSTGRESQL IS NOT INSTALLED (apt-get install postgresql): the check of databases was not tested.");
    }

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
            await _server.DisposeAsync();
    }

    [Fact]
    public async Task The_version_of_the_tables_is_compared_with_what_silos_need()
    {
        Assert.Equal(("Failed", "It has no tables of ActOp."), await CheckAsync(_server!.ConnectionString));
        await _server.SqlAsync("create table actop_schema (version int primary key); insert into actop_schema values (1)");
        Assert.Equal(("Failed", "Its tables have version 1, and silos of this version of ActOp need 2."),
            await CheckAsync(_server.ConnectionString));
        await _server.SqlAsync("insert into actop_schema values (2)");
        Assert.Equal(("Ok", "Its tables have version 2."), await CheckAsync(_server.ConnectionString));
        await _server.SqlAsync("insert into actop_schema values (3)");
        Assert.Equal(("Ok", "Its tables have version 3, of a later ActOp than this tool (2)."), await CheckAsync(_server.ConnectionString));
        var (state, _) = await CheckAsync(
            new NpgsqlConnectionStringBuilder(_server.ConnectionString) { Database = "nothing" }.ConnectionString);
        Assert.Equal("Failed", state);
    }

    [Fact]
    public async Task What_is_no_connection_string_is_not_repeated()
    {
        var (state, text) = await CheckAsync("Password=very secret;Nonsense=1");
        Assert.Equal("Failed", state);
        Assert.DoesNotContain("very secret", text, StringComparison.Ordinal);
    }

    /// <summary>The line of the database, and its first sentence.</summary>
    private static async Task<(string State, string Text)> CheckAsync(string connectionString)
    {
        Dictionary<string, string> variables = new() { ["ACTOP_POSTGRES"] = connectionString };
        var run = await ToolRun.RunAsync(Ports.FindFree(1)[0], variables, "check", "--json");
        var line = run.Json.GetProperty("checks").EnumerateArray().Single(static one => one.GetProperty("name").GetString() == "database");
        return (line.GetProperty("state").GetString()!, FirstSentence(line.GetProperty("text")));
    }

    private static string FirstSentence(JsonElement text) => text.GetString()!.Split(". ")[0].TrimEnd('.') + ".";
}
