using System.Diagnostics;
using ActOp.Harness.Load;

namespace ActOp.Peers.Shapes;

/// <summary>The ends of a silo's life.</summary>
internal static class ClusterShapes
{
    private const int Keys = 300;
    private static readonly TimeSpan LongLimit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan ShortLimit = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Between = TimeSpan.FromMilliseconds(5);

    internal static async Task StartAsync(ShapeRun run)
    {
        var start = Stopwatch.GetTimestamp();
        var silos = await run.StartSilosAsync(1);
        run.Cost("start of a silo", "ms", Stopwatch.GetElapsedTime(start).TotalMilliseconds);
        start = Stopwatch.GetTimestamp();
        await using var client = await run.Runtime.StartClientAsync(silos);
        await client.EchoOf(1)(1);
        run.Cost("start of a client, with its first call", "ms", Stopwatch.GetElapsedTime(start).TotalMilliseconds);
    }

    /// <summary>
    /// A call each 5 ms, to one of 300 grains in turn; the silo that is killed is not the first one. Over when all grains have answered
    /// since.
    /// </summary>
    internal static async Task KillAsync(ShapeRun run)
    {
        var limit = run.IsShort ? ShortLimit : LongLimit;
        var first = (await run.StartSiloAsync()).Ports;
        var (second, victim) = ((await run.StartSiloAsync()).Ports, await run.StartSiloAsync());
        await using var client = await run.Runtime.StartClientAsync([first, second, victim.Ports]);
        var echoes = Enumerable.Range(0, Keys).Select(index => client.EchoOf(index)).ToArray();
        foreach (var echo in echoes)
            await echo(1);
        victim.Process.Kill();
        var clock = new MonotonicClock();
        var killed = clock.Now;
        var answered = new TimeSpan[Keys];
        int failed = 0, slow = 0;
        var calls = new List<Task>();
        for (var next = 0; clock.Now - killed < limit && Array.Exists(answered, static at => at == default); next++)
        {
            calls.Add(CallAsync(next % Keys));
            await Task.Delay(Between);
        }

        await Task.WhenAll(calls);
        // Who has not answered yet has been waited for as long as the limit.
        run.Cost("killed silo, until all its grains answer again", "s",
            answered.Max(at => at == default ? clock.Now - killed : at).TotalSeconds);
        run.Cost("killed silo, calls that fail", "calls", failed);
        run.Cost("killed silo, calls of more than 1 s", "calls", slow);

        async Task CallAsync(int key)
        {
            var sent = clock.Now;
            try
            {
                await echoes[key](1).AsTask().WaitAsync(limit).ConfigureAwait(false);
                if (answered[key] == default)
                    answered[key] = clock.Now - killed;
            }
            catch (Exception)
            {
                Interlocked.Increment(ref failed);
            }

            if (clock.Now - sent > TimeSpan.FromSeconds(1))
                Interlocked.Increment(ref slow);
        }
    }
}
