using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Configuration;
using ActOp.Floors;

namespace ActOp.Bench.Calls;

/// <summary>
/// Throughput of short calls against the threads that run turns (Orleans report, section 5.1, figure 5): 100 pairs on one silo. Each round
/// has all numbers of threads, so that what the machine does meets all of them.
/// </summary>
internal static class WorkerThreads
{
    private const int Count = 100;
    private static readonly int[] Threads = [1, 2, 4, 8, 16, 32, 64];

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        var rates = Threads.ToDictionary(static threads => threads, static _ => new List<double>());
        for (var run = 0; run < settings.Runs; run++)
        {
            foreach (var threads in Threads)
                rates[threads].Add(await Rate(threads, settings.Milliseconds));
        }

        foreach (var threads in Threads)
            report(new Row($"pings, {threads} threads", "calls/s", Spread.Of(rates[threads]), Line: "pings", At: threads));
    }

    private static async Task<double> Rate(int threads, int milliseconds)
    {
        await using var silo = await BenchHost.StartSilo(locality: false, options =>
        {
            options.Controller = StageController.Fixed;
            options.WorkThreads = threads;
        });
        var pairs = Pairs.Numbered(Count);
        await Pairs.Run(silo.Grains, pairs, milliseconds, LoopTiming.None);
        return (await Pairs.Run(silo.Grains, pairs, milliseconds, LoopTiming.None)).Rate;
    }
}
