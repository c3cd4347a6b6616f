using System.CommandLine;
using System.Text.Json;
using HaloPresence.Options;
using Harness.Children;
using Harness.Options;
using Spectre.Console;

namespace HaloPresence.Faults;

/// <summary>The command that ends silos under load.</summary>
public static class FaultCommand
{
    /// <summary>Builds it.</summary>
    public static Command Build()
    {
        var command = new Command("faults", "Ends, pauses or restarts silos under load. Silo 0 holds the membership table (embedded clustering): it is restarted too by --mode roll and restartAll (in a roll it gets the table back from the others), and spared by the other modes. "
            + "State is in memory only: players and games of a killed silo forget, and the load client starts a forgotten game again. Exit code 1 when something is wrong.");
        var kills = new Option<int>("--kills") { Description = "How often it happens; a roll goes through all silos each time.", DefaultValueFactory = _ => 10 };
        var interval = new Option<double>("--interval") { Description = "Seconds from one kill to the next, at least; the killed silo is started again at half of it.", DefaultValueFactory = _ => 8 };
        var mode = new Option<FaultMode>("--mode") { Description = "kill: end each with SIGKILL. stop: stop each in order, no request may fail. pause: SIGSTOP, then SIGCONT. restartAll: kill all at once. roll: stop and start all in turn, no request may fail.", DefaultValueFactory = _ => FaultMode.Kill };
        var graceful = new Option<bool>("--graceful") { Description = "The same as --mode stop." };
        var pause = new Option<double>("--pause") { Description = "Seconds that a paused silo stands still.", DefaultValueFactory = _ => 1 };
        var lease = new Option<double>("--lease") { Description = "Seconds after which a silo that cannot confirm its membership pauses its grains; 0 for never.", DefaultValueFactory = _ => 0 };
        var verbose = new Option<bool>("--verbose") { Description = "Print the silos' last log lines at the end." };
        var json = new Option<string?>("--json") { Description = "File for the results as JSON." };
        foreach (Option option in (Option[])[mode, kills, interval, graceful, pause, lease, verbose, json])
            command.Options.Add(option);
        var table = new HaloOptionTable(new HaloOptions { Rate = 1000 });
        table.AddTo(command);
        command.SetAction((parsed, cancellation) => RunAsync(
            new FaultOptions(table.Read(parsed), parsed.GetValue(graceful) ? FaultMode.Stop : parsed.GetValue(mode), parsed.GetValue(kills), parsed.GetValue(interval))
            {
                Pause = parsed.GetValue(pause),
                Lease = parsed.GetValue(lease),
                Verbose = parsed.GetValue(verbose),
            },
            parsed.GetValue(json), cancellation));
        return command;
    }

    private static Task<int> RunAsync(FaultOptions options, string? json, CancellationToken cancellation) => CommandRun.RunAsync(options.FindError(), async () =>
    {
        FaultResult result = await new FaultRun(options, Console.WriteLine).ExecuteAsync(cancellation).ConfigureAwait(false);
        if (json is not null)
            File.WriteAllText(json, JsonSerializer.Serialize(result, JsonLines.File));
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
        foreach (string fault in result.Faults)
            Console.WriteLine("WRONG: " + fault);
    }

    private static void Add(Table table, string name, FaultResult result, Func<KillResult, double> value)
    {
        double[] values = [.. result.Kills.Select(value).Order()];
        table.AddRow(name, $"{values[0]:0}", $"{values[values.Length / 2]:0}", $"{values[^1]:0}");
    }
}
