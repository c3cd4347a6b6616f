namespace HaloPresence.Grains;

/// <summary>A game: asks its players on request and tells them when it starts and ends.</summary>
public sealed class GameGrain(MessageCensus census, ActivationJournal journal) : Grain, IGameGrain, IGrainMigrationParticipant
{
    private const string PlayersKey = "players";
    private const string SeenKey = "seen";
    private long _key;
    private long _seen;
    private long _life;
    private long[] _players = [];
    private IPlayerGrain[] _playerGrains = [];

    /// <inheritdoc/>
    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        _key = this.GetPrimaryKeyLong();
        _life = journal.Begin(JournalKind.Game, _key);
        Refer();
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        journal.End(JournalKind.Game, _key, _life);
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public async ValueTask Start(long[] players)
    {
        _players = players;
        Refer();
        var joins = new Task[players.Length];
        for (int i = 0; i < joins.Length; i++)
            joins[i] = _playerGrains[i].JoinGame(_key).AsTask();
        await Task.WhenAll(joins);
    }

    /// <inheritdoc/>
    public async ValueTask End()
    {
        IPlayerGrain[] players = _playerGrains;
        _players = [];
        _playerGrains = [];
        var leaves = new Task[players.Length];
        for (int i = 0; i < leaves.Length; i++)
            leaves[i] = players[i].LeaveGame(_key).AsTask();
        await Task.WhenAll(leaves);
        DeactivateOnIdle();
    }

    /// <inheritdoc/>
    public async ValueTask<GameStatus> GetStatus(int askerSilo)
    {
        census.Saw(askerSilo, _seen++);
        IPlayerGrain[] players = _playerGrains;
        var answers = new ValueTask<Presence>[players.Length];
        for (int i = 0; i < answers.Length; i++)
            answers[i] = players[i].Observe(census.Silo);
        long seen = 0;
        foreach (ValueTask<Presence> answer in answers)
            seen += (await answer).Seen;
        return new GameStatus(_key, answers.Length, seen);
    }

    /// <inheritdoc/>
    public void OnDehydrate(IDehydrationContext dehydrationContext)
    {
        dehydrationContext.TryAddValue(PlayersKey, _players);
        dehydrationContext.TryAddValue(SeenKey, _seen);
    }

    /// <inheritdoc/>
    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        if (rehydrationContext.TryGetValue(PlayersKey, out long[]? players) && players is not null)
        {
            _players = players;
            Refer();
        }
        if (rehydrationContext.TryGetValue(SeenKey, out long seen))
            _seen = seen;
    }

    private void Refer() => _playerGrains = Array.ConvertAll(_players, player => GrainFactory.GetGrain<IPlayerGrain>(player));
}
