using System.CommandLine;
using System.CommandLine.Help;
using ActOp.Tool.Checks;
using ActOp.Tool.Connection;
using Orleans.Runtime;

namespace ActOp.Tool.Commands;

/// <summary>The command line: options that all commands have, and the commands.</summary>
/// <remarks>Holds the options of one run. One thread.</remarks>
internal sealed class ToolCommands
{
    private readonly ToolOutput _output;
    private readonly ConnectionOptions _connection;
    private readonly Option<bool> _json = new("--json") { Description = "Print one JSON value.", Recursive = true };

    internal ToolCommands(ToolOutput output, Func<string, string?> environment)
    {
        (_output, _connection) = (output, new ConnectionOptions(environment));
        // A RootCommand would have the name of the file, which is not the one that operators type.
        Root = new Command("actop", "Looks at a cluster of ActOp over a gateway, checks its configuration, drains silos and moves grains.")
        {
            new HelpOption(),
            new VersionOption(),
        };
        foreach (var option in _connection.All)
            Root.Options.Add(option);
        Root.Options.Add(_json);
        Add("status", "Whether the cluster is well: silos, activations, silos that do not answer.", Looks.StatusAsync);
        Add("silos", "Each silo: processors, memory, activations, clients.", Looks.SilosAsync);
        Add("grains", "Activations by class and silo.", Looks.GrainsAsync);
        Add("members", "The members of the cluster, dead ones included. Needs no right.", Looks.MembersAsync);
        Add("export", "All numbers of the cluster at one moment as JSON, for a report of a fault. No keys, states or secrets.",
            Looks.ExportAsync);
        AddCheck();
        AddDrain();
        AddMove();
    }

    internal Command Root { get; }

    private void AddCheck()
    {
        var postgres = new Option<string?>("--postgres-file")
        {
            Description = "File with the connection string of the database to check; without it, ACTOP_POSTGRES.",
        };
        var days = new Option<int>("--certificate-days")
        {
            Description = "How many days certificates must be valid for.",
            DefaultValueFactory = static _ => 14,
        };
        var command = new Command("check", "Checks the gateway, secrets, certificates, silos, clocks and the database.") { postgres, days };
        command.SetAction((parsed, cancellation) => RunAsync(parsed, async () =>
        {
            var settings = _connection.Read(parsed);
            var database = _connection.Secret(parsed, postgres, "ACTOP_POSTGRES");
            return await new ClusterCheck(settings, database, parsed.GetValue(days)).RunAsync(cancellation).ConfigureAwait(false);
        }));
        Root.Subcommands.Add(command);
    }

    private void AddDrain()
    {
        var silo = new Argument<string>("silo") { Description = "Name of the silo, or its address as 'actop silos' shows it." };
        var last = new Option<bool>("--last") { Description = "Also if it is the last active silo: its grains then end." };
        var wait = Wait("How many seconds the silo may take to leave.", 150);
        var command = new Command("drain", "Stops a silo in order: its grains move to the others, and its process ends.")
        {
            silo, last, wait,
        };
        command.SetAction((parsed, cancellation) => RunAsync(parsed, cancellation, cluster => Changes.DrainAsync(
            cluster, parsed.GetValue(silo)!, parsed.GetValue(last), Seconds(parsed, wait), cancellation)));
        Root.Subcommands.Add(command);
    }

    private void AddMove()
    {
        var grain = new Argument<string>("grain") { Description = "Id of the grain, as in cart/ada." };
        var silo = new Argument<string>("silo") { Description = "Name of the silo to which it moves, or its address." };
        var wait = Wait("How many seconds the grain may take to move.", 10);
        var command = new Command("move", "Moves the activation of a grain to a silo.") { grain, silo, wait };
        command.SetAction((parsed, cancellation) => RunAsync(parsed, cancellation, cluster =>
        {
            var id = GrainId.TryParse(parsed.GetValue(grain), out var one)
                ? one : throw new ToolException(ExitCode.Usage, parsed.GetValue(grain) + " is not the id of a grain, as in cart/ada.");
            return Changes.MoveAsync(cluster, id, parsed.GetValue(silo)!, Seconds(parsed, wait), cancellation);
        }));
        Root.Subcommands.Add(command);
    }

    private void Add(string name, string text, Func<ClusterConnection, Task<Answer>> look)
    {
        var command = new Command(name, text);
        command.SetAction((parsed, cancellation) => RunAsync(parsed, cancellation, look));
        Root.Subcommands.Add(command);
    }

    private static Option<int> Wait(string text, int seconds) => new("--wait") { Description = text, DefaultValueFactory = _ => seconds };

    private static TimeSpan Seconds(ParseResult parsed, Option<int> wait) => parsed.GetValue(wait) is var seconds and > 0 and <= 86_400
        ? TimeSpan.FromSeconds(seconds) : throw new ToolException(ExitCode.Usage, "--wait must be 1 to 86400.");

    private Task<int> RunAsync(ParseResult parsed, CancellationToken cancellation, Func<ClusterConnection, Task<Answer>> ask) =>
        RunAsync(parsed, async () =>
        {
            await using var cluster = await ClusterConnection.OpenAsync(_connection.Read(parsed), cancellation).ConfigureAwait(false);
            return await ask(cluster).ConfigureAwait(false);
        });

    /// <summary>Turns what a cluster may answer into exit codes, at one place.</summary>
    private async Task<int> RunAsync(ParseResult parsed, Func<Task<Answer>> run)
    {
        var isJson = parsed.GetValue(_json);
        try
        {
            return _output.Print(await run().ConfigureAwait(false), isJson);
        }
        catch (ToolException failure)
        {
            return _output.Print(failure, isJson);
        }
        catch (UnauthorizedAccessException)
        {
            return _output.Print(
                new ToolException(ExitCode.NotAllowed, "The tool is no operator of this cluster. " + ConnectionOptions.HowToBecomeOperator),
                isJson);
        }
        catch (Exception exception) when (exception is SiloUnavailableException or TimeoutException)
        {
            return _output.Print(new ToolException(ExitCode.NotConnected, "The cluster does not answer: " + exception.Message), isJson);
        }
        catch (Exception exception) when (exception is OrleansException or NotSupportedException or InvalidOperationException)
        {
            return _output.Print(new ToolException(ExitCode.Refused, "The cluster has refused it: " + exception.Message), isJson);
        }
    }
}
