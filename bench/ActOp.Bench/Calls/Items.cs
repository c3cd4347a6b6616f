using System.Diagnostics;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Floors;

namespace ActOp.Bench.Calls;

/// <summary>A million numbers from a grain of another process, one after the other.</summary>
internal static class Items
{
    private const int Count = 1_000_000;
    private const double Least = 2_000_000;

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        using var silo = SiloProcess.Start(null);
        await using var client = await BenchHost.StartClient(silo.Gateway);
        var grain = client.Grains.GetGrain<IEchoGrain>(1);
        await Run(grain);
        var rates = new double[settings.Runs];
        for (var run = 0; run < settings.Runs; run++)
            rates[run] = await Run(grain);
        var rate = Spread.Of(rates);
        report(new Row("a million items over the wire", "items/s", rate, null, "at least 2,000,000", rate.Median >= Least));
    }

    private static async Task<double> Run(IEchoGrain grain)
    {
        var start = Stopwatch.GetTimestamp();
        long sum = 0;
        await foreach (var number in grain.Numbers(Count))
            sum += number;
        return sum == (long)Count * (Count - 1) / 2
            ? Count / Stopwatch.GetElapsedTime(start).TotalSeconds
            : throw new InvalidOperationException("Items are missing.");
    }
}
