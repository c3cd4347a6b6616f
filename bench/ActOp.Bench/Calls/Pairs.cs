using System.Diagnostics;
using ActOp.Bench.Grains;

namespace ActOp.Bench.Calls;

/// <summary>Pairs of grains, each calling its partner one call after the other.</summary>
internal static class Pairs
{
    /// <summary>Runs all pairs at once; returns calls per second and the longest call.</summary>
    internal static async Task<(double Rate, long Calls, double MaxMilliseconds, double MedianMicroseconds)> Run(
        IGrainFactory grains, IReadOnlyList<(long Caller, long Callee)> pairs, int milliseconds, LoopTiming timing)
    {
        var start = Stopwatch.GetTimestamp();
        var loops = new Task<LoopResult>[pairs.Count];
        for (var index = 0; index < loops.Length; index++)
            loops[index] = grains.GetGrain<IEchoGrain>(pairs[index].Caller).Loop(pairs[index].Callee, milliseconds, timing).AsTask();
        var results = await Task.WhenAll(loops);
        var seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        var calls = results.Sum(result => result.Calls);
        var medians = results.Select(result => result.MedianMicroseconds).Order().ToArray();
        return (calls / seconds, calls, results.Max(result => result.MaxMilliseconds), medians[medians.Length / 2]);
    }

    internal static (long, long)[] Numbered(int count)
    {
        var pairs = new (long, long)[count];
        for (var index = 0; index < count; index++)
            pairs[index] = (2 * index, (2 * index) + 1);
        return pairs;
    }
}
