using System.CommandLine;
using ActOp.Bench.Calls;
using ActOp.Floors;
using ActOp.Planted;
using ActOp.Testing;

namespace ActOp.Bench.Verify;

/// <summary>What <see cref="Simulation"/> finds of the faults that were planted, and how small it makes the failures.</summary>
internal static class PlantedCommand
{
    private const int MostFaults = 5;
    private const int MostCommands = 12;

    internal static Command Build()
    {
        var seeds = new Option<int>("--seeds") { Description = "Seeds for each fault.", DefaultValueFactory = _ => PlantedFault.MostSeeds };
        var passed = new Option<int>("--passed") { Description = "Seeds of the grains without the fault.", DefaultValueFactory = _ => 50 };
        var only = new Option<string[]>("--fault")
        {
            Description = "Faults by name; all if none is named.",
            AllowMultipleArgumentsPerToken = true,
        };
        var json = new Option<string?>("--json") { Description = "File for the results as JSON." };
        var command = new Command("planted", "Finds planted faults of grains. Fails when one is not found, or when sound grains fail.")
        {
            seeds, passed, only, json,
        };
        command.SetAction(async (parsed, _) =>
        {
            var names = parsed.GetValue(only) ?? [];
            var unknown = names.Except(PlantedFault.All.Select(static one => one.Name)).ToArray();
            if (unknown.Length > 0 || parsed.GetValue(seeds) is < 1 or > 1_000_000 || parsed.GetValue(passed) is < 1 or > 1_000_000)
            {
                Console.Error.WriteLine(unknown.Length > 0
                    ? "Unknown: " + string.Join(", ", unknown) + ". There are: "
                        + string.Join(", ", PlantedFault.All.Select(static one => one.Name)) + "."
                    : "--seeds and --passed must be 1 to 1000000.");
                return 2;
            }

            return await BenchCommands.Run(
                PlantedFault.All.Where(one => names.Length == 0 || names.Contains(one.Name)).Select(fault => Measurement(
                    write => FindAsync(fault, parsed.GetValue(seeds), parsed.GetValue(passed), write))),
                new CallSettings(1, 0), parsed.GetValue(json)) ? 0 : 1;
        });
        return command;
    }

    internal static Command BuildOmissions()
    {
        var most = new Option<int>("--schedules") { Description = "Sets of lost messages for each.", DefaultValueFactory = _ => 5000 };
        var json = new Option<string?>("--json") { Description = "File for the results as JSON." };
        var bars = new Option<bool>("--ignore-bars") { Description = "Succeed when a bar is missed too." };
        var command = new Command("omissions", "Plays commits of transactions with all sets of lost messages, and counts those that fail.")
        {
            most, json, bars,
        };
        command.SetAction(async (parsed, _) =>
        {
            if (parsed.GetValue(most) is < 1 or > 1_000_000)
            {
                Console.Error.WriteLine("--schedules must be 1 to 1000000.");
                return 2;
            }

            PlantedFault[] commits = [CommitFaults.TwoPhases, CommitFaults.WithTermination, CommitFaults.ThreePhases];
            return await BenchCommands.Run(
                commits.Select(commit => Measurement(write => CountAsync(commit, parsed.GetValue(most), write))), new CallSettings(1, 0),
                parsed.GetValue(json)) || parsed.GetValue(bars) ? 0 : 1;
        });
        return command;
    }

    private static Func<CallSettings, Action<Row>, Task> Measurement(Func<Action<Row>, Task> measure) => (_, write) => measure(write);

    private static async Task FindAsync(PlantedFault fault, int seeds, int passed, Action<Row> write)
    {
        try
        {
            await Simulation.Explore(seeds, fault.Faulty, PlantedFault.Patient);
            write(One(fault.Name + ": NOT found", "seeds", seeds, "found", met: false));
        }
        catch (SimulationException found) when (found.Failure.Contains(fault.Failure, StringComparison.Ordinal))
        {
            write(One(
                fault.Name + ": found with seed", "", found.Seed, "at most " + PlantedFault.MostSeeds, found.Seed <= PlantedFault.MostSeeds));
            write(One(fault.Name + ": faults left", "", found.FaultCount, "at most " + MostFaults, found.FaultCount <= MostFaults));
            write(One(
                fault.Name + ": commands left", "", found.CommandCount, "at most " + MostCommands, found.CommandCount <= MostCommands));
        }

        try
        {
            await Simulation.Explore(passed, fault.Sound, PlantedFault.Patient);
            write(One(fault.Name + ": seeds that the sound grains pass", "", passed, "all", met: true));
        }
        catch (SimulationException failure)
        {
            Console.WriteLine(failure.Message);
            write(One(fault.Name + ": sound grains FAIL with seed", "", failure.Seed, "none", met: false));
        }
    }

    private static async Task CountAsync(PlantedFault commit, int most, Action<Row> write)
    {
        var faulty = await Simulation.ExploreOmissions(commit.Faulty, most, countAll: true, PlantedFault.Patient);
        write(One(commit.Name + ": sets of lost messages" + (faulty.IsComplete ? "" : ", not all"), "", faulty.Schedules));
        write(One(commit.Name + ": of them fail", "", faulty.Failures, "at least 1", faulty.Failures > 0));
        write(One(commit.Name + ": losses in the smallest", "", faulty.First?.FaultCount ?? 0));
        var sound = await Simulation.ExploreOmissions(commit.Sound, most, countAll: true, PlantedFault.Patient);
        write(One(commit.Name + ": without the fault, of " + sound.Schedules + " fail", "", sound.Failures, "none", sound.Failures == 0));
    }

    private static Row One(string name, string unit, double value, string? bar = null, bool? met = null) =>
        new(name, unit, Spread.Of([value]), null, bar, met);
}
