using System.Diagnostics;
using ActOp.Harness.Load;

namespace ActOp.Peers.Shapes;

/// <summary>Calls in all positions: from the process of the silo, between grains, between silos, from a client.</summary>
internal static class CallShapes
{
    private const int Batch = 64;
    private const int Pausing = 16;
    private const double OpenShare = 0.3;

    internal static async Task HostedAsync(ShapeRun run)
    {
        await using var silo = await run.StartSiloHereAsync();
        foreach (var callers in (int[])[1, 100])
        {
            await LoopAsync(silo, callers, run.Milliseconds);
            run.Rate("hosted, " + Callers(callers), "calls/s", await LoopAsync(silo, callers, run.Milliseconds));
        }

        var echoes = Echoes(silo, Pausing);
        await CallLoops.PausedAsync(echoes, run.Milliseconds);
        var times = await CallLoops.PausedAsync(echoes, run.Milliseconds);
        Array.Sort(times);
        run.Cost("hosted, 16 callers after a pause of 1 ms, p50", "us", times[times.Length / 2]);
        run.Cost("hosted, 16 callers after a pause of 1 ms, p99", "us", times[(int)(times.Length * 0.99)]);
    }

    internal static async Task PairsAsync(ShapeRun run)
    {
        await using var silo = await run.StartSiloHereAsync();
        foreach (var count in (int[])[1, 2, 100])
        {
            var pairs = Enumerable.Range(0, count).Select(static index => (2L * index, (2L * index) + 1)).ToArray();
            await PairsAsync(silo, pairs, run.Milliseconds, false);
            run.Rate("one silo, " + Pairs(count), "calls/s", (await PairsAsync(silo, pairs, run.Milliseconds, false)).Rate);
            if (count == 100)
            {
                run.Cost("one silo, 100 pairs, longest call", "ms",
                    (await PairsAsync(silo, pairs, run.Milliseconds, true)).Loops.Max(static loop => loop.LongestMilliseconds));
            }
        }
    }

    internal static async Task SilosAsync(ShapeRun run)
    {
        var most = run.IsShort ? 128 : 1024;
        var silos = await run.StartSilosAsync(2);
        await using var client = await run.Runtime.StartClientAsync(silos);
        var pairs = await SplitAsync(client, most);
        foreach (var count in (int[])[1, 128, most])
        {
            await PairsAsync(client, pairs[..count], run.Milliseconds, count == 1);
            var cpu = run.SiloCpu;
            var (rate, loops) = await PairsAsync(client, pairs[..count], run.Milliseconds, count == 1);
            run.Rate("two silos, " + Pairs(count), "calls/s", rate);
            if (count == 1)
                run.Cost("two silos, 1 pair, p50", "us", loops[0].MedianMicroseconds);
            if (count == 128)
            {
                run.Cost("two silos, 128 pairs, processor time of a call", "us",
                    (run.SiloCpu - cpu).TotalMicroseconds / loops.Sum(static loop => loop.Calls));
            }

            if (count == most)
                break;
        }
    }

    internal static async Task ClientAsync(ShapeRun run)
    {
        var silos = await run.StartSilosAsync(1);
        await using var client = await run.Runtime.StartClientAsync(silos);
        double rate = 0;
        foreach (var callers in (int[])[1, 128])
        {
            await LoopAsync(client, callers, run.Milliseconds);
            rate = await LoopAsync(client, callers, run.Milliseconds);
            run.Rate("client, " + Callers(callers), "calls/s", rate);
        }

        var echoes = Echoes(client, 1000);
        var next = 0;
        await OpenLoopAsync(rate * OpenShare, run.Length, () => echoes[Interlocked.Increment(ref next) % echoes.Length](1));
        var (latency, _) = await OpenLoopAsync(
            rate * OpenShare, run.Length, () => echoes[Interlocked.Increment(ref next) % echoes.Length](1));
        run.Cost("client, open loop at 30 % of its own rate, p50", "ms", latency.P50);
        run.Cost("client, open loop at 30 % of its own rate, p99", "ms", latency.P99);
        run.Cost("client, open loop at 30 % of its own rate, p99.9", "ms", latency.P999);
        var same = run.IsShort ? 1_000 : 10_000;
        (latency, _) = await OpenLoopAsync(same, run.Length, () => echoes[Interlocked.Increment(ref next) % echoes.Length](1));
        run.Cost("client, open loop at 10,000/s, p50", "ms", latency.P50);
        run.Cost("client, open loop at 10,000/s, p99", "ms", latency.P99);
    }

