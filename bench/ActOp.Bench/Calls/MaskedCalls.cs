using System.Diagnostics;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Configuration;
using ActOp.Floors;

namespace ActOp.Bench.Calls;

/// <summary>
/// Throughput of requests that wait for something outside, against how long they wait (Orleans report, section 5.1, figure 4): 1,000 grains
/// under a load that saturates the silo. Beside it the same with a thread held for the wait.
/// </summary>
internal static class MaskedCalls
{
    private const int Grains = 1000;

    /// <summary>So many that a wait of 100 ms alone would allow half a million requests per second.</summary>
    private const int Waiting = 50 * Grains;

    /// <summary>Each of them takes a thread for the wait; those in the queue must end after the measurement.</summary>
    private const int Blocking = 64;

    private static readonly int[] Waits = [1, 2, 5, 10, 20, 50, 100];

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        await Measure(settings, report, "asynchronous", null, Waiting, static (grain, wait) => grain.Await(wait));
        await Measure(
            settings, report, "blocking, a thread per processor", static options => options.Controller = StageController.Fixed, Blocking,
            static (grain, wait) => grain.Block(wait));
        await Measure(
            settings, report, "blocking, threads by the model", static options => options.Controller = StageController.Model, Blocking,
            static (grain, wait) => grain.Block(wait));
    }

    private static async Task Measure(
        CallSettings settings, Action<Row> report, string line, Action<StageOptions>? stages, int callers,
        Func<IMaskGrain, int, ValueTask> call)
    {
        await using var silo = await BenchHost.StartSilo(locality: false, stages);
        var grains = Enumerable.Range(0, Grains).Select(key => silo.Grains.GetGrain<IMaskGrain>(key)).ToArray();
        await Rate(grains, callers, settings.Duration, grain => call(grain, Waits[0]));
        foreach (var wait in Waits)
        {
            var rates = new double[settings.Runs];
            for (var run = 0; run < rates.Length; run++)
                rates[run] = await Rate(grains, callers, Longer(settings.Duration, wait, callers), grain => call(grain, wait));
            report(new Row($"{line}, {wait} ms", "requests/s", Spread.Of(rates), Line: line, At: wait));
        }
    }

    /// <summary>Some waits must fit into a measurement, and some answers to each caller.</summary>
    private static TimeSpan Longer(TimeSpan length, int wait, int callers) =>
        TimeSpan.FromMilliseconds(Math.Max(length.TotalMilliseconds, Math.Max(8 * wait, 0.005 * callers)));

    /// <summary>
    /// Answers per second from <paramref name="length"/> after all callers have called, when the silo is full, for as long again; longer
    /// until a tenth of the callers have an answer: on a busy machine there may be none before.
    /// </summary>
    private static async Task<double> Rate(IMaskGrain[] grains, int callers, TimeSpan length, Func<IMaskGrain, ValueTask> call)
    {
        var (begin, counted, took) = (long.MaxValue, 0L, 0L);
        var loops = new Task[callers];
        for (var caller = 0; caller < callers; caller++)
            loops[caller] = CallAsync(grains[caller % grains.Length]);
        Volatile.Write(ref begin, Stopwatch.GetTimestamp());
        await Task.WhenAll(loops);
        return counted / TimeSpan.FromTicks(took).TotalSeconds;

        async Task CallAsync(IMaskGrain grain)
        {
            while (Volatile.Read(ref took) == 0)
            {
                await call(grain).ConfigureAwait(false);
                var counts = Stopwatch.GetElapsedTime(Volatile.Read(ref begin)) - length;
                if (counts < TimeSpan.Zero || Volatile.Read(ref took) != 0)
                    continue;
                if (Interlocked.Increment(ref counted) >= callers / 10 && counts >= length)
                    Interlocked.CompareExchange(ref took, counts.Ticks, 0);
            }
        }
    }
}
