using System.Diagnostics;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Floors;

namespace ActOp.Bench.Calls;

/// <summary>Activations that their first call creates, in one silo: how many a second, and what a number of idle ones holds.</summary>
internal static class CreateCalls
{
    private const int Callers = 64;

    private static readonly TimeSpan LongestStop = TimeSpan.FromMinutes(1);

    /// <summary>Between two looks whether there was another collection: shorter than collections are apart.</summary>
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(1);

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        if (settings.Count is { } count)
        {
            for (var run = 0; run < settings.Runs; run++)
                await Many(count, report);
            return;
        }

        await using var silo = await BenchHost.StartSilo(locality: false);
        long key = 0;
        await OtherCalls.Repeat("activations created by their first call", "per s", settings, report, async () =>
        {
            var first = key;
            var start = Stopwatch.GetTimestamp();
            var end = Environment.TickCount64 + settings.Milliseconds;
            await InParallel(async () =>
            {
                while (Environment.TickCount64 < end)
                    await silo.Grains.GetGrain<IEchoGrain>(Interlocked.Increment(ref key)).Next(0).ConfigureAwait(false);
            });
            return (key - first) / Stopwatch.GetElapsedTime(start).TotalSeconds;
        });
    }

    private static async Task Many(int count, Action<Row> report)
    {
        await using var silo = await BenchHost.StartSilo(locality: false);
        long key = 0;
        long last = 20_000;
        // Until the code is compiled.
        await InParallel(Loop);
        var before = GC.GetTotalMemory(forceFullCollection: true);
        using var done = new CancellationTokenSource();
        var pauses = Pauses(done.Token);
        (last, var first) = (key + count, key);
        var allocated = GC.GetTotalAllocatedBytes();
        var start = Stopwatch.GetTimestamp();
        await InParallel(Loop);
        allocated = GC.GetTotalAllocatedBytes() - allocated;
        var seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        await done.CancelAsync();
        var bytes = GC.GetTotalMemory(forceFullCollection: true) - before;
        var (longest, share, collections) = await pauses;
        var made = Math.Max(1, silo.Node.Activations.Count - (int)first);
        report(One("activations made", "", made));
        report(One("activations created by their first call", "per s", count / seconds));
        report(One("allocated for an activation", "B", (double)allocated / made));
        report(One("heap of an idle activation", "B", (double)bytes / made));
        report(One("longest pause of a collection", "ms", longest));
        report(One("pauses, share of the time", "%", share));
        report(One("collections of a second", "", collections / seconds));
        start = Stopwatch.GetTimestamp();
        await silo.StopAsync(LongestStop);
        report(One("activations ended by the stop", "per s", made / Stopwatch.GetElapsedTime(start).TotalSeconds));

        async Task Loop()
        {
            while (Interlocked.Increment(ref key) is var next && next <= last)
                await silo.Grains.GetGrain<IEchoGrain>(next).Next(0).ConfigureAwait(false);
            Interlocked.Decrement(ref key);
        }
    }

    private static Row One(string name, string unit, double value) => new(name, unit, Spread.Of([value]));

    private static Task InParallel(Func<Task> loop) => Task.WhenAll(Enumerable.Range(0, Callers).Select(_ => loop()));

    /// <summary>
    /// Watches the collections until it is cancelled: the longest pause seen in ms, the share of the time paused, and how many there were.
    /// </summary>
    private static async Task<(double Longest, double Share, int Collections)> Pauses(CancellationToken done)
    {
        var (start, paused, first) = (Stopwatch.GetTimestamp(), GC.GetTotalPauseDuration(), GC.CollectionCount(0));
        var longest = TimeSpan.Zero;
        for (var seen = paused; !done.IsCancellationRequested; seen = GC.GetTotalPauseDuration())
        {
            await Task.Delay(Look, done).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            // What two collections between two looks took counts as one pause.
            if (GC.GetTotalPauseDuration() - seen is var pause && pause > longest)
                longest = pause;
        }

        var share = (GC.GetTotalPauseDuration() - paused) / Stopwatch.GetElapsedTime(start);
        return (longest.TotalMilliseconds, 100 * share, GC.CollectionCount(0) - first);
    }
}
