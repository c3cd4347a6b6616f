using System.Diagnostics;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Configuration;
using ActOp.Floors;

namespace ActOp.Bench.Calls;

/// <summary>Shapes of local load other than pairs: fan-out, one hot grain, edge counting.</summary>
internal static class OtherCalls
{
    private const int Queued = 10_000;

    internal static async Task FanOut(CallSettings settings, Action<Row> report)
    {
        await using var silo = await BenchHost.StartSilo(locality: false);
        await Repeat("fan-out 1 to 8", "calls/s", settings, report, async () =>
        {
            var start = Stopwatch.GetTimestamp();
            var result = await silo.Grains.GetGrain<IEchoGrain>(0).FanOut(1, 8, settings.Milliseconds);
            return result.Calls / Stopwatch.GetElapsedTime(start).TotalSeconds;
        });
    }

    internal static async Task Hot(CallSettings settings, Action<Row> report)
    {
        await using var silo = await BenchHost.StartSilo(locality: false);
        var grain = silo.Grains.GetGrain<IEchoGrain>(0);
        await Repeat("one grain, 10,000 calls queued", "calls/s", settings, report, async () =>
        {
            long calls = 0;
            var start = Stopwatch.GetTimestamp();
            for (; Stopwatch.GetElapsedTime(start) < settings.Duration; calls += Queued)
            {
                var answers = new ValueTask<int>[Queued];
                for (var index = 0; index < Queued; index++)
                    answers[index] = grain.Next(index);
                foreach (var answer in answers)
                    await answer.ConfigureAwait(false);
            }

            return calls / Stopwatch.GetElapsedTime(start).TotalSeconds;
        });
    }

    internal static Task Edges(CallSettings settings, Action<Row> report) =>
        Cost("edge counting, throughput lost", 2, settings, report, static counts => BenchHost.StartSilo(locality: counts, OneWorker));

    internal static Task Measuring(CallSettings settings, Action<Row> report) =>
        Cost("measuring the stages, throughput lost", 1, settings, report,
            static measures => BenchHost.StartSilo(locality: false, options =>
        {
            OneWorker(options);
            options.Measure = measures;
        }));

    private static void OneWorker(StageOptions options)
    {
        options.Controller = StageController.Fixed;
        options.WorkThreads = 1;
    }

    /// <summary>
    /// The difference looked for is smaller than the noise of a run and than what tells one silo of a process from another. So it is the
    /// median over pairs of fresh silos, and within a pair over runs in the order with, without, without, with, which cancels drift. On one
    /// core and with one worker: two differ from run to run by more.
    /// </summary>
    private static async Task Cost(string name, double limit, CallSettings settings, Action<Row> report, Func<bool, Task<BenchHost>> start)
    {
        const int Silos = 3;
        using var affinity = Affinity.OneCore();
        var costs = new List<double>();
        for (var trial = 0; trial < Silos; trial++)
        {
            // The silo that starts first is the one with the cost in every other trial.
            await using var first = await start(trial % 2 == 0);
            await using var second = await start(trial % 2 != 0);
            var (with, without) = trial % 2 == 0 ? (first, second) : (second, first);
            // Until all code is compiled for good.
            for (var round = 0; round < (trial == 0 ? 8 : 2); round++)
                await Lost(with, without, settings.Milliseconds / 4);
            // Whole runs: a quarter of a second differs from the next by a third.
            for (var run = 0; run < settings.Runs; run++)
                costs.Add(await Lost(with, without, settings.Milliseconds));
        }

        var cost = Spread.Of([.. costs]);
        report(new Row(name, "%", cost, null, "at most " + limit, cost.Median <= limit));
    }

    private static async Task<double> Lost(BenchHost with, BenchHost without, int milliseconds)
    {
        double counted = 0;
        double plain = 0;
        foreach (var silo in new[] { with, without, without, with })
        {
            var rate = (await Pairs.Run(silo.Grains, Pairs.Numbered(100), milliseconds, LoopTiming.None)).Rate;
            (counted, plain) = silo == with ? (counted + rate, plain) : (counted, plain + rate);
        }

        return 100 * (1 - (counted / plain));
    }

    internal static async Task Repeat(string name, string unit, CallSettings settings, Action<Row> report, Func<Task<double>> run)
    {
        await run();
        var rates = new double[settings.Runs];
        for (var index = 0; index < rates.Length; index++)
            rates[index] = await run();
        report(new Row(name, unit, Spread.Of(rates)));
    }
}
