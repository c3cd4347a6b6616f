using System.Globalization;
using System.Reflection;
using ActOp.Harness.Processes;
using Microsoft.Extensions.Hosting;
using Npgsql;

namespace ActOp.Orleans.Data.Tests;

/// <summary>A server for all tests, which use databases of their own on it.</summary>
public sealed class DatabaseFixture : IAsyncLifetime
{
    private PostgresServer? _server;
    private int _databases;

    public async ValueTask InitializeAsync()
    {
        if (PostgresServer.Programs is not null)
            _server = await PostgresServer.StartAsync("fsync=off");
    }

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
            await _server.DisposeAsync();
    }

    /// <summary>The connection string of a new database with the tables of Orleans.</summary>
    public async Task<string> CreateAsync()
    {
        if (_server is null)
        {
            Assert.False(Environment.GetEnvironmentVariable("CI") == "true", "PostgreSQL is not installed.");
            Assert.Skip("POSTGRESQL IS NOT INSTALLED: nothing was tested.");
        }

        var name = "data" + Interlocked.Increment(ref _databases);
        await _server.SqlAsync("create database " + name);
        var connectionString = new NpgsqlConnectionStringBuilder(_server.ConnectionString) { Database = name }.ConnectionString;
        using var script = new StreamReader(typeof(DatabaseFixture).Assembly.GetManifestResourceStream("orleans.sql")!);
        await using var source = NpgsqlDataSource.Create(connectionString);
        await using var command = source.CreateCommand(await script.ReadToEndAsync());
        await command.ExecuteNonQueryAsync();
        return connectionString;
    }
}

/// <summary>What Microsoft Orleans has written is read and written in place by ActOp, and what ActOp has written by Orleans.</summary>
public sealed class RoundTripTests(DatabaseFixture fixture) : IClassFixture<DatabaseFixture>, IAsyncLifetime
{
    private static readonly string Silo = typeof(RoundTripTests).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
        .Single(static one => one.Key == "Silo").Value!;

    private string _connectionString = null!;

    private static string[] Every(string verb, string rest = "") =>
        [.. Enumerable.Range(0, Deeds.Grains).Select(number => verb + " " + number + (rest.Length > 0 ? " " + rest : ""))];

    public async ValueTask InitializeAsync() => _connectionString = await fixture.CreateAsync();

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    [Fact]
    public async Task States_of_all_kinds_of_keys_go_from_Orleans_to_ActOp_and_back()
    {
        var written = await OrleansAsync([.. Every("write", "a"), .. Every("write", "b")]);
        Assert.All(written[Deeds.Grains..], static line => Assert.Contains("True 2 2 b [a,b] [a=a!,b=b!]", line, StringComparison.Ordinal));
        Assert.All(written, static line => Assert.Contains("Circle:", line, StringComparison.Ordinal));

        // ActOp reads, writes and clears; most grains stay cleared.
        var ours = await ActOpAsync([.. Every("read"), .. Every("write", "c"), .. Every("clear"), "write 0 d", "write 3 d", "write 5 d"]);
        Assert.Equal(written[Deeds.Grains..], ours[..Deeds.Grains]);
        Assert.All(ours[Deeds.Grains..(2 * Deeds.Grains)],
            static line => Assert.Contains("True 3 3 c [a,b,c] [a=a!,b=b!,c=c!]", line, StringComparison.Ordinal));
        Assert.All(ours[(2 * Deeds.Grains)..(3 * Deeds.Grains)], static line =>
        {
            Assert.StartsWith("False 4 0 ", line, StringComparison.Ordinal);
            Assert.EndsWith("| False  0 ", line, StringComparison.Ordinal);
        });

        var back = await OrleansAsync([.. Every("read"), .. Every("write", "e")]);
        foreach (var (number, line) in back[..Deeds.Grains].Index())
        {
            var expected = number switch { 0 => ours[^3], 3 => ours[^2], 5 => ours[^1], _ => ours[(2 * Deeds.Grains) + number] };
            Assert.Equal(expected, line);
        }

        Assert.All(back[Deeds.Grains..], static line => Assert.Contains(" e [", line, StringComparison.Ordinal));
        var cleared = await OrleansAsync("clear 1", "clear 12");
        Assert.Equal(cleared, await ActOpAsync("read 1", "read 12"));
        // No state has two rows: both runtimes compute the same hashes. Only these tell the number 0 from the empty Guid.
        const string keys = "(select distinct GrainIdN0, GrainIdN1, GrainIdExtensionString, GrainTypeString from OrleansStorage) as one";
        Assert.Equal((26L, 24L), (await CountAsync("OrleansStorage"), await CountAsync(keys)));
    }

