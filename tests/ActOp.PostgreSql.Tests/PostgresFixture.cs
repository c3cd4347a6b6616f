using System.Diagnostics.CodeAnalysis;
using ActOp.Harness.Processes;
using ActOp.PostgreSql.Schema;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;

// Every test starts servers or nodes: one at a time is enough for a small machine.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
[assembly: AssemblyFixture(typeof(ActOp.PostgreSql.Tests.PostgresFixture))]

namespace ActOp.PostgreSql.Tests;

/// <summary>
/// A PostgreSQL server for all tests of this project, which start and use databases of their own on it. Where none is installed, the tests
/// are skipped and say so; in a pipeline (CI=true) they fail.
/// </summary>
public sealed class PostgresFixture : IAsyncLifetime
{
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private PostgresServer? _server;
    private int _databases;

    public PostgresServer Server
    {
        get
        {
            if (_server is not null)
                return _server;
            Assert.False(Environment.GetEnvironmentVariable("CI") == "true",
                "PostgreSQL is not installed, and a pipeline must not skip these tests.");
            Assert.Skip("POSTGRESQL IS NOT INSTALLED (apt-get install postgresql): nothing of this project was tested.");
            return null!;
        }
    }

    public async ValueTask InitializeAsync()
    {
        if (PostgresServer.Programs is not null)
            _server = await StartServerAsync();
    }

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
            await _server.DisposeAsync();
    }

    /// <summary>
    /// A server of a test's own. It may be killed, and keeps what it has written: that is in the memory of the system. So nothing waits
    /// for the disk, neither a commit nor the start after a kill.
    /// </summary>
    public static Task<PostgresServer> StartServerAsync() => PostgresServer.StartAsync("fsync=off");

    /// <summary>The connection string of a new database without tables.</summary>
    public async Task<string> CreateAsync()
    {
        var name = "test" + Interlocked.Increment(ref _databases);
        await Server.SqlAsync("create database " + name);
        return new NpgsqlConnectionStringBuilder(Server.ConnectionString) { Database = name }.ConnectionString;
    }

    [SuppressMessage("Reliability", "CA2000", Justification = "The caller disposes it.")]
    internal static Database Open(string connectionString, int connections = 10, TimeProvider? time = null) => new(
        new DatabaseChoice("Test", "TestOptions", connectionString, null, DatabaseChoice.Npgsql), connections, time ?? TimeProvider.System,
        new PostgresLog(NullLogger.Instance), seed: 1);
}
