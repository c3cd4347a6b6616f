using System.CommandLine;
using System.Text.Json;
using HaloPresence.Children;
using HaloPresence.Faults;
using HaloPresence.Options;
using HaloPresence.Report;
using HaloPresence.Results;
using HaloPresence.Supervision;
using Spectre.Console;

namespace HaloPresence;

/// <summary>The command line.</summary>
public static class Commands
{
    /// <summary>Builds the root command: without a subcommand it runs the baseline and then ActOp.</summary>
    public static RootCommand Build()
    {
        var compare = new RootCommand("Halo Presence (ActOp paper, section 6.1) on this machine: random placement, then ActOp, beside the paper's figures. Under 5 minutes by default.");
        // Both runs, starts and stops fit in five minutes.
        var table = new OptionTable(new HaloOptions { Saturate = 10 });
        table.AddTo(compare);
        Output output = AddOutput(compare, "halo.json", "halo.html");
        compare.SetAction((parsed, cancellation) => RunAsync(
            [table.Read(parsed) with { Optimize = OptimizeMode.Off }, table.Read(parsed) with { Optimize = OptimizeMode.Partition }],
            table, output.Read(parsed), cancellation));
        compare.Subcommands.Add(BuildRun("run", "One run under open-loop load.", new HaloOptions()));
        compare.Subcommands.Add(BuildRun("saturate", "One run in a closed loop: the peak throughput.", new HaloOptions { Measure = 0, Saturate = 30 }));
        compare.Subcommands.Add(FaultCommand.Build());
        compare.Subcommands.Add(BuildSilo());
        compare.Subcommands.Add(BuildClient());
        return compare;
    }

    private static Command BuildRun(string name, string text, HaloOptions defaults)
    {
        var command = new Command(name, text);
        var table = new OptionTable(defaults);
        table.AddTo(command);
        Output output = AddOutput(command, null, null);
        command.SetAction((parsed, cancellation) => RunAsync([table.Read(parsed)], table, output.Read(parsed), cancellation));
        return command;
    }

    private static Command BuildSilo()
    {
        var command = new Command("silo", "A silo process (started by the experiment).") { Hidden = true };
        var index = new Option<int>("--index") { Required = true };
        var port = new Option<int>("--port") { Required = true };
        var gateway = new Option<int>("--gateway") { Required = true };
        var primary = new Option<int>("--primary") { Required = true };
        foreach (Option<int> option in (Option<int>[])[index, port, gateway, primary])
            command.Options.Add(option);
        var journal = new Option<string?>("--journal");
        command.Options.Add(journal);
        var table = new OptionTable(new HaloOptions());
        table.AddTo(command);
        command.SetAction((parsed, _) => SiloChild.RunAsync(new SiloArguments(
            parsed.GetValue(index), parsed.GetValue(port), parsed.GetValue(gateway), parsed.GetValue(primary), table.Read(parsed), parsed.GetValue(journal))));
        return command;
    }

    private static Command BuildClient()
    {
        var command = new Command("client", "The load process (started by the experiment).") { Hidden = true };
        var gateways = new Option<string>("--gateways") { Required = true };
        command.Options.Add(gateways);
        var table = new OptionTable(new HaloOptions());
        table.AddTo(command);
        command.SetAction((parsed, _) => ClientChild.RunAsync(
            table.Read(parsed), [.. parsed.GetValue(gateways)!.Split(',').Select(int.Parse)]));
        return command;
    }

    private static async Task<int> RunAsync(HaloOptions[] runs, OptionTable table, (string? Json, string? Html) files, CancellationToken cancellation)
    {
        if (runs[0].FindError() is { } error)
        {
            Console.Error.WriteLine(error);
            return 2;
        }
        var results = new List<RunResult>();
        try
        {
            foreach (HaloOptions options in runs)
                results.Add(await RunOneAsync(options, table, cancellation).ConfigureAwait(false));
        }
        catch (Exception failure) when (failure is InvalidOperationException or TimeoutException)
        {
            Console.Error.WriteLine(failure.Message);
            return 1;
        }
        catch (OperationCanceledException)
        {
            Console.Error.WriteLine("Stopped; the child processes have ended.");
            return 130;
        }
        if (Console.IsOutputRedirected)
            AnsiConsole.Profile.Width = 160;
        ResultTable.Print(AnsiConsole.Console, results);
        Write(results, files);
        return 0;
    }

    private static async Task<RunResult> RunOneAsync(HaloOptions options, OptionTable table, CancellationToken cancellation)
    {
        _ = Backends.For(options);
        var run = new ClusterRun(options, table);
        IProgressView view = Console.IsOutputRedirected ? new PlainView(Console.Out) : new LiveView();
        Task work = run.ExecuteAsync(cancellation);
        await view.ShowAsync(options.Optimize == OptimizeMode.Off ? "random placement" : "ActOp", run.Timeline, work).ConfigureAwait(false);
        await work.ConfigureAwait(false);
        return ResultAssembly.Assemble(options, run.Timeline);
    }

    private static void Write(List<RunResult> results, (string? Json, string? Html) files)
    {
        if (files.Json is { } json)
        {
            // One object for one run, a list for a comparison.
            string text = results.Count == 1
                ? JsonSerializer.Serialize(results[0], JsonLines.File)
                : JsonSerializer.Serialize(results, JsonLines.File);
            File.WriteAllText(json, text);
            Console.WriteLine($"JSON: {Path.GetFullPath(json)}");
        }
        if (files.Html is { } html)
        {
            File.WriteAllText(html, HtmlReport.Render(results));
            Console.WriteLine($"Report: {Path.GetFullPath(html)}");
        }
    }

    private static Output AddOutput(Command command, string? json, string? html)
    {
        var output = new Output(
            new Option<string?>("--json") { Description = "File for the results as JSON.", DefaultValueFactory = _ => json },
            new Option<string?>("--html") { Description = "File for the report with charts.", DefaultValueFactory = _ => html });
        command.Options.Add(output.Json);
        command.Options.Add(output.Html);
        return output;
    }

    private sealed record Output(Option<string?> Json, Option<string?> Html)
    {
        public (string? Json, string? Html) Read(ParseResult parsed) => (parsed.GetValue(Json), parsed.GetValue(Html));
    }
}
