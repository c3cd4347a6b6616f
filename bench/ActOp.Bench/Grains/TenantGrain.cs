using System.Diagnostics;

namespace ActOp.Bench.Grains;

/// <summary>A grain of one of several tenants that share a silo; its key begins with the tenant's name.</summary>
public interface ITenantGrain : IGrainWithStringKey
{
    /// <summary>Computes for so long, in one turn.</summary>
    ValueTask Compute(int microseconds);

    /// <summary>Computes in one turn after the other until the tenant is told to stop.</summary>
    /// <param name="microseconds">The length of a turn.</param>
    /// <param name="milliseconds">For how long.</param>
    Task Flood(int microseconds, int milliseconds);
}

internal sealed class TenantGrain : Grain, ITenantGrain
{
    public ValueTask Compute(int microseconds)
    {
        Spin(microseconds);
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
