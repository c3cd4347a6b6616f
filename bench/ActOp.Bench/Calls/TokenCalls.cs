using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Floors;

namespace ActOp.Bench.Calls;

/// <summary>Calls between grains of one silo with a token that nobody cancels, beside calls without one.</summary>
internal static class TokenCalls
{
    private const int Count = 100;
    private const double MostCost = 1.3;

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        await using var silo = await BenchHost.StartSilo(locality: false);
        var pairs = Pairs.Numbered(Count);
        var rates = new double[settings.Runs];
        var plain = new double[settings.Runs];
        var costs = new double[settings.Runs];
        double bytes = 0;
        await Pairs.Run(silo.Grains, pairs, settings.Milliseconds, LoopTiming.None);
        await Pairs.Run(silo.Grains, pairs, settings.Milliseconds, LoopTiming.Token);
        for (var run = 0; run < settings.Runs; run++)
        {
            plain[run] = (await Pairs.Run(silo.Grains, pairs, settings.Milliseconds, LoopTiming.None)).Rate;
            var before = GC.GetTotalAllocatedBytes(true);
            var (rate, calls, _, _) = await Pairs.Run(silo.Grains, pairs, settings.Milliseconds, LoopTiming.Token);
            bytes = (double)(GC.GetTotalAllocatedBytes(true) - before) / calls;
            rates[run] = rate;
            costs[run] = plain[run] / rate;
        }

        var cost = Spread.Of(costs);
        report(new Row("local, without a token", "calls/s", Spread.Of(plain)));
        report(new Row("local, with a live token", "calls/s", Spread.Of(rates)));
        report(new Row("a token costs", "times", cost, null, "at most 1.3", cost.Median <= MostCost));
        report(new Row("local, with a live token, allocated", "bytes/call", new Spread(bytes, bytes, bytes), null, "0", bytes < 0.5));
    }
}
