using System.CommandLine;
using ActOp.Harness.Options;
using ActOp.Harness.Processes;
using ActOp.Harness.Reports;
using HaloPresence.Bench.States;
using Spectre.Console;

namespace HaloPresence.Bench.Faults;

/// <summary>What happens to the silos.</summary>
public enum FaultMode
{
    /// <summary>One after the other is killed (SIGKILL) and started again.</summary>
    Kill,

    /// <summary>One after the other is stopped in order and started again: no request may fail.</summary>
    Stop,

    /// <summary>
    /// One after the other stands still for a while (SIGSTOP, SIGCONT). If that was so long that the others dropped it, it is started
    /// again.
    /// </summary>
    Pause,

    /// <summary>All are killed at once and started again: nothing is left of the cluster but its clients.</summary>
    RestartAll,

    /// <summary>
    /// All, the one that holds the membership table too, are stopped in order and started again, one after the other: no request may fail.
    /// </summary>
    Roll,

    /// <summary>The database with the membership table is killed and started again after the pause: no request may fail.</summary>
    Database,

    /// <summary>
    /// Silos with a wrong setting try to join, one kind of wrong setting each time: no request may fail, no member may be lost, and each
    /// of them must end itself.
    /// </summary>
    Newcomers,
}

/// <summary>What the fault experiment does.</summary>
/// <param name="Halo">Silos, players, game size, rate, seed and optimisation.</param>
/// <param name="Mode">What happens to the silos.</param>
/// <param name="Times">How often it happens; a roll is once through all silos.</param>
/// <param name="Interval">Seconds from one time to the next at least.</param>
public sealed record FaultOptions(HaloOptions Halo, FaultMode Mode, int Times, double Interval)
{
    /// <summary>Seconds that a silo stands still.</summary>
    public double Pause { get; init; } = 1;

    /// <summary>Seconds after which a silo that cannot confirm its membership pauses its grains; 0 for never.</summary>
    public double Lease { get; init; }

    /// <summary>
    /// Connection string of the PostgreSQL database that holds the membership table; <see cref="Temporary"/> for a server that the run
    /// starts; null if silo 0 holds it.
    /// </summary>
    public string? Postgres { get; init; }

    /// <summary>A server of its own.</summary>
    public const string Temporary = "temporary";

    /// <summary>Silos that try to join at once.</summary>
    public int Newcomers { get; init; } = 1;

    /// <summary>Milliseconds that a request may take while they try; 0 for any.</summary>
    public double Longest { get; init; }

    /// <summary>Whether to print the silos' last log lines at the end.</summary>
    public bool Verbose { get; init; }

    /// <summary>Whether no request may fail.</summary>
    public bool Graceful => Mode is FaultMode.Stop or FaultMode.Roll or FaultMode.Database or FaultMode.Newcomers;

    /// <summary>The first thing wrong with the options, naming the option; null when they are fine.</summary>
    public string? FindError()
    {
        if (Halo.FindError() is { } error) return error;
        if (Halo.Silos < 2 && Mode != FaultMode.Newcomers) return "--silos must be at least 2: somebody must be left.";
        if (Halo.Rehearse) return "--rehearse has no silos to end.";
        if (Times is < 1 or > 1000) return $"--kills must be 1 to 1000, not {Times}.";
        if (!(Interval is >= 2 and <= 600)) return $"--interval must be 2 to 600 seconds, not {Interval}.";
        if (!(Pause is >= 0.1 and <= 300)) return $"--pause must be 0.1 to 300 seconds, not {Pause}.";
        if (Newcomers is < 1 or > 16) return $"--newcomers must be 1 to 16, not {Newcomers}.";
        if (!(Longest >= 0)) return $"--longest must be 0 (any) or milliseconds, not {Longest}.";
        if (Mode == FaultMode.Newcomers && Postgres is null)
            return "--mode newcomers needs --postgres: with an embedded table, those that do not reach it cannot try to join.";
        if (Mode == FaultMode.Database
            && Postgres != Temporary)
        {
            return "--mode database needs --postgres temporary: a server that may be killed.";
        }

        if (Postgres == Temporary
            && PostgresServer.Programs is null)
        {
            return "--postgres temporary needs PostgreSQL, which is not installed.";
        }

        if (Lease != 0 && !(Lease is >= 1 and <= 3600)) return $"--lease must be 0 (none) or 1 to 3600 seconds, not {Lease}.";
        return null;
    }
}

