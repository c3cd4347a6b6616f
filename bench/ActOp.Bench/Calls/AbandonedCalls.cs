using System.Diagnostics;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Floors;
using ActOp.Runtime.Calls;

namespace ActOp.Bench.Calls;

/// <summary>
/// Calls of every kind that nobody takes the answer of, by the million, and what they leave on the heap and in flight: nothing.
/// </summary>
internal static class AbandonedCalls
{
    private const int Burst = 1_000;
    private const int Mailbox = 100_000;

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        await using var silo = await BenchHost.StartSilo(locality: false, static options => options.MailboxLimit = Mailbox);
        var sender = silo.Node.Calls;
        var grain = silo.Grains.GetGrain<IAbandonedGrain>(0);
        await Run(grain, 100, static (_, _) => { });
        await QuietAsync(sender);
        var before = Heap();
        long all = 0;
        await Run(grain, settings.Milliseconds, (kind, one) =>
        {
            all += one.Calls;
            report(new Row("abandoned: " + kind, "calls/s", Only(one.Calls / one.Seconds)));
        });
        await QuietAsync(sender);
        var kept = Heap() - before;
        report(new Row("abandoned: calls in all", "calls", Only(all)));
        report(new Row("abandoned: left on the heap", "bytes", Only(kept), null, "at most 4,000,000", kept <= 4_000_000));
        report(new Row("abandoned: left in flight", "calls", Only(sender.InFlight), null, "0", sender.InFlight == 0));
        report(new Row("abandoned: slots", "slots", Only(sender.Slots), null, "at most 300,000", sender.Slots <= 3 * Mailbox));
    }

    /// <summary>
    /// Until no call is in flight, and half a second more, so that threads that held one have gone on; a second is many periods of the
    /// clock that ends them.
    /// </summary>
    private static async Task QuietAsync(CallSender sender)
    {
        for (var left = 100; left > 0 && sender.InFlight > 0; left--)
            await Task.Delay(10);
        await Task.Delay(500);
    }

    private static async Task Run(IAbandonedGrain grain, int milliseconds, Action<string, (long Calls, double Seconds)> report)
    {
        report("value tasks never awaited", await Bursts(grain, milliseconds, static (target, index) =>
        {
#pragma warning disable CA2012 // That nobody awaits it is what is measured.
            _ = target.Next(index);
#pragma warning restore CA2012
        }));
        report("tasks that lost a race",
            await Bursts(grain, milliseconds, static (target, index) => _ = Task.WhenAny(target.Answer(index), Task.CompletedTask)));
        report("one-way", await Bursts(grain, milliseconds, static (target, index) => _ = target.Tell(index)));
        report("timed out in a queue", await Blocked(grain, milliseconds, Mailbox / 2, static (target, index) => target.Soon(index)));
        report("refused by a full mailbox", await Blocked(grain, milliseconds, 3 * Mailbox, static (target, index) => target.Soon(index)));
    }

    private static async Task<(long Calls, double Seconds)> Bursts(
        IAbandonedGrain grain, int milliseconds, Action<IAbandonedGrain, int> send)
    {
        long calls = 0;
        var start = Stopwatch.GetTimestamp();
        for (; Stopwatch.GetElapsedTime(start).TotalMilliseconds < milliseconds; calls += Burst)
        {
            for (var index = 0; index < Burst; index++)
                send(grain, index);
            await grain.Next(0);
        }

        return (calls, Stopwatch.GetElapsedTime(start).TotalSeconds);
    }

    private static async Task<(long Calls, double Seconds)> Blocked(
        IAbandonedGrain grain, int milliseconds, int count, Func<IAbandonedGrain, int, Task> send)
    {
        long calls = 0;
        var start = Stopwatch.GetTimestamp();
        for (; Stopwatch.GetElapsedTime(start).TotalMilliseconds < milliseconds; calls += count)
        {
            var hold = grain.Hold();
            var sent = new Task[count];
            for (var index = 0; index < count; index++)
                sent[index] = send(grain, index);
            await Task.WhenAll(sent).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            await grain.Release();
            await hold;
        }

        return (calls, Stopwatch.GetElapsedTime(start).TotalSeconds);
    }

    private static Spread Only(double value) => new(value, value, value);

    private static long Heap()
    {
        for (var round = 0; round < 3; round++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        return GC.GetTotalMemory(forceFullCollection: true);
    }
}