    /// <summary>Asks at the rate, however long answers take; latency counts from the intended start.</summary>
    internal static async Task<(LatencySummary Latency, RequestTally Tally)> OpenLoopAsync(
        double perSecond, TimeSpan length, Func<ValueTask<int>> ask)
    {
        var (clock, latency, tally) = (new MonotonicClock(), new LatencyHistogram(), new RequestTally());
        var loop = new OpenLoop(clock, ask, 100_000);
        await Task.Factory.StartNew(
            () =>
            {
                var end = clock.Now + length;
                var arrivals = new PoissonArrivals(perSecond, clock.Now, 1);
                while (arrivals.Next < end)
                {
                    clock.WaitUntil(arrivals.Next);
                    loop.SendDue(arrivals, clock.Now, end, latency, tally);
                }

                loop.Drain(TimeSpan.FromSeconds(30), tally, CancellationToken.None);
            }, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        Check(tally);
        return (latency.Summarize(), tally);
    }

    /// <summary>A load that fails measures nothing.</summary>
    internal static void Check(RequestTally tally)
    {
        if (tally.Errors > 0)
            throw new InvalidOperationException(string.Join("; ", tally.ErrorTexts));
    }

    private static Func<int, ValueTask<int>>[] Echoes(IPeerNode node, int count) =>
        [.. Enumerable.Range(0, count).Select(index => node.EchoOf(index))];

    /// <summary>Callers that call one grain each; calls per second.</summary>
    private static async Task<double> LoopAsync(IPeerNode node, int callers, int milliseconds)
    {
        var start = Stopwatch.GetTimestamp();
        var end = Environment.TickCount64 + milliseconds;
        var calls = await Task.WhenAll(Echoes(node, callers).Select(echo => Task.Run(async () =>
        {
            long calls = 0;
            for (var value = 0; Environment.TickCount64 < end; calls++)
                value = await echo(value).ConfigureAwait(false);
            return calls;
        })));
        return calls.Sum() / Stopwatch.GetElapsedTime(start).TotalSeconds;
    }

    private static async Task<(double Rate, CallTimes[] Loops)> PairsAsync(
        IPeerNode node, (long Caller, long Callee)[] pairs, int milliseconds, bool isTimed)
    {
        var start = Stopwatch.GetTimestamp();
        var loops = await Task.WhenAll(pairs.Select(pair => node.LoopAsync(pair.Caller, pair.Callee, milliseconds, isTimed)));
        return (loops.Sum(static loop => loop.Calls) / Stopwatch.GetElapsedTime(start).TotalSeconds, loops);
    }

    /// <summary>Pairs whose grains are on different silos, all callers on one.</summary>
    private static async Task<(long, long)[]> SplitAsync(IPeerNode node, int count)
    {
        List<long> callers = [], callees = [];
        string? home = null;
        for (long key = 0; callers.Count < count || callees.Count < count; key += Batch)
        {
            if (key > 100L * count)
                throw new InvalidOperationException("All grains are on one silo.");
            var keys = Enumerable.Range(0, Batch).Select(index => key + index).ToArray();
            var silos = await Task.WhenAll(keys.Select(node.WhereAsync));
            home ??= silos[0];
            for (var index = 0; index < keys.Length; index++)
                (silos[index] == home ? callers : callees).Add(keys[index]);
        }

        return [.. callers.Zip(callees).Take(count)];
    }

    private static string Callers(int count) => count + (count == 1 ? " caller" : " callers");

    private static string Pairs(int count) => count + (count == 1 ? " pair" : " pairs");
}
