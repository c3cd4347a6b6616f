using ActOp.Bench.Calls;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Configuration;
using ActOp.Floors;

namespace ActOp.Bench.Groups;

/// <summary>What groups cost a silo whose grains call each other: no groups, one, and as many as pairs, measured in turn.</summary>
internal static class GroupOverhead
{
    private const int Count = 100;

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        var rates = Enumerable.Range(0, 3).Select(_ => new double[settings.Runs]).ToArray();
        for (var run = 0; run < settings.Runs; run++)
        {
            for (var kind = 0; kind < rates.Length; kind++)
                rates[kind][run] = await RateAsync(settings, kind);
        }

        var none = Spread.Of(rates[0]);
        report(new Row("100 pairs, no groups", "calls/s", none));
        report(new Row("100 pairs, one group", "calls/s", Spread.Of(rates[1]), none.Median / Spread.Of(rates[1]).Median));
        report(new Row("100 pairs, 100 groups", "calls/s", Spread.Of(rates[2]), none.Median / Spread.Of(rates[2]).Median));
    }

    private static async Task<double> RateAsync(CallSettings settings, int kind)
    {
        await using var silo = await BenchHost.StartSilo(locality: false, configure: kind == 0 ? null : builder => Add(builder, kind == 2));
        var pairs = Pairs.Numbered(Count);
        await Pairs.Run(silo.Grains, pairs, settings.Milliseconds / 4, LoopTiming.None);
        return (await Pairs.Run(silo.Grains, pairs, settings.Milliseconds, LoopTiming.None)).Rate;
    }

    private static void Add(ISiloBuilder silo, bool ofPairs) => silo.AddGroups(groups =>
    {
        groups.Add("default");
        if (!ofPairs)
            return;
        for (var pair = 0; pair < Count; pair++)
            groups.Add("pair" + pair);
        groups.Select = static (grain, context) => grain.TryGetIntegerKey(out var key, out _) ? "pair" + (key / 2) : null;
    });
}
