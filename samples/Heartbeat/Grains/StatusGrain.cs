namespace Heartbeat.Grains;

/// <summary>Keeps the status of a client, which goes along when the grain moves.</summary>
public sealed class StatusGrain : Grain, IStatusGrain, IGrainMigrationParticipant
{
    private const string UpdatesKey = "updates";
    private const string LastBeatKey = "lastBeat";
    private long _updates;
    private long _lastBeat;

    /// <inheritdoc/>
    public ValueTask<long> Update(long beat, double blockMs, double computeUs)
    {
        Blocking.Wait(blockMs);
        Computing.Spin(computeUs);
        _lastBeat = Math.Max(_lastBeat, beat);
        return new ValueTask<long>(++_updates);
    }

    /// <inheritdoc/>
    public ValueTask<ClientStatus> Read(int entries, double blockMs, double computeUs)
    {
        Blocking.Wait(blockMs);
        Computing.Spin(computeUs);
        var history = entries == 0 ? [] : new long[entries];
        for (int i = 0; i < entries; i++)
            history[i] = _lastBeat - i;
        return new ValueTask<ClientStatus>(new ClientStatus(this.GetPrimaryKeyLong(), _updates, _lastBeat, history));
    }

    /// <inheritdoc/>
    public void OnDehydrate(IDehydrationContext dehydrationContext)
    {
        dehydrationContext.TryAddValue(UpdatesKey, _updates);
        dehydrationContext.TryAddValue(LastBeatKey, _lastBeat);
    }

    /// <inheritdoc/>
    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        if (rehydrationContext.TryGetValue(UpdatesKey, out long updates))
            _updates = updates;
        if (rehydrationContext.TryGetValue(LastBeatKey, out long lastBeat))
            _lastBeat = lastBeat;
    }
}
