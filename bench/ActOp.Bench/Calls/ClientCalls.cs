using System.Diagnostics;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Floors;

namespace ActOp.Bench.Calls;

/// <summary>Calls from an external client to a silo in another process.</summary>
internal static class ClientCalls
{
    private const int FrameBytes = 50;

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        using var silo = SiloProcess.Start(null);
        await using var client = await BenchHost.StartClient(silo.Gateway);
        foreach (var callers in new[] { 1, 128 })
        {
            await Run(client.Grains, callers, settings.Milliseconds);
            var rates = new double[settings.Runs];
            var ratios = new double[settings.Runs];
            for (var run = 0; run < settings.Runs; run++)
            {
                var floor = SocketFloor.Measure(FrameBytes, callers, 1, settings.Duration).EchoesPerSecond.Median;
                rates[run] = await Run(client.Grains, callers, settings.Milliseconds);
                ratios[run] = floor / rates[run];
            }

            report(new Row("client to silo, " + callers + (callers == 1 ? " caller" : " callers"), "calls/s", Spread.Of(rates), Spread.Of(ratios).Median));
        }
    }

    private static async Task<double> Run(IGrainFactory grains, int callers, int milliseconds)
    {
        var start = Stopwatch.GetTimestamp();
        var end = Environment.TickCount64 + milliseconds;
        var loops = new Task<long>[callers];
        for (var index = 0; index < callers; index++)
            loops[index] = Loop(grains.GetGrain<IEchoGrain>(index), end);
        var calls = (await Task.WhenAll(loops)).Sum();
        return calls / Stopwatch.GetElapsedTime(start).TotalSeconds;
    }

    private static async Task<long> Loop(IEchoGrain grain, long end)
    {
        long calls = 0;
        for (var value = 0; Environment.TickCount64 < end; calls++)
            value = await grain.Next(value).ConfigureAwait(false);
        return calls;
    }
}
