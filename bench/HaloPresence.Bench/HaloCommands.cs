using System.CommandLine;
using ActOp.Harness.Options;
using ActOp.Harness.Processes;
using ActOp.Harness.Reports;
using HaloPresence.Bench.Faults;
using HaloPresence.Bench.Load;
using HaloPresence.Bench.Results;
using HaloPresence.Bench.Silos;

namespace HaloPresence.Bench;

/// <summary>The command line.</summary>
public static class HaloCommands
{
    private static readonly TimeSpan SetupAndDrainLimit = TimeSpan.FromSeconds(180);

    /// <summary>Builds the root command: without a subcommand it runs the baseline, locality alone, and locality with threads.</summary>
    public static RootCommand Build()
    {
        var compare =
            new RootCommand("Halo Presence (ActOp paper, sections 6.1 and 6.3) on this machine: random placement, then locality, then "
                + "locality and sized stages, beside the paper's figures. Under 5 minutes by default.");
        // Three runs, starts and stops fit in five minutes.
        AddRuns(compare, new HaloOptions { Warmup = 50, Measure = 20, Saturate = 8 }, "halo.json", "halo.html",
            options =>
                [options with { Optimize = OptimizeMode.Off }, options with { Optimize = OptimizeMode.Partition },
                    options with { Optimize = OptimizeMode.All }]);
        var run = new Command("run", "One run under open-loop load.");
        AddRuns(run, new HaloOptions(), null, null, options => [options]);
        var saturate = new Command("saturate", "One run in a closed loop: the peak throughput.");
        AddRuns(saturate, new HaloOptions { Measure = 0, Saturate = 30 }, null, null, options => [options]);
        foreach (var command in (Command[])[run, saturate, FaultCommand.Build(), BuildSilo(), BuildClient()])
            compare.Subcommands.Add(command);
        return compare;
    }

    private static void AddRuns(Command command, HaloOptions defaults, string? json, string? html, Func<HaloOptions, HaloOptions[]> runs)
    {
        var table = new HaloOptionTable(defaults);
        table.AddTo(command);
        var output = new OutputOptions(command, json, html);
        command.SetAction((parsed, cancellation) => RunAsync(runs(table.Read(parsed)), table, output, parsed, cancellation));
    }

    private static Command BuildSilo()
    {
        var command = new Command("silo", "A silo process (started by the experiment).") { Hidden = true };
        var index = new Option<int>("--index") { Required = true };
        var port = new Option<int>("--port") { Required = true };
        var gateway = new Option<int>("--gateway") { Required = true };
        var primary = new Option<int>("--primary") { Required = true };
        foreach (var option in (Option<int>[])[index, port, gateway, primary])
            command.Options.Add(option);
        var journal = new Option<string?>("--journal");
        command.Options.Add(journal);
        var lease = new Option<double>("--lease");
        command.Options.Add(lease);
        var postgres = new Option<string?>("--postgres");
        command.Options.Add(postgres);
        var ledgers = new Option<string?>("--ledgers");
        command.Options.Add(ledgers);
        var keys = new Option<string?>("--keys");
        command.Options.Add(keys);
        var wrong = new Option<WrongSetting?>("--wrong");
        command.Options.Add(wrong);
        var table = new HaloOptionTable(new HaloOptions());
        table.AddTo(command);
        command.SetAction((parsed, _) => SiloChild.RunAsync(new SiloArguments(
            parsed.GetValue(index), parsed.GetValue(port), parsed.GetValue(gateway), parsed.GetValue(primary), table.Read(parsed),
                parsed.GetValue(journal), parsed.GetValue(lease), parsed.GetValue(postgres), parsed.GetValue(ledgers),
                parsed.GetValue(keys), parsed.GetValue(wrong))));
        return command;
    }

    private static Command BuildClient()
    {
        var command = new Command("client", "The load process (started by the experiment).") { Hidden = true };
        var gateways = new Option<string>("--gateways") { Required = true };
        command.Options.Add(gateways);
        var table = new HaloOptionTable(new HaloOptions());
        table.AddTo(command);
        command.SetAction((parsed, _) => ClientChild.RunAsync(
            table.Read(parsed), [.. parsed.GetValue(gateways)!.Split(',').Select(int.Parse)]));
        return command;
    }

    private static Task<int> RunAsync(
        HaloOptions[] runs, HaloOptionTable table, OutputOptions output, ParseResult parsed, CancellationToken cancellation) =>
        CommandRun.RunAsync(runs[0].FindError(), async () =>
        {
            var results = new List<RunResult>();
            foreach (var options in runs)
                results.Add(await RunOneAsync(options, table, cancellation).ConfigureAwait(false));
            ResultTable.Print(results);
            // One object for one run, a list for a comparison.
            if (results.Count == 1)
                output.Write(parsed, results[0], () => HtmlReport.Render(results));
            else
                output.Write(parsed, results, () => HtmlReport.Render(results));
            return 0;
        });

    private static async Task<RunResult> RunOneAsync(HaloOptions options, HaloOptionTable table, CancellationToken cancellation)
    {
        var timeline = new RunTimeline(options.Silos);
        var longest = SetupAndDrainLimit + TimeSpan.FromSeconds(options.Warmup + options.Measure + options.Saturate);
        string[] arguments = [.. table.Print(options)];
        var run = new ClusterRun<SiloSample, LoadReport>(timeline, longest, arguments, arguments);
        var work = run.ExecuteAsync(cancellation);
        await ProgressView.ForConsole().ShowAsync(OptimizeName.Of(options.Optimize.ToString().ToLowerInvariant()),
            () => RunProgress.Read(timeline), work).ConfigureAwait(false);
        await work.ConfigureAwait(false);
        return ResultAssembly.Assemble(options, timeline);
    }
}
