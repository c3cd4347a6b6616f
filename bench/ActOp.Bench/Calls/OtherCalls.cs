using System.Diagnostics;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Floors;

namespace ActOp.Bench.Calls;

/// <summary>Shapes of local load other than pairs: fan-out, one hot grain, creation of activations, edge counting.</summary>
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

    internal static async Task Create(CallSettings settings, Action<Row> report)
    {
        await using var silo = await BenchHost.StartSilo(locality: false);
        long key = 0;
        await Repeat("activations created by their first call", "per s", settings, report, async () =>
        {
            var first = key;
            var start = Stopwatch.GetTimestamp();
            var end = Environment.TickCount64 + settings.Milliseconds;
            var loops = new Task[64];
            for (var index = 0; index < loops.Length; index++)
                loops[index] = Loop();
            await Task.WhenAll(loops);
            return (key - first) / Stopwatch.GetElapsedTime(start).TotalSeconds;

            async Task Loop()
            {
                while (Environment.TickCount64 < end)
                    await silo.Grains.GetGrain<IEchoGrain>(Interlocked.Increment(ref key)).Next(0).ConfigureAwait(false);
            }
        });
    }

    internal static async Task Edges(CallSettings settings, Action<Row> report)
    {
        await using var with = await BenchHost.StartSilo(locality: true);
        await using var without = await BenchHost.StartSilo(locality: false);
        var pairs = Pairs.Numbered(100);
        // On one core: two differ from run to run by more than what is looked for. And until all code is compiled for good.
        using var affinity = Affinity.OneCore();
        for (var round = 0; round < 4; round++)
        {
            foreach (var silo in new[] { with, without })
                await Pairs.Run(silo.Grains, pairs, settings.Milliseconds, LoopTiming.None);
        }

        // Odd and many: the difference looked for is smaller than the noise of one run.
        var costs = new double[(4 * settings.Runs) + 1];
        for (var run = 0; run < costs.Length; run++)
        {
            var order = run % 2 == 0 ? (with, without) : (without, with);
            var first = (await Pairs.Run(order.Item1.Grains, pairs, settings.Milliseconds / 2, LoopTiming.None)).Rate;
            var second = (await Pairs.Run(order.Item2.Grains, pairs, settings.Milliseconds / 2, LoopTiming.None)).Rate;
            costs[run] = 100 * (run % 2 == 0 ? 1 - (first / second) : 1 - (second / first));
        }

        var cost = Spread.Of(costs);
        report(new Row("edge counting, throughput lost", "%", cost, null, "at most 2", cost.Median <= 2));
    }

    private static async Task Repeat(string name, string unit, CallSettings settings, Action<Row> report, Func<Task<double>> run)
    {
        await run();
        var rates = new double[settings.Runs];
        for (var index = 0; index < rates.Length; index++)
            rates[index] = await run();
        report(new Row(name, unit, Spread.Of(rates)));
    }
}
