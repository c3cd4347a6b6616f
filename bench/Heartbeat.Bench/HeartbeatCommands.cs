using System.CommandLine;
using Heartbeat.Bench.Experiments;
using Heartbeat.Bench.Silos;

namespace Heartbeat.Bench;

/// <summary>The command line.</summary>
public static class HeartbeatCommands
{
    private const string CompareText =
        "Allocations of threads compared in one interleaved run, a fresh silo for every cell. Under 6 minutes by default.";

    /// <summary>Builds the root command: without a subcommand it compares.</summary>
    public static RootCommand Build()
    {
        var root = new CompareExperiment().AttachTo(
            new RootCommand("Heartbeat and Counter (ActOp paper, sections 3, 5 and 6.2) on this machine. " + CompareText));
        root.Subcommands.Add(new CompareExperiment().AttachTo(new Command("compare", CompareText)));
        root.Subcommands.Add(new PeakExperiment().AttachTo(
            new Command("peak", "The highest rate that silo and load client keep up with, for each allocation.")));
        root.Subcommands.Add(new BreakdownExperiment().AttachTo(
            new Command("breakdown", "Where the time of a request goes: queues, processing, network, other (paper, Figure 4).")));
        root.Subcommands.Add(new HeatmapExperiment().AttachTo(
            new Command(
                "heatmap", "Median latency over workers and senders (paper, Figure 5), and how close the model comes to the best.")));
        root.Subcommands.Add(new CalibrateExperiment().AttachTo(
            new Command("calibrate", "Finds the model's price of a thread, eta, on this machine (paper, section 6.2).")));
        root.Subcommands.Add(
            new StepExperiment().AttachTo(new Command("step", "Steps of the load, and large replies: how fast the threads follow.")));
        root.Subcommands.Add(BuildSilo());
        root.Subcommands.Add(BuildClient());
        return root;
    }

    private static Command BuildSilo()
    {
        var command = new Command("silo", "The silo process (started by the experiment).") { Hidden = true };
        var port = new Option<int>("--port") { Required = true };
        var gateway = new Option<int>("--gateway") { Required = true };
        // A cell has one silo, which is its own primary.
        foreach (var option in (Option[])[new Option<int>("--index"), port, gateway, new Option<int>("--primary")])
            command.Options.Add(option);
        var read = AddCell(command);
        command.SetAction((parsed, _) =>
        {
            (var options, var cell) = read(parsed);
            return SiloChild.RunAsync(parsed.GetValue(port), parsed.GetValue(gateway), options, cell);
        });
        return command;
    }

    private static Command BuildClient()
    {
        var command = new Command("client", "The load process (started by the experiment).") { Hidden = true };
        var gateways = new Option<string>("--gateways") { Required = true };
        command.Options.Add(gateways);
        var read = AddCell(command);
        command.SetAction((parsed, _) =>
        {
            (var options, var cell) = read(parsed);
            return ClientChild.RunAsync([.. parsed.GetValue(gateways)!.Split(',').Select(int.Parse)], options, cell);
        });
        return command;
    }

    private static Func<ParseResult, (HeartbeatOptions, CellOptions)> AddCell(Command command)
    {
        var table = new HeartbeatOptionTable(new HeartbeatOptions());
        var cells = new CellOptionTable();
        table.AddTo(command);
        cells.AddTo(command);
        return parsed => (table.Read(parsed), cells.Read(parsed));
    }
}
