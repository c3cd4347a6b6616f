using System.Diagnostics;
using ActOp.Harness.Processes;
using Npgsql;

namespace ActOp.PostgreSql.Tests;

/// <summary>The commands of docs/operating.md: a backup of a cluster that runs, and what comes back.</summary>
public sealed class BackupTests(PostgresFixture postgres)
{
    private const int Grains = 20;

    /// <summary>Who is a member, and where grains are, is of the cluster that runs and of no other.</summary>
    private static readonly string[] Dump =
    [
        "--format=custom", "--exclude-table-data=actop_cluster", "--exclude-table-data=actop_silo", "--exclude-table-data=actop_directory",
    ];

    private static readonly string[] Restore = ["--clean", "--if-exists", "--single-transaction"];

    [Fact]
    public async Task A_backup_of_a_cluster_that_runs_has_every_write_before_it_and_disturbs_none()
    {
        var (source, copy) = (await postgres.CreateAsync(), await postgres.CreateAsync());
        await using var nodes = new Nodes(source);
        IHost[] silos = [await nodes.StartSiloAsync(Parts(source)), await nodes.StartSiloAsync(Parts(source))];
        await Grain<IWakefulGrain>(silos[0], 1).Register("morning");
        using var stopping = new CancellationTokenSource();
        var written = new int[Grains];
        var writers = Enumerable.Range(0, Grains).Select(key => WriteAsync(silos[key % 2], key, written, stopping.Token)).ToArray();
        await ReachAsync(written, 3);
        var before = written.ToArray();

        await using var file = new DumpFile();
        await RunAsync("pg_dump", [.. Dump, "--file=" + file.Path, NameOf(source)]);

        var during = written.ToArray();
        await ReachAsync(written, 6);
        await stopping.CancelAsync();
        await Task.WhenAll(writers);
        await RunAsync("pg_restore", [.. Restore, "--dbname=" + NameOf(copy), file.Path]);

        await using var others = new Nodes(copy);
        var silo = await others.StartSiloAsync(Parts(copy));
        Assert.Equal(silo.Services.GetRequiredService<ILocalSiloDetails>().SiloAddress, Assert.Single(Nodes.ViewOf(silo).Members).Silo);
        Assert.Equal(["morning"], await Grain<IWakefulGrain>(silo, 1).Names());
        for (var key = 0; key < Grains; key++)
        {
            // One more may have been in the database before its writer knew.
            Assert.InRange(await Count(silo, key).Read(), before[key], during[key] + 1);
            await Count(silo, key).Add();
        }
    }

    [Fact]
    public async Task An_earlier_moment_is_restored_into_the_database_of_a_cluster_that_is_stopped()
    {
        var database = await postgres.CreateAsync();
        await using var file = new DumpFile();
        await using (var nodes = new Nodes(database))
        {
            var silo = await nodes.StartSiloAsync(Parts(database));
            Assert.Equal(1, await Count(silo, 0).Add());
            await RunAsync("pg_dump", [.. Dump, "--file=" + file.Path, NameOf(database)]);
            Assert.Equal(2, await Count(silo, 0).Add());
            Assert.Equal(1, await Count(silo, 1).Add());
            await Grain<IWakefulGrain>(silo, 1).Register("too late");
        }

        await RunAsync("pg_restore", [.. Restore, "--dbname=" + NameOf(database), file.Path]);

        await using var again = new Nodes(database);
        var restored = await again.StartSiloAsync(Parts(database));
        Assert.Equal(1, await Count(restored, 0).Read());
        Assert.Equal(0, await Count(restored, 1).Read());
        Assert.Empty(await Grain<IWakefulGrain>(restored, 1).Names());
        Assert.Equal(2, await Count(restored, 0).Add());
    }

    private static async Task WriteAsync(IHost silo, int key, int[] written, CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
            Volatile.Write(ref written[key], await Count(silo, key).Add());
    }

    private static async Task ReachAsync(int[] written, int count)
    {
        using var limit = new CancellationTokenSource(PostgresFixture.Limit);
        while (Enumerable.Range(0, Grains).Any(key => Volatile.Read(ref written[key]) < count))
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, limit.Token);
    }

    private async Task RunAsync(string program, string[] arguments)
    {
        ProcessStartInfo start = new(postgres.Server.Program(program), ["--host=" + postgres.Server.Host, "--username=postgres", .. arguments])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        var (code, output, errors) = await ProcessRun.ToEndAsync(start, PostgresFixture.Limit);
        Assert.True(code == 0, output + errors);
    }

    private static string NameOf(string connectionString) => new NpgsqlConnectionStringBuilder(connectionString).Database!;

    private static Action<ISiloBuilder> Parts(string connectionString) => silo => silo
        .AddAdoNetGrainStorage("counts", options => (options.Invariant, options.ConnectionString) = ("Npgsql", connectionString))
        .UseAdoNetReminderService(options => (options.Invariant, options.ConnectionString) = ("Npgsql", connectionString));

    private static ICountGrain Count(IHost host, int key) =>
        host.Services.GetRequiredService<IGrainFactory>().GetGrain<ICountGrain>("backed up " + key);

    private static T Grain<T>(IHost host, long key)
        where T : IGrainWithIntegerKey => host.Services.GetRequiredService<IGrainFactory>().GetGrain<T>(key);

    private sealed class DumpFile : IAsyncDisposable
    {
        internal string Path { get; } = System.IO.Path.GetTempFileName();

        public ValueTask DisposeAsync()
        {
            File.Delete(Path);
            return ValueTask.CompletedTask;
        }
    }
}
