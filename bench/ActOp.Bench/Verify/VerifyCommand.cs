using System.CommandLine;
using System.Globalization;
using ActOp.Bench.Calls;
using ActOp.Floors;
using ActOp.Planted;
using ActOp.Testing;

namespace ActOp.Bench.Verify;

/// <summary>A small grain of the experiment.</summary>
public interface ICounted : IGrainWithIntegerKey
{
    /// <summary>How often it was called.</summary>
    Task<int> Count();
}

/// <summary>See <see cref="ICounted"/>.</summary>
internal sealed class CountedGrain : Grain, ICounted
{
    private int _count;

    public Task<int> Count() => Task.FromResult(++_count);
}

/// <summary>How fast <see cref="Simulation"/> plays tests of an application: times are those of the processor.</summary>
internal static class VerifyCommand
{
    /// <summary>500 seeds of a test of the samples within 20 s.</summary>
    private const double MostMilliseconds = 40;
    private const double LeastCalls = 300_000;
    private const int Grains = 100;

    private static readonly SimulationBudget Budget = new() { Steps = long.MaxValue, CompareEvery = 0 };

    internal static Command Build()
    {
        var runs = new Option<int>("--runs") { Description = "Runs of each measurement.", DefaultValueFactory = _ => 3 };
        var seeds = new Option<int>("--seeds") { Description = "Simulations of a run that only start.", DefaultValueFactory = _ => 50 };
        var calls = new Option<int>("--calls") { Description = "Calls in a simulation.", DefaultValueFactory = _ => 200_000 };
        var json = new Option<string?>("--json") { Description = "File for the results as JSON." };
        var bars = new Option<bool>("--ignore-bars") { Description = "Succeed when a bar is missed too." };
        var command = new Command("verify", "How fast simulations of an application's grains are. Fails when a bar is missed.")
        {
            runs, seeds, calls, json, bars, PlantedCommand.Build(), PlantedCommand.BuildOmissions(), BuildHash(),
        };
        command.SetAction(async (parsed, _) =>
        {
            var (repeats, starts, count) = (parsed.GetValue(runs), parsed.GetValue(seeds), parsed.GetValue(calls));
            if (repeats is < 1 or > 100 || starts is < 1 or > 10_000 || count is < Grains or > 100_000_000)
            {
                Console.Error.WriteLine("--runs must be 1 to 100, --seeds 1 to 10000, --calls 100 to 100000000.");
                return 2;
            }

            Func<CallSettings, Action<Row>, Task>[] measurements =
            [
                async (settings, write) => write(await StartsAsync(settings.Runs, starts)),
                async (settings, write) => write(await CallsAsync(settings.Runs, count)),
            ];
            return await BenchCommands.Run(measurements, new CallSettings(repeats, 0), parsed.GetValue(json)) || parsed.GetValue(bars) ? 0 : 1;
        });
        return command;
    }

    private static Command BuildHash()
    {
        var seeds = new Option<int>("--seeds") { Description = "Simulations of each test.", DefaultValueFactory = _ => 10 };
        var command = new Command("hash", "Prints hashes over the histories of grains without the planted faults: to compare machines.")
        {
            seeds,
        };
        command.SetAction(async (parsed, _) =>
        {
            var count = parsed.GetValue(seeds);
            if (count is < 1 or > 10_000)
            {
                Console.Error.WriteLine("--seeds must be 1 to 10000.");
                return 2;
            }

            foreach (var fault in PlantedFault.All)
            {
                var report = await Simulation.Explore(count, fault.Sound, Budget);
                Console.WriteLine(string.Create(
                    CultureInfo.InvariantCulture, $"{fault.Name,-40} {report.Runs,6} runs {report.Steps,9} steps {report.Hash:x16}"));
            }

            return 0;
        });
        return command;
    }

    private static async Task<Row> StartsAsync(int runs, int seeds)
    {
        var time = await MeasureAsync(runs, async () =>
        {
            await Simulation.Explore(seeds, static world => world.Start(), Budget);
            return seeds;
        });
        var each = Spread.Of([.. time.Select(static one => 1000 * one.Seconds / one.Done)]);
        return new Row("a simulation that starts three silos and a client", "ms", each, null, "at most " + MostMilliseconds,
            each.Median <= MostMilliseconds);
    }

    /// <summary>The start of the cluster is counted with the calls.</summary>
    private static async Task<Row> CallsAsync(int runs, int count)
    {
        var time = await MeasureAsync(runs, async () =>
            (await Simulation.Explore(1, world => CallAsync(world, count / Grains), Budget)).Calls);
        var rate = Spread.Of([.. time.Select(static one => one.Done / one.Seconds)]);
        return new Row("simulated calls of small grains", "calls/s", rate, null, "at least 300,000", rate.Median >= LeastCalls);
    }

    private static async Task CallAsync(SimulationWorld world, int each)
    {
        await world.Start();
        await Task.WhenAll(Enumerable.Range(0, Grains).Select(async key =>
        {
            var grain = world.Grains.GetGrain<ICounted>(key);
            var last = 0;
            for (var call = 0; call < each; call++)
                last = await grain.Count();
            world.Check(last == each, "A call was lost.");
        }));
    }

    /// <summary>The first time compiles the code.</summary>
    private static async Task<List<(double Seconds, double Done)>> MeasureAsync(int runs, Func<Task<double>> play)
    {
        var times = new List<(double, double)>();
        for (var run = 0; run <= runs; run++)
        {
            var before = Environment.CpuUsage.TotalTime;
            var done = await play();
            if (run > 0)
                times.Add(((Environment.CpuUsage.TotalTime - before).TotalSeconds, done));
        }

        return times;
    }
}