/// <summary>The command that ends silos under load.</summary>
public static class FaultCommand
{
    /// <summary>Builds it.</summary>
    public static Command Build()
    {
        var command =
            new Command("faults",
                "Ends, pauses or restarts silos under load. Silo 0 holds the membership table (embedded clustering): it is restarted too "
                    + "by --mode roll and restartAll (in a roll it gets the table back from the others), and spared by the other modes. "
            + "With --postgres a database holds it, and silo 0 is treated like the others. "
            + "State is in memory only: players and games of a killed silo forget, and the load client starts a forgotten game again. "
            + "Exit code 1 when something is wrong.");
        var kills = new Option<int>(
            "--kills")
        { Description = "How often it happens; a roll goes through all silos each time.", DefaultValueFactory = _ => 10 };
        var interval =
            new Option<double>("--interval")
            {
                Description =
                "Seconds from one kill to the next, at least; the killed silo is started again at half of it.",
                DefaultValueFactory =
                    _ => 8
            };
        var mode = new Option<FaultMode>("--mode")
        {
            Description =
            "kill: end each with SIGKILL. stop: stop each in order, no request may fail. pause: SIGSTOP, then SIGCONT. restartAll: kill "
                + "all at once. roll: stop and start all in turn, no request may fail. database: kill the database for the time of "
                + "--pause, no request may fail. newcomers: silos with a wrong secret, certificate, cluster, schema or address, one kind "
                + "each time, try to join; no request may fail.",
            DefaultValueFactory = _ => FaultMode.Kill
        };
        var graceful = new Option<bool>("--graceful") { Description = "The same as --mode stop." };
        var pause = new Option<double>(
            "--pause")
        { Description = "Seconds that a paused silo stands still.", DefaultValueFactory = _ => 1 };
        var lease = new Option<double>("--lease")
        {
            Description =
            "Seconds after which a silo that cannot confirm its membership pauses its grains; 0 for never.",
            DefaultValueFactory = _ => 0
        };
        var postgres =
            new Option<string?>("--postgres")
            {
                Description =
                "Connection string of a PostgreSQL database for the membership table, or temporary: the run starts a server of its own."
            };
        var newcomers = new Option<int>("--newcomers")
        {
            Description = "Silos with a wrong setting that try to join at once.",
            DefaultValueFactory = _ => 1
        };
        var longest = new Option<double>("--longest")
        {
            Description = "Milliseconds that a request may take while such silos try to join, beyond what the load stood still; 0 for any.",
            DefaultValueFactory = _ => 0
        };
        var verbose = new Option<bool>("--verbose") { Description = "Print the silos' last log lines at the end." };
        var storage =
            new Option<string?>("--storage")
            {
                Description =
                "Try storages: grains count in PostgreSQL and in files under load while these faults happen, in this order: kill, "
                    + "restartAll, roll, database (away for --pause), errors, fullFiles, fullDatabase; or all. The run starts a database "
                    + "of its own. No acknowledged write may be lost."
            };
        var json = new Option<string?>("--json") { Description = "File for the results as JSON." };
        foreach (var option in (Option[])[mode, kills, interval, graceful, pause, lease, postgres, newcomers, longest, storage, verbose, json])
            command.Options.Add(option);
        var table = new HaloOptionTable(new HaloOptions { Rate = 1000 });
        table.AddTo(command);
        command.SetAction((parsed, cancellation) =>
        {
            var chosen = parsed.GetValue(graceful) ? FaultMode.Stop : parsed.GetValue(mode);
            var options = new FaultOptions(table.Read(parsed), chosen, parsed.GetValue(kills), parsed.GetValue(interval))
            {
                Pause = parsed.GetValue(pause),
                Lease = parsed.GetValue(lease),
                Postgres = parsed.GetValue(postgres),
                Newcomers = parsed.GetValue(newcomers),
                Longest = parsed.GetValue(longest),
                Verbose = parsed.GetValue(verbose),
            };
            return parsed.GetValue(storage) is { } list
                ? LedgerReport.RunAsync(options, list, parsed.GetValue(json), cancellation)
                : RunAsync(options, parsed.GetValue(json), cancellation);
        });
        return command;
    }

    private static Task<int> RunAsync(FaultOptions options, string? json, CancellationToken cancellation) =>
        CommandRun.RunAsync(options.FindError(), async () =>
    {
        var result = await new FaultRun(options, Console.WriteLine).ExecuteAsync(cancellation).ConfigureAwait(false);
        if (json is not null)
            ReportFile.WriteJson(json, result);
        Print(result);
        return result.Faults.Count == 0 ? 0 : 1;
    });

    private static void Print(FaultResult result)
    {
        var table = new Table().AddColumns("", "min", "median", "max");
        Add(table, "dropped by all views, ms", result, kill => kill.Detected * 1000);
        Add(table, "last error, ms", result, kill => kill.LastError * 1000);
        Add(table, "failed requests", result, kill => kill.Errors.Values.Sum() + kill.LateErrors.Values.Sum());
        Add(table, "longest wait of a request, ms", result, kill => kill.LongestWait * 1000);
        Add(table, "new process in every view, ms", result, kill => kill.Rejoined * 1000);
        Add(table, "activations on the new silo", result, kill => kill.ActivationsOfNewSilo);
        AnsiConsole.Write(table);
        Console.WriteLine($"{result.Activations!.Activations} activations of {result.Activations.Grains} grains, {result.Activations.Doubles} times two at once; "
            + $"{result.Asked - result.Silent.Count} of {result.Asked} players answered at the end; {result.GamesToldAgain} games told again. {result.Note}");
        foreach (var fault in result.Faults)
            Console.WriteLine("WRONG: " + fault);
    }

    private static void Add(Table table, string name, FaultResult result, Func<KillResult, double> value)
    {
        double[] values = [.. result.Kills.Select(value).Order()];
        table.AddRow(name, $"{values[0]:0}", $"{values[values.Length / 2]:0}", $"{values[^1]:0}");
    }
}
