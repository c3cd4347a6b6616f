namespace ActOp.Peers.Shapes;

/// <summary>
/// The Heartbeat sample (ActOp paper, section 6.2): a client sends beats to monitors at a rate, however long the answers take.
/// </summary>
internal static class HeartbeatShape
{
    internal static Task PlainAsync(ShapeRun run) => PlayAsync(run, "heartbeat", run.IsShort ? 500 : 10_000, 2_000, 0, run.Length);

    /// <summary>Six times as long: the pool of a runtime without stages gets its threads in the course of seconds.</summary>
    internal static Task BlockingAsync(ShapeRun run) => PlayAsync(run, "blocking", run.IsShort ? 500 : 10_000, 500, 10, 6 * run.Length);

    private static async Task PlayAsync(ShapeRun run, string name, int monitors, double rate, int block, TimeSpan length)
    {
        var silos = await run.StartSilosAsync(1);
        await using var client = await run.Runtime.StartClientAsync(silos);
        var peer = ShapeRun.Require<IHeartbeatPeer>(client);
        var beats = Enumerable.Range(0, monitors).Select(index => peer.BeatOf(index)).ToArray();
        foreach (var some in beats.Chunk(100))
            await Task.WhenAll(some.Select(static beat => beat(0).AsTask()));
        var random = new Random(1);
        async ValueTask<int> Beat()
        {
            await beats[random.Next(beats.Length)](block).ConfigureAwait(false);
            return 1;
        }

        if (block == 0)
            await CallShapes.OpenLoopAsync(rate, length, Beat);
        var cpu = run.SiloCpu;
        var (latency, tally) = await CallShapes.OpenLoopAsync(rate, length, Beat);
        run.Cost(name + ", p50", "ms", latency.P50);
        run.Cost(name + ", p99", "ms", latency.P99);
        run.Cost(name + ", processor time of a beat", "us", (run.SiloCpu - cpu).TotalMicroseconds / tally.Answered);
    }
}
