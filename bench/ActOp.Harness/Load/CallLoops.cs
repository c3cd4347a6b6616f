using System.Diagnostics;

namespace ActOp.Harness.Load;

/// <summary>What came of a loop of calls.</summary>
/// <param name="Calls">How many.</param>
/// <param name="MedianMicroseconds">Of a call; 0 if they were not timed.</param>
/// <param name="LongestMilliseconds">The longest call; 0 if they were not timed.</param>
public sealed record CallTimes(long Calls, double MedianMicroseconds, double LongestMilliseconds);

/// <summary>
/// Calls one after the other. What follows a call goes on where the caller runs, so a grain or actor can have its loop here.
/// </summary>
public static class CallLoops
{
    private const int Batch = 64;
    private const int MaxTimes = 200_000;

    /// <summary>Looks at the clock once in 64 calls.</summary>
    public static async ValueTask<CallTimes> UntimedAsync(Func<int, ValueTask<int>> call, int milliseconds)
    {
        long calls = 0;
        var value = 0;
        for (var end = Environment.TickCount64 + milliseconds; Environment.TickCount64 < end; calls += Batch)
        {
            for (var left = Batch; left > 0; left--)
                value = await call(value);
        }

        return new CallTimes(calls, 0, 0);
    }

    /// <summary>Times each call; the median is that of the last 200,000.</summary>
    public static async ValueTask<CallTimes> TimedAsync(Func<int, ValueTask<int>> call, int milliseconds)
    {
        var times = new long[MaxTimes];
        long calls = 0;
        long longest = 0;
        var value = 0;
        var before = Stopwatch.GetTimestamp();
        for (var end = before + (milliseconds * Stopwatch.Frequency / 1000); before < end; calls++)
        {
            value = await call(value);
            var now = Stopwatch.GetTimestamp();
            times[calls % MaxTimes] = now - before;
            longest = Math.Max(longest, now - before);
            before = now;
        }

        var kept = times.AsSpan(0, (int)Math.Min(calls, MaxTimes));
        kept.Sort();
        return new CallTimes(calls, kept[kept.Length / 2] * 1e6 / Stopwatch.Frequency, longest * 1e3 / Stopwatch.Frequency);
    }

    /// <summary>Callers on threads of the pool, each with a pause of 1 ms before each call; the times of all calls in microseconds.</summary>
    public static async Task<double[]> PausedAsync(IEnumerable<Func<int, ValueTask<int>>> callers, int milliseconds)
    {
        var end = Environment.TickCount64 + milliseconds;
        var all = await Task.WhenAll(callers.Select(call => Task.Run(async () =>
        {
            var times = new List<double>();
            for (var value = 0; Environment.TickCount64 < end;)
            {
                await Task.Delay(1).ConfigureAwait(false);
                var start = Stopwatch.GetTimestamp();
                value = await call(value).ConfigureAwait(false);
                times.Add(Stopwatch.GetElapsedTime(start).TotalMicroseconds);
            }

            return times;
        }))).ConfigureAwait(false);
        return [.. all.SelectMany(static times => times)];
    }
}
