using System.Diagnostics;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;

namespace ActOp.Peers.Shapes;

/// <summary>Grains that write their state to a PostgreSQL server of this machine, which is new for each play.</summary>
internal static class StateShape
{
    internal static async Task PlayAsync(ShapeRun run)
    {
        if (run.Runtime is not IStateRuntime runtime)
            throw new NotSupportedException();
        if (PostgresServer.Programs is null)
            throw new NotHereException("PostgreSQL is not installed");
        await using var server = await PostgresServer.StartAsync();
        await runtime.PrepareAsync(server.ConnectionString);
        await using var silo = await run.StartSiloHereAsync(server.ConnectionString);
        var peer = ShapeRun.Require<IStatePeer>(silo);
        foreach (var writers in (int[])[1, 64])
        {
            await WriteAsync(peer, writers, run.Milliseconds);
            var (rate, loops) = await WriteAsync(peer, writers, run.Milliseconds);
            var name = "states in PostgreSQL, " + writers + (writers == 1 ? " writer" : " writers");
            run.Rate(name, "writes/s", rate);
            run.Cost(name + ", p50", "ms", loops.Select(static loop => loop.MedianMicroseconds).Order().ElementAt(writers / 2) / 1000);
            run.Cost(name + ", longest", "ms", loops.Max(static loop => loop.LongestMilliseconds));
        }
    }

    /// <summary>Each writer writes the state of one grain, one write after the other.</summary>
    private static async Task<(double Rate, CallTimes[] Loops)> WriteAsync(IStatePeer peer, int writers, int milliseconds)
    {
        var start = Stopwatch.GetTimestamp();
        var loops = await Task.WhenAll(Enumerable.Range(0, writers).Select(key => Task.Run(
            () => CallLoops.TimedAsync(peer.WriterOf(key), milliseconds).AsTask())));
        return (loops.Sum(static loop => loop.Calls) / Stopwatch.GetElapsedTime(start).TotalSeconds, loops);
    }
}
