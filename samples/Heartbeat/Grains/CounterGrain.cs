namespace Heartbeat.Grains;

/// <summary>Counts.</summary>
public sealed class CounterGrain : Grain, ICounterGrain
{
    private long _count;

    /// <inheritdoc/>
    public ValueTask<long> Increment(double blockMs)
    {
        Blocking.Wait(blockMs);
        return new ValueTask<long>(++_count);
    }
}
