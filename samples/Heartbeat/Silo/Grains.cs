namespace Heartbeat;

/// <summary>Keeps the status of a client, which goes along when the grain moves.</summary>
public sealed class StatusGrain : Grain, IStatusGrain, IGrainMigrationParticipant
{
    private const string UpdatesKey = "updates";
    private const string LastBeatKey = "lastBeat";
    private long _updates;
    private long _lastBeat;

    public Task<long> Update(long beat)
    {
        _lastBeat = Math.Max(_lastBeat, beat);
        return Task.FromResult(++_updates);
    }

    public Task<ClientStatus> Read(int entries)
    {
        var history = new long[entries];
        for (var i = 0; i < entries; i++)
            history[i] = _lastBeat - i;
        return Task.FromResult(new ClientStatus(this.GetPrimaryKeyLong(), _updates, _lastBeat, history));
    }

    public void OnDehydrate(IDehydrationContext dehydrationContext)
    {
        dehydrationContext.TryAddValue(UpdatesKey, _updates);
        dehydrationContext.TryAddValue(LastBeatKey, _lastBeat);
    }

    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        rehydrationContext.TryGetValue(UpdatesKey, out _updates);
        rehydrationContext.TryGetValue(LastBeatKey, out _lastBeat);
    }
}

/// <summary>Counts. The count goes along when the grain moves.</summary>
public sealed class CounterGrain : Grain, ICounterGrain, IGrainMigrationParticipant
{
    private const string CountKey = "count";
    private long _count;

    public Task<long> Increment() => Task.FromResult(++_count);

    public void OnDehydrate(IDehydrationContext dehydrationContext) => dehydrationContext.TryAddValue(CountKey, _count);

    public void OnRehydrate(IRehydrationContext rehydrationContext) => rehydrationContext.TryGetValue(CountKey, out _count);
}