    [Fact]
    public async Task An_activation_of_Orleans_finds_that_ActOp_has_written()
    {
        using var host = await StartOrleansAsync();
        Assert.StartsWith("True 1 ", await Deeds.DoAsync(host, "write 5 a"), StringComparison.Ordinal);
        Assert.StartsWith("True 2 ", (await ActOpAsync("write 5 b"))[0], StringComparison.Ordinal);

        Assert.Contains("InconsistentStateException", await Deeds.DoAsync(host, "write 5 c"), StringComparison.Ordinal);
        await host.StopAsync().WaitAsync(Deeds.Limit);
    }

    [Fact]
    public async Task Reminders_go_from_Orleans_to_ActOp_and_back_and_come_in_both()
    {
        await OrleansAsync([.. Every("remind", "first"), .. Every("remind", "second"), "wake 12 alarm"]);
        var rows = await RowsAsync();

        // The deed waits until the reminder of Orleans has come in a silo of ActOp.
        var ours = await ActOpAsync([.. Every("reminders"), "reminded 12", .. Every("forget", "first"), "remind 5 third", "wake 3 bell"]);
        Assert.Equal(Enumerable.Range(0, Deeds.Grains).Select(static number => number == 12 ? "alarm,first,second" : "first,second"),
            ours[..Deeds.Grains]);
        Assert.StartsWith("alarm ", ours[Deeds.Grains], StringComparison.Ordinal);
        Assert.EndsWith(" 00:00:02", ours[Deeds.Grains], StringComparison.Ordinal);
        Assert.All(ours[(Deeds.Grains + 1)..], static line => Assert.Equal("done", line));
        // The rows that ActOp has left alone are as they were, to the bit.
        var left = (await RowsAsync()).ToHashSet();
        Assert.All(rows.Where(static row => row.Contains(" second ", StringComparison.Ordinal)), row => Assert.Contains(row, left));

        var back = await OrleansAsync([.. Every("reminders"), "reminded 3", "remind 3 first"]);
        Assert.Equal(
            Enumerable.Range(0, Deeds.Grains)
                .Select(static number => number switch { 3 => "bell,second", 5 => "second,third", 12 => "alarm,second", _ => "second" }),
            back[..Deeds.Grains]);
        Assert.StartsWith("bell ", back[Deeds.Grains], StringComparison.Ordinal);
        // Orleans computes the same hash for a row of ActOp: it would not find it by range otherwise, and would write another one.
        Assert.Empty((await RowsAsync("group by GrainId having count(distinct GrainHash) > 1", "GrainId")));
    }

    private Task<IHost> StartOrleansAsync()
    {
        var ports = Ports.FindFree(2);
        return Deeds.StartAsync(_connectionString, ports[0], ports[1], static _ => { });
    }

    private async Task<string[]> OrleansAsync(params string[] deeds)
    {
        using var host = await StartOrleansAsync();
        List<string> answers = [];
        foreach (var deed in deeds)
            answers.Add(await Deeds.DoAsync(host, deed));
        TestContext.Current.TestOutputHelper!.WriteLine("Orleans:\n" + string.Join('\n', answers));
        await host.StopAsync().WaitAsync(Deeds.Limit);
        return [.. answers];
    }

    /// <summary>The answers of a silo of ActOp, a process of its own.</summary>
    private async Task<string[]> ActOpAsync(params string[] deeds)
    {
        List<string> answers = [];
        var ports = Ports.FindFree(2).Select(static port => port.ToString(CultureInfo.InvariantCulture));
        using var limit = new CancellationTokenSource(Deeds.Limit);
        await using var silo = ChildProcess.StartCommand("actop", ["dotnet", Silo, _connectionString, .. ports, .. deeds], line =>
        {
            if (!line.StartsWith("= ", StringComparison.Ordinal))
                return false;
            lock (answers)
                answers.Add(line[2..]);
            return true;
        });
        var code = -1;
        try
        {
            code = await silo.WaitForExitAsync(limit.Token);
        }
        catch (OperationCanceledException)
        {
            // What it has said is shown below.
        }

        lock (answers)
        {
            TestContext.Current.TestOutputHelper!.WriteLine("ActOp:\n" + string.Join("\n", answers) + "\n" + silo.Tail);
            Assert.True(code == 0 && answers.Count == deeds.Length, silo.Tail);
            return [.. answers];
        }
    }

    private async Task<long> CountAsync(string table) => (long)(await ScalarAsync("select count(*) from " + table))!;

    private async Task<string[]> RowsAsync(string more = "", string what = "*") => ((string?[])(await ScalarAsync(
        "select coalesce(array_agg(row::text), '{}') from (select concat_ws(' ', r.*) as row from (select " + what
        + " from OrleansRemindersTable " + more + ") r) rows"))!)!;

    private async Task<object?> ScalarAsync(string sql)
    {
        await using var connection = new NpgsqlConnection(_connectionString);
        await connection.OpenAsync();
        await using var command = new NpgsqlCommand(sql, connection);
        return await command.ExecuteScalarAsync();
    }
}
