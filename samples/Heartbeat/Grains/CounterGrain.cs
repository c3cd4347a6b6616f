namespace Heartbeat.Grains;

/// <summary>Counts. The count goes along when the grain moves.</summary>
public sealed class CounterGrain : Grain, ICounterGrain, IGrainMigrationParticipant
{
    private const string CountKey = "count";
    private long _count;

    /// <inheritdoc/>
    public ValueTask<long> Increment(double blockMs, double computeUs)
    {
        Blocking.Wait(blockMs);
        Computing.Spin(computeUs);
        return new ValueTask<long>(++_count);
    }

    /// <inheritdoc/>
    public void OnDehydrate(IDehydrationContext dehydrationContext) => dehydrationContext.TryAddValue(CountKey, _count);

    /// <inheritdoc/>
    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        if (rehydrationContext.TryGetValue(CountKey, out long count))
            _count = count;
    }
}
