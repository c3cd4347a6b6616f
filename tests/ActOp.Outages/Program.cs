using System.CommandLine;
using System.Globalization;
using ActOp.Harness.Options;
using ActOp.Harness.Processes;
using ActOp.Harness.Reports;
using ActOp.Outages.Cluster;
using ActOp.Outages.Load;
using ActOp.Outages.Networks;
using ActOp.Outages.Runs;

namespace ActOp.Outages;

/// <summary>The command line.</summary>
internal static class Program
{
    /// <summary>The run is not possible here: that is no success.</summary>
    private const int Impossible = 3;

    internal static Task<int> Main(string[] args)
    {
        CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        // The processes that a run starts.
        if (args is [SiloArguments.Command, ..])
            return SiloChild.RunAsync(SiloArguments.Read(args));
        if (args is [ClientArguments.Command, ..])
            return ClientChild.RunAsync(ClientArguments.Read(args));
        // After Ctrl+C everything that was started is stopped and removed, which takes longer than a command usually has.
        return Build().Parse(args).InvokeAsync(new InvocationConfiguration { ProcessTerminationTimeout = TimeSpan.FromMinutes(2) });
    }

    private static RootCommand Build()
    {
        var defaults = new OutageOptions();
        var root = new RootCommand(
            "Runs silos, clients and a PostgreSQL server as processes in network namespaces, has faults happen to them, and checks what the "
            + "clients saw. Needs root, iproute2, /dev/net/tun, PostgreSQL and libfaketime. Exit codes: 0 no violation, 1 violations, "
            + "2 wrong options, 3 such runs are not possible here, 130 stopped.");
        var minutes = Add(root, "--minutes", defaults.Minutes, "For how long faults are played.");
        var silos = Add(root, "--silos", defaults.Silos, "Silos.");
        var clients = Add(root, "--clients", defaults.Clients, "Client processes.");
        var loops = Add(root, "--loops", defaults.Loops, "Callers of each client.");
        var seed = Add(root, "--seed", defaults.Seed, "Seed of the faults and of the load.");
        var lease = Add(root, "--lease", defaults.Lease, "Lease of the silos in seconds; 0 for none: then two activations are possible.");
        var faults = Add(root, "--faults", "all", "all, or a list of " + string.Join(", ", Schedule.All) + ".");
        var keep = Add<string?>(root, "--keep", null, "A new folder for what the processes write.");
        var json = Add<string?>(root, "--json", null, "A file for the result.");
        root.SetAction((parsed, cancellation) => RunAsync(
            new OutageOptions
            {
                Minutes = parsed.GetValue(minutes),
                Silos = parsed.GetValue(silos),
                Clients = parsed.GetValue(clients),
                Loops = parsed.GetValue(loops),
                Seed = parsed.GetValue(seed),
                Lease = parsed.GetValue(lease),
                Faults = OutageOptions.Parse(parsed.GetValue(faults)!),
                Keep = parsed.GetValue(keep),
            },
            parsed.GetValue(json), cancellation));
        return root;
    }

    private static Option<T> Add<T>(RootCommand root, string name, T value, string text)
    {
        var option = new Option<T>(name) { Description = text, DefaultValueFactory = _ => value };
        root.Options.Add(option);
        return option;
    }

    private static async Task<int> RunAsync(OutageOptions options, string? json, CancellationToken cancellation)
    {
        if (options.FindError() is null && await FindObstacleAsync(options).ConfigureAwait(false) is { } obstacle)
        {
            await Console.Error.WriteLineAsync("NOT RUN: " + obstacle).ConfigureAwait(false);
            return Impossible;
        }

        return await CommandRun.RunAsync(options.FindError(), async () =>
        {
            Console.WriteLine($"seed {options.Seed}, {options.Silos} silos, {options.Clients} clients, lease {options.Lease} s, {options.Minutes} minutes");
            var result = await new OutageRun(options, Console.WriteLine).ExecuteAsync(cancellation).ConfigureAwait(false);
            OutageReport.Print(result);
            if (json is not null)
                ReportFile.WriteJson(json, result);
            return result.Faults.Count == 0 ? 0 : 1;
        }).ConfigureAwait(false);
    }

    private static async Task<string?> FindObstacleAsync(OutageOptions options)
    {
        if (PostgresServer.Programs is null)
            return "PostgreSQL is not installed (package postgresql).";
        if (FakeClock.Library is null && options.Faults.Any(static kind => kind is FaultKind.Clock or FaultKind.ClockKill))
        {
            return "libfaketime is not installed (package libfaketime; ACTOP_FAKETIME names the library elsewhere). "
                + "Without it, leave Clock and ClockKill out of --faults.";
        }

        return await Namespaces.FindObstacleAsync().ConfigureAwait(false);
    }
}
