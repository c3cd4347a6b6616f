using System.CommandLine;
using ActOp.Bench.Calls;

namespace ActOp.Bench.Groups;

/// <summary>The command line of the experiments on groups.</summary>
internal static class GroupsCommand
{
    private static readonly Dictionary<string, Func<CallSettings, Action<Row>, Task>> Experiments = new()
    {
        ["noisy"] = NoisyTenant.Measure,
        ["overhead"] = GroupOverhead.Measure,
        ["message-time"] = GroupFigures.MeasureMessageTime,
        ["together"] = GroupFigures.MeasureTogether,
        ["actors"] = GroupFigures.MeasureActors,
        ["count"] = GroupFigures.MeasureCount,
        ["threads"] = GroupFigures.MeasureThreads,
        ["idle"] = IdleTime.Measure,
    };

    internal static Command Build()
    {
        var names = new Argument<string[]>("experiments")
        {
            Description = string.Join(", ", Experiments.Keys) + "; all when none is named.",
            Arity = ArgumentArity.ZeroOrMore,
        };
        var runs = new Option<int>("--runs") { Description = "Runs of each measurement.", DefaultValueFactory = _ => 3 };
        var seconds = new Option<double>("--seconds") { Description = "Length of one run.", DefaultValueFactory = _ => 3 };
        var json = new Option<string?>("--json") { Description = "File for the results as JSON." };
        var ignoreBars = new Option<bool>("--ignore-bars")
        {
            Description = "Succeed when a bar is missed too: for runs that are too short to judge by.",
        };
        var onlyEnds = new Option<bool>("--only-ends") { Description = "Of each figure only the first and the last point." };
        var command = new Command("groups", "Groups of grains that share a silo. Fails when a bar is missed.")
        {
            names, runs, seconds, json, ignoreBars, onlyEnds,
        };
        command.SetAction(async (parsed, _) =>
        {
            var chosen = parsed.GetValue(names) is { Length: > 0 } named ? named : [.. Experiments.Keys];
            if (chosen.FirstOrDefault(name => !Experiments.ContainsKey(name)) is { } unknown)
            {
                Console.Error.WriteLine("There is no experiment called " + unknown + ".");
                return 2;
            }

            var settings = new CallSettings(
                parsed.GetValue(runs), (int)(1000 * parsed.GetValue(seconds)), OnlyEnds: parsed.GetValue(onlyEnds));
            if (settings.Runs is < 1 or > 100 || settings.Milliseconds is < 100 or > 60_000)
            {
                Console.Error.WriteLine("--runs must be 1 to 100, --seconds 0.1 to 60.");
                return 2;
            }

            var isMet = await BenchCommands.Run(chosen.Select(static name => Experiments[name]), settings, parsed.GetValue(json));
            return isMet || parsed.GetValue(ignoreBars) ? 0 : 1;
        });
        return command;
    }
}
