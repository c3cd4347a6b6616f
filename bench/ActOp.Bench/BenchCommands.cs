using System.CommandLine;
using ActOp.Bench.Attacks;
using ActOp.Bench.Calls;
using ActOp.Bench.Hosting;
using ActOp.Harness.Reports;

namespace ActOp.Bench;

/// <summary>The command line of the benchmarks.</summary>
internal static class BenchCommands
{
    private static readonly Dictionary<string, Func<CallSettings, Action<Row>, Task>> Measurements = new()
    {
        ["local"] = LocalCalls.Measure,
        ["hosted"] = HostedCalls.Measure,
        ["remote"] = RemoteCalls.Measure,
        ["client"] = ClientCalls.Measure,
        ["fanout"] = OtherCalls.FanOut,
        ["hot"] = OtherCalls.Hot,
        ["create"] = CreateCalls.Measure,
        ["edges"] = OtherCalls.Edges,
        ["measuring"] = OtherCalls.Measuring,
        ["tracing"] = TracedCalls.Measure,
        ["abandoned"] = AbandonedCalls.Measure,
        ["tokens"] = TokenCalls.Measure,
        ["items"] = Items.Measure,
        ["streams"] = StreamItems.Measure,
        ["masked"] = MaskedCalls.Measure,
        ["threads"] = WorkerThreads.Measure,
        ["isolation"] = IsolatedCalls.Measure,
    };

    internal static RootCommand Build()
    {
        var root = new RootCommand("Benchmarks of ActOp: calls beside the floors of this machine, and small parts of them.")
        {
            BuildCalls(),
            Fanout.FanoutCommand.Build(),
            Storage.StorageCommand.Build(),
            BuildReminders(),
            AttackCommand.Build(),
            Groups.GroupsCommand.Build(),
            Verify.VerifyCommand.Build(),
            BuildMicro(),
            BuildSilo(),
        };
        foreach (var process in AttackCommand.BuildProcesses())
            root.Subcommands.Add(process);
        return root;
    }

    private static Command BuildCalls()
    {
        var names = new Argument<string[]>("measurements")
        {
            Description = string.Join(", ", Measurements.Keys)
            + "; all when none is named.",
            Arity = ArgumentArity.ZeroOrMore
        };
        var runs = new Option<int>("--runs") { Description = "Runs of each measurement.", DefaultValueFactory = _ => 3 };
        var seconds = new Option<double>("--seconds") { Description = "Length of one run.", DefaultValueFactory = _ => 1 };
        var count = new Option<int?>("--count")
        {
            Description = "create: makes this many activations instead, and measures what they hold and how long collections pause.",
        };
        var tls = new Option<bool>("--tls") { Description = "remote: measures beside it the same over TLS, and what that costs." };
        var middleware = new Option<bool>("--middleware")
        {
            Description = "remote: measures beside it the same with connection middleware that changes nothing, and what that costs.",
        };
        var json = new Option<string?>("--json") { Description = "File for the results as JSON." };
        var ignoreBars =
            new Option<bool>(
                "--ignore-bars")
            { Description = "Succeed when a bar is missed too: for runs that are too short to judge speed by." };
        var command =
            new Command("calls",
                "Calls per second and their costs as multiples of the floors, measured beside them. Fails when a bar is missed.") { names,
                    runs, seconds, count, tls, middleware, json, ignoreBars };
        command.SetAction(async (parsed, _) =>
        {
            var chosen = parsed.GetValue(names) is { Length: > 0 } named ? named : [.. Measurements.Keys];
            if (chosen.FirstOrDefault(name => !Measurements.ContainsKey(name)) is { } unknown)
            {
                Console.Error.WriteLine("There is no measurement called " + unknown + ".");
                return 2;
            }

            var settings = new CallSettings(
                parsed.GetValue(runs), (int)(1000 * parsed.GetValue(seconds)), parsed.GetValue(count), parsed.GetValue(tls),
                parsed.GetValue(middleware));
            if (settings.Runs is < 1 or > 100 || settings.Milliseconds is < 10 or > 60_000 || settings.Count is < 1 or > 10_000_000)
            {
                Console.Error.WriteLine("--runs must be 1 to 100, --seconds 0.01 to 60, --count 1 to 10000000.");
                return 2;
            }

            var isMet = await Run(chosen.Select(static name => Measurements[name]), settings, parsed.GetValue(json));
            return isMet || parsed.GetValue(ignoreBars) ? 0 : 1;
        });
        return command;
    }

    /// <summary>Plays measurements one after the other, with their rows on the console. True when every bar was met.</summary>
    internal static async Task<bool> Run(
        IEnumerable<Func<CallSettings, Action<Row>, Task>> measurements, CallSettings settings, string? json)
    {
        var rows = new List<Row>();
        foreach (var measure in measurements)
        {
            await measure(settings, row =>
            {
                rows.Add(row);
                Console.WriteLine(row);
            });
        }

        if (json is not null)
            ReportFile.WriteJson(json, rows);
        return !rows.Exists(row => row.Met == false);
    }

    private static Command BuildReminders()
    {
        var count = new Option<int>("--count") { Description = "Reminders.", DefaultValueFactory = _ => 100_000 };
        var silos = new Option<int>("--silos") { Description = "Silos.", DefaultValueFactory = _ => 3 };
        var seconds = new Option<double>("--seconds") { Description = "Period of each reminder.", DefaultValueFactory = _ => 20 };
        var periods = new Option<int>("--periods") { Description = "How many periods are watched.", DefaultValueFactory = _ => 1 };
        var command =
            new Command("reminders", "Many reminders in one cluster, and how late they tick. Fails when one misses a tick.") { count, silos,
                seconds, periods };
        command.SetAction(async (parsed, _) => await ReminderRun.Run(new ReminderSettings(
            parsed.GetValue(count), parsed.GetValue(silos), TimeSpan.FromSeconds(parsed.GetValue(seconds)), parsed.GetValue(periods)))
                ? 0 : 1);
        return command;
    }

    private static Command BuildMicro()
    {
        var rest = new Argument<string[]>(
            "arguments")
        { Description = "Arguments of BenchmarkDotNet, for instance --filter *Codec*.", Arity = ArgumentArity.ZeroOrMore };
        var command = new Command("micro", "BenchmarkDotNet suites.") { rest };
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction(parsed => Micro.MicroSuites.Run([.. parsed.GetValue(rest) ?? [], .. parsed.UnmatchedTokens]));
        return command;
    }

    private static Command BuildSilo()
    {
        var port = new Option<int>("--port");
        var gateway = new Option<int>("--gateway");
        var primary = new Option<int>("--primary");
        var tls = new Option<string?>("--tls");
        var middleware = new Option<bool>("--middleware");
        var command = new Command(SiloProcess.Command, "A silo process (started by the measurements).")
        {
            port, gateway, primary, tls, middleware,
        };
        command.Hidden = true;
        command.SetAction((parsed, _) => SiloProcess.RunAsync(
            parsed.GetValue(port), parsed.GetValue(gateway), parsed.GetValue(primary),
            new SiloLinks(parsed.GetValue(tls), parsed.GetValue(middleware))));
        return command;
    }
}
