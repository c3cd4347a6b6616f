using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using ActOp.Bench.Calls;
using ActOp.Floors;
using ActOp.Harness.Processes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace ActOp.Bench.Storage;

/// <summary>
/// Grains that write their states to PostgreSQL, beside the program pgbench of PostgreSQL (simple updates, option -N) with as many clients
/// on the same server in the same run.
/// </summary>
internal static partial class StorageCommand
{
    private const double Bar = 0.6;

    /// <summary>Seconds after which a run of pgbench without a commit is an error.</summary>
    private const int LongestRun = 60;

    internal static Command Build()
    {
        var runs = new Option<int>("--runs") { Description = "Runs of each of the two, in turn.", DefaultValueFactory = _ => 3 };
        var seconds = new Option<int>("--seconds") { Description = "Length of one run.", DefaultValueFactory = _ => 3 };
        var grains =
            new Option<int>("--grains") { Description = "Grains that write, and clients of pgbench.", DefaultValueFactory = _ => 128 };
        var streams = new Option<bool>("--streams") { Description = "Items of streams in PostgreSQL in place of states." };
        var ignoreBars = new Option<bool>("--ignore-bars") { Description = "Succeed when the bar is missed too." };
        var command = new Command("storage", "Writes of states per second on PostgreSQL, beside pgbench -N. Starts a server of its own.")
        {
            runs, seconds, grains, streams, ignoreBars,
        };
        command.SetAction(async (parsed, _) =>
        {
            if (parsed.GetValue(runs) is < 1 or > 100 || parsed.GetValue(seconds) is < 1 or > 60 || parsed.GetValue(grains) is < 1 or > 150)
            {
                Console.Error.WriteLine("--runs must be 1 to 100, --seconds 1 to 60, --grains 1 to 150.");
                return 2;
            }

            if (PostgresServer.Programs is null)
            {
                Console.Error.WriteLine("PostgreSQL is not installed.");
                return 2;
            }

            if (parsed.GetValue(streams))
            {
                await StoredItems.RunAsync(parsed.GetValue(runs), parsed.GetValue(seconds), parsed.GetValue(grains), CommitsAsync);
                return 0;
            }

            return await RunAsync(parsed.GetValue(runs), parsed.GetValue(seconds), parsed.GetValue(grains)) || parsed.GetValue(ignoreBars)
                ? 0 : 1;
        });
        return command;
    }

    private static async Task<bool> RunAsync(int runs, int seconds, int grains)
    {
        await using var server = await PostgresServer.StartAsync();
        await CommitsAsync(server, grains, 0);
        using var host = await StartAsync(server.ConnectionString);
        var factory = host.Services.GetRequiredService<IGrainFactory>();
        await WriteAsync(factory, grains, 500);
        List<double> floors = [];
        List<double> states = [];
        for (var run = 0; run < runs; run++)
        {
            floors.Add(await CommitsAsync(server, grains, seconds));
            states.Add(await WriteAsync(factory, grains, seconds * 1000));
        }

        await host.StopAsync();
        var ratio = Spread.Of(states).Median / Spread.Of(floors).Median;
        Console.WriteLine(new Row($"pgbench -N, {grains} clients", "commits/s", Spread.Of(floors)));
        var row = new Row(
            $"states of 200 bytes, {grains} grains", "writes/s", Spread.Of(states), ratio, $"at least {Bar} of the commits", ratio >= Bar);
        Console.WriteLine(row);
        return row.Met == true;
    }

    /// <summary>Commits per second of so many clients; with 0 seconds, its tables are made.</summary>
    private static async Task<double> CommitsAsync(PostgresServer server, int clients, int seconds)
    {
        if (seconds == 0)
        {
            await PgbenchAsync(server, "-i", "-s", "10", "-q");
            // What the tables left to be written is not part of what is measured.
            await server.SqlAsync("CHECKPOINT");
            return 0;
        }

        // A disk that others use can keep all clients waiting for a whole run. A longer run measures it.
        for (var length = seconds; ; length *= 2)
        {
            var said = await PgbenchAsync(server, "-N", "-c", Text(clients), "-j", "2", "-T", Text(length));
            if (Rate().Match(said) is { Success: true } rate)
                return double.Parse(rate.Groups[1].Value, CultureInfo.InvariantCulture);
            if (length >= LongestRun)
                throw new InvalidOperationException($"pgbench has committed nothing in {length} s. It says:\n{said}");
        }
    }

    private static async Task<double> WriteAsync(IGrainFactory factory, int grains, int milliseconds)
    {
        var start = Stopwatch.GetTimestamp();
        var written = await Task.WhenAll(Enumerable.Range(0, grains).Select(key => factory.GetGrain<INoteGrain>(key).Write(milliseconds)));
        return written.Sum() / Stopwatch.GetElapsedTime(start).TotalSeconds;
    }

    private static async Task<IHost> StartAsync(string connectionString)
    {
        var ports = Ports.FindFree(2);
        var builder = QuietHost.CreateBuilder();
        builder.UseOrleans(silo => silo.UseLocalhostClustering(ports[0], ports[1]).AddAdoNetGrainStorage("notes", options =>
        {
            options.Invariant = "Npgsql";
            options.ConnectionString = connectionString;
        }));
        var host = builder.Build();
        await host.StartAsync();
        return host;
    }

    private static async Task<string> PgbenchAsync(PostgresServer server, params string[] arguments)
    {
        var said = new Transcript();
        await using var pgbench = ChildProcess.StartCommand(
            "pgbench", [server.Program("pgbench"), "-h", server.Host, "-U", "postgres", .. arguments, "postgres"], said.Take);
        return await pgbench.WaitForExitAsync(CancellationToken.None) == 0
            ? said.Text
            : throw new InvalidOperationException("pgbench failed: " + pgbench.Tail);
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    [GeneratedRegex(@"tps = ([0-9.]+)")]
    private static partial Regex Rate();
}
