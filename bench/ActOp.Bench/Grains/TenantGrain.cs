using System.Diagnostics;

namespace ActOp.Bench.Grains;

/// <summary>A grain of one of several tenants that share a silo; its key begins with the tenant's name.</summary>
public interface ITenantGrain : IGrainWithStringKey
{
    /// <summary>Computes for so long, in one turn.</summary>
    ValueTask Compute(int microseconds);

    /// <summary>Runs so many steps of <see cref="SpinLoop"/>, in one turn: the same work however often the thread loses its processor.</summary>
    ValueTask Work(long steps);

    /// <summary>Computes in one turn after the other until the tenant is told to stop.</summary>
    /// <param name="microseconds">The length of a turn.</param>
    /// <param name="milliseconds">For how long.</param>
    Task Flood(int microseconds, int milliseconds);
}

internal sealed class TenantGrain : Grain, ITenantGrain
{
    /// <summary>The group of a grain: what its key begins with. A <see cref="ActOp.Configuration.GroupSelector"/>.</summary>
    internal static string? GroupOf(GrainId grain, IReadOnlyDictionary<string, object>? context) =>
        grain.Key.ToString() is { } key && key.IndexOf('/') is > 0 and var end ? key[..end] : null;

    public ValueTask Compute(int microseconds)
    {
        Spin(microseconds);
        return default;
    }

    public ValueTask Work(long steps)
    {
        SpinLoop.Run(steps);
        return default;
    }

    public async Task Flood(int microseconds, int milliseconds)
    {
        var began = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(began).TotalMilliseconds < milliseconds)
        {
            Spin(microseconds);
            await Task.Yield();
        }
    }

    private static void Spin(int microseconds)
    {
        var end = Stopwatch.GetTimestamp() + (microseconds * Stopwatch.Frequency / 1_000_000);
        while (Stopwatch.GetTimestamp() < end)
        {
        }
    }
}

/// <summary>Work of a known length.</summary>
internal static class SpinLoop
{
    private static long s_result;

    /// <summary>Does so many steps, each of which needs the one before.</summary>
    internal static void Run(long steps)
    {
        var value = steps;
        for (; steps > 0; steps--)
            value = (value * 6364136223846793005) + 1442695040888963407;
        Volatile.Write(ref s_result, value);
    }

    /// <summary>The steps of a microsecond while so many processors are busy: the most of several tries.</summary>
    internal static double FindStepsPerMicrosecond(int processors)
    {
        const long Steps = 4_000_000;
        Run(Steps);
        return Enumerable.Range(0, 5).Max(_ =>
        {
            var began = Stopwatch.GetTimestamp();
            Parallel.For(0, processors, new ParallelOptions { MaxDegreeOfParallelism = processors }, static _ => Run(Steps));
            return Steps / Stopwatch.GetElapsedTime(began).TotalMicroseconds;
        });
    }
}
