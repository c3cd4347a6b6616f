using Microsoft.Extensions.Logging;

namespace HaloPresence;

/// <summary>A game: asks its players on request and tells them when it starts and ends.</summary>
public sealed class GameGrain(ILogger<GameGrain> logger) : Grain, IGameGrain, IGrainMigrationParticipant
{
    private const string PlayersKey = "players";
    private long _key;
    private long[] _players = [];
    private IPlayerGrain[] _playerGrains = [];

    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        _key = this.GetPrimaryKeyLong();
        logger.LogDebug(HaloEvents.Activated, "Game {Key} is active here.", _key);
        Refer();
        return Task.CompletedTask;
    }

    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        logger.LogDebug(HaloEvents.Deactivated, "Game {Key} is no longer active here.", _key);
        return Task.CompletedTask;
    }

    public Task Start(long[] players)
    {
        _players = players;
        Refer();
        return Task.WhenAll(_playerGrains.Select(player => player.JoinGame(_key)));
    }

    public async Task End()
    {
        var players = _playerGrains;
        _players = [];
        _playerGrains = [];
        await Task.WhenAll(players.Select(player => player.LeaveGame(_key)));
        DeactivateOnIdle();
    }

    public Task<long[]> GetPlayers() => Task.FromResult(_players);

    public async Task<GameStatus> GetStatus()
    {
        var presences = await Task.WhenAll(_playerGrains.Select(player => player.Observe()));
        return new GameStatus(_key, presences.Length, presences.Sum(presence => presence.Views));
    }

    public void OnDehydrate(IDehydrationContext dehydrationContext) => dehydrationContext.TryAddValue(PlayersKey, _players);

    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        if (rehydrationContext.TryGetValue(PlayersKey, out long[]? players) && players is not null)
            _players = players;
    }

    private void Refer() => _playerGrains = [.. _players.Select(player => GrainFactory.GetGrain<IPlayerGrain>(player))];
}
