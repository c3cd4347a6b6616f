using Microsoft.Extensions.Logging;

namespace HaloPresence;

/// <summary>A player: knows its game and answers about itself. What it knows goes along when the grain moves.</summary>
public sealed class PlayerGrain(ILogger<PlayerGrain> logger) : Grain, IPlayerGrain, IGrainMigrationParticipant
{
    private const string GameKey = "game";
    private const string ViewsKey = "views";
    private long _key;
    private long _game;
    private long _views;
    // A reference that is kept remembers where it found the game.
    private IGameGrain? _gameGrain;

    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        _key = this.GetPrimaryKeyLong();
        logger.LogDebug(HaloEvents.Activated, "Player {Key} is active here.", _key);
        return Task.CompletedTask;
    }

    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        logger.LogDebug(HaloEvents.Deactivated, "Player {Key} is no longer active here.", _key);
        return Task.CompletedTask;
    }

    public async Task<PlayerStatus> GetStatus()
    {
        var game = _game;
        if (game == 0)
            return new PlayerStatus(_key, 0, 0);
        _gameGrain ??= GrainFactory.GetGrain<IGameGrain>(game);
        var status = await _gameGrain.GetStatus();
        return new PlayerStatus(_key, game, status.Players);
    }

    public Task<Presence> Observe() => Task.FromResult(new Presence(_key, _game, ++_views));

    public Task JoinGame(long game)
    {
        _game = game;
        _gameGrain = null;
        return Task.CompletedTask;
    }

    public Task LeaveGame(long game)
    {
        if (_game == game)
        {
            _game = 0;
            _gameGrain = null;
        }
        return Task.CompletedTask;
    }

    public Task Depart()
    {
        _game = 0;
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public void OnDehydrate(IDehydrationContext dehydrationContext)
    {
        dehydrationContext.TryAddValue(GameKey, _game);
        dehydrationContext.TryAddValue(ViewsKey, _views);
    }

    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        rehydrationContext.TryGetValue(GameKey, out _game);
        rehydrationContext.TryGetValue(ViewsKey, out _views);
    }
}
