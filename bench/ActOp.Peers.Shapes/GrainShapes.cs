using System.Diagnostics;
using ActOp.Harness.Load;

namespace ActOp.Peers.Shapes;

/// <summary>What grains do besides calls: they begin, notify, stream and tick.</summary>
internal static class GrainShapes
{
    private const int Callers = 64;
    private const int Streams = 8;
    private const int ItemsAtOnce = 250;

    /// <summary>Of each stream.</summary>
    private const int WindowOfItems = 1_000;
    private static readonly TimeSpan Period = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    internal static async Task CreateAsync(ShapeRun run)
    {
        var count = run.IsShort ? 20_000 : 300_000;
        await using var silo = await run.StartSiloHereAsync();
        long key = 0;
        await CreateAsync(2_000);
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var start = Stopwatch.GetTimestamp();
        await CreateAsync(count);
        run.Rate("grains created by their first call", "grains/s", count / Stopwatch.GetElapsedTime(start).TotalSeconds);
        run.Cost("heap of an idle grain", "bytes", (double)(GC.GetTotalMemory(forceFullCollection: true) - before) / count);

        async Task CreateAsync(int more)
        {
            var last = key + more;
            await Task.WhenAll(Enumerable.Range(0, Callers).Select(_ => Task.Run(async () =>
            {
                while (Interlocked.Increment(ref key) is var next && next <= last)
                    await silo.EchoOf(next)(0).ConfigureAwait(false);
            })));
            key = last;
        }
    }

    internal static async Task ObserversAsync(ShapeRun run)
    {
        const int Observers = 1000;
        var silos = await run.StartSilosAsync(1);
        await using var client = await run.Runtime.StartClientAsync(silos);
        var peer = ShapeRun.Require<IObserverPeer>(client);
        long notified = 0;
        await peer.SubscribeAsync(Observers, () => Interlocked.Increment(ref notified));
        await RoundsAsync(run.Milliseconds);
        var start = Stopwatch.GetTimestamp();
        var rounds = await RoundsAsync(run.Milliseconds);
        run.Rate("notifications of 1,000 observers", "1/s", rounds * Observers / Stopwatch.GetElapsedTime(start).TotalSeconds);

        // One round after the other: what is measured is how soon all have heard.
        async Task<long> RoundsAsync(int milliseconds)
        {
            long rounds = 0;
            for (var end = Environment.TickCount64 + milliseconds; Environment.TickCount64 < end; rounds++)
            {
                var before = Interlocked.Read(ref notified);
                await peer.NotifyAsync();
                await UntilAsync(() => Interlocked.Read(ref notified) - before >= Observers, "notifications");
            }

            return rounds;
        }
    }

    internal static async Task StreamsAsync(ShapeRun run)
    {
        var items = run.IsShort ? 1_000 : 20_000;
        await using var silo = await run.StartSiloHereAsync();
        var peer = ShapeRun.Require<IStreamPeer>(silo);
        for (var stream = 0; stream < Streams; stream++)
            await peer.SubscribeAsync(stream);
        await ProduceAsync(500);
        var start = Stopwatch.GetTimestamp();
        await ProduceAsync(items);
        run.Rate("items of streams in memory", "items/s", Streams * items / Stopwatch.GetElapsedTime(start).TotalSeconds);

        // Queues in memory refuse what is too much, so producers wait for the consumers: at most so many items are on their way.
        async Task ProduceAsync(int each)
        {
            var before = peer.Items;
            for (var sent = 0; sent < each; sent += ItemsAtOnce)
            {
                var expected = Streams * (sent - WindowOfItems);
                await UntilAsync(() => peer.Items - before >= expected, "items");
                await Task.WhenAll(Enumerable.Range(0, Streams).Select(
                    stream => peer.ProduceAsync(stream, Math.Min(ItemsAtOnce, each - sent))));
            }

            await UntilAsync(() => peer.Items - before >= Streams * each, "items");
        }
    }

    internal static async Task TimersAsync(ShapeRun run)
    {
        var count = run.IsShort ? 1_000 : 20_000;
        await using var silo = await run.StartSiloHereAsync();
        var peer = ShapeRun.Require<ITimerPeer>(silo);
        await peer.StartTimersAsync(count, Period);
        await Task.Delay(run.Length);
        var (start, ticks, cpu) = (Stopwatch.GetTimestamp(), peer.Ticks, Environment.CpuUsage.TotalTime);
        await Task.Delay(run.Length);
        var seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        ticks = peer.Ticks - ticks;
        run.Rate("ticks of timers that are due 10 times a second, share", "%", 100 * ticks / seconds / (count / Period.TotalSeconds));
        run.Cost("processor time of a tick", "us", (Environment.CpuUsage.TotalTime - cpu).TotalMicroseconds / Math.Max(1, ticks));
    }

    private static async Task UntilAsync(Func<bool> isSo, string what)
    {
        var clock = new MonotonicClock();
        for (var end = clock.Now + Patience; !isSo(); await Task.Yield())
        {
            if (clock.Now > end)
                throw new TimeoutException("Some " + what + " have not arrived within " + Patience.TotalSeconds + " s.");
        }
    }
}
