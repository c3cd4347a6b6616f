using System.Diagnostics;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Floors;
using ActOp.Harness.Load;

namespace ActOp.Bench.Calls;

/// <summary>
/// Calls from code of the silo's own process that is no grain, as a web request handler makes them: on threads of the pool.
/// </summary>
internal static class HostedCalls
{
    private const int Pausing = 16;

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        await using var silo = await BenchHost.StartSilo(locality: false);
        await Looping(silo.Grains, 1, settings, report);
        await Looping(silo.Grains, Pausing, settings, report);
        await WithPauses(silo.Grains, settings, report);
    }

    private static async Task Looping(IGrainFactory grains, int callers, CallSettings settings, Action<Row> report)
    {
        await Loop(grains, callers, settings.Milliseconds);
        var rates = new double[settings.Runs];
        var cores = new double[settings.Runs];
        for (var run = 0; run < settings.Runs; run++)
        {
            var busy = Environment.CpuUsage.TotalTime;
            var start = Stopwatch.GetTimestamp();
            var calls = await Loop(grains, callers, settings.Milliseconds);
            var seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
            rates[run] = calls / seconds;
            cores[run] = (Environment.CpuUsage.TotalTime - busy).TotalSeconds / seconds;
        }

        var name = "hosted, " + callers + (callers == 1 ? " caller" : " callers");
        report(new Row(name, "calls/s", Spread.Of(rates), null, callers == 1
            ? "at least 1,200,000" : null, callers == 1 ? Spread.Of(rates).Median >= 1_200_000 : null));
        report(new Row(name + ", processors", "cores", Spread.Of(cores)));
    }

    internal static async Task<long> Loop(IGrainFactory grains, int callers, int milliseconds)
    {
        var end = Environment.TickCount64 + milliseconds;
        return (await Task.WhenAll(Enumerable.Range(0, callers).Select(index => Task.Run(async () =>
        {
            var grain = grains.GetGrain<IEchoGrain>(index);
            long calls = 0;
            for (var value = 0; Environment.TickCount64 < end; calls++)
                value = await grain.Next(value);
            return calls;
        })))).Sum();
    }

    private static async Task WithPauses(IGrainFactory grains, CallSettings settings, Action<Row> report)
    {
        await Paused(grains, settings.Milliseconds);
        var medians = new double[settings.Runs];
        var tails = new double[settings.Runs];
        for (var run = 0; run < settings.Runs; run++)
        {
            var times = await Paused(grains, settings.Milliseconds);
            Array.Sort(times);
            medians[run] = times[times.Length / 2];
            tails[run] = times[(int)(times.Length * 0.99)];
        }

        var (median, tail) = (Spread.Of(medians), Spread.Of(tails));
        report(new Row("hosted, " + Pausing + " callers with 1 ms pauses, p50", "us", median, null, "at most 2", median.Median <= 2));
        report(new Row("hosted, " + Pausing + " callers with 1 ms pauses, p99", "us", tail, null, "at most 42", tail.Median <= 42));
    }

    /// <summary>The times of the calls in microseconds.</summary>
    private static Task<double[]> Paused(IGrainFactory grains, int milliseconds) => CallLoops.PausedAsync(
        Enumerable.Range(0, Pausing).Select(index => (Func<int, ValueTask<int>>)grains.GetGrain<IEchoGrain>(index).Next), milliseconds);
}
