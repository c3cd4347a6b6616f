namespace HaloPresence.Grains;

/// <summary>A player: knows its game and answers about itself.</summary>
public sealed class PlayerGrain(MessageCensus census, ActivationJournal journal) : Grain, IPlayerGrain, IGrainMigrationParticipant
{
    private const string GameKey = "game";
    private const string SeenKey = "seen";
    private long _key;
    private long _game;
    private long _seen;
    private long _life;
    private IGameGrain? _gameGrain;

    /// <inheritdoc/>
    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        _key = this.GetPrimaryKeyLong();
        _life = journal.Begin(JournalKind.Player, _key);
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        journal.End(JournalKind.Player, _key, _life);
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public async ValueTask<PlayerStatus> GetStatus()
    {
        long game = _game;
        if (game == 0)
            return new PlayerStatus(_key, 0, 0);
        _gameGrain ??= GrainFactory.GetGrain<IGameGrain>(game);
        GameStatus status = await _gameGrain.GetStatus(census.Silo);
        return new PlayerStatus(_key, game, 2 + 2 * status.Players);
    }

    /// <inheritdoc/>
    public ValueTask<Presence> Observe(int askerSilo)
    {
        census.Saw(askerSilo, _seen);
        return new ValueTask<Presence>(new Presence(_key, _game, ++_seen));
    }

    /// <inheritdoc/>
    public ValueTask JoinGame(long game)
    {
        _game = game;
        _gameGrain = null;
        return default;
    }

    /// <inheritdoc/>
    public ValueTask LeaveGame(long game)
    {
        if (_game == game)
        {
            _game = 0;
            _gameGrain = null;
        }
        return default;
    }

    /// <inheritdoc/>
    public ValueTask Depart()
    {
        _game = 0;
        DeactivateOnIdle();
        return default;
    }

    /// <inheritdoc/>
    public void OnDehydrate(IDehydrationContext dehydrationContext)
    {
        dehydrationContext.TryAddValue(GameKey, _game);
        dehydrationContext.TryAddValue(SeenKey, _seen);
    }

    /// <inheritdoc/>
    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        if (rehydrationContext.TryGetValue(GameKey, out long game))
            _game = game;
        if (rehydrationContext.TryGetValue(SeenKey, out long seen))
            _seen = seen;
    }
}
