using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Floors;

namespace ActOp.Bench.Calls;

/// <summary>Calls between grains of one silo, beside channels.</summary>
internal static class LocalCalls
{
    private const int Count = 100;

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        await using var silo = await BenchHost.StartSilo(locality: false);
        var pinned = await Measure(silo, settings, oneCore: true, report);
        var free = await Measure(silo, settings, oneCore: false, report);
        var gain = free / pinned;
        report(new Row("local, both cores against pinned", "times", new Spread(gain, gain, gain), null, "at least 1.8", gain >= 1.8));
    }

    private static async Task<double> Measure(BenchHost silo, CallSettings settings, bool oneCore, Action<Row> report)
    {
        var name = "local, 100 pairs, " + (oneCore ? "one core" : "both cores");
        var pairs = Pairs.Numbered(Count);
        var rates = new double[settings.Runs];
        var floors = new double[settings.Runs];
        var ratios = new double[settings.Runs];
        double bytes = 0;
        double longest = 0;
        using var affinity = oneCore ? Affinity.OneCore() : Affinity.Unchanged();
        await Pairs.Run(silo.Grains, pairs, settings.Milliseconds, LoopTiming.None);
        for (var run = 0; run < settings.Runs; run++)
        {
            floors[run] = (await ChannelFloor.MeasureAsync(Count, oneCore: false, 1, settings.Duration)).RoundTripsPerSecond.Median;
            var before = GC.GetTotalAllocatedBytes(true);
            var (rate, calls, _, _) = await Pairs.Run(silo.Grains, pairs, settings.Milliseconds, LoopTiming.None);
            bytes = (double)(GC.GetTotalAllocatedBytes(true) - before) / calls;
            rates[run] = rate;
            ratios[run] = floors[run] / rate;
            longest = Math.Max(longest, (await Pairs.Run(silo.Grains, pairs, settings.Milliseconds, LoopTiming.Coarse)).MaxMilliseconds);
        }

        var ratio = Spread.Of(ratios).Median;
        report(new Row("floor: channel, " + (oneCore ? "one core" : "both cores"), "round trips/s", Spread.Of(floors)));
        report(new Row(name, "calls/s", Spread.Of(rates), ratio, oneCore ? "at most 1.5" : null, oneCore ? ratio <= 1.5 : null));
        report(new Row(name + ", allocated", "bytes/call", new Spread(bytes, bytes, bytes), null, "0", bytes < 0.5));
        report(new Row(name + ", longest call", "ms", new Spread(longest, longest, longest), null, "at most 50", longest <= 50));
        return Spread.Of(rates).Median;
    }
}
