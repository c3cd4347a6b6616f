using System.Collections.Concurrent;

namespace HaloPresence.Load;

/// <summary>
/// Answers requests from a table of who is in which game, without grains. What a run with it costs is what the harness costs;
/// it also checks that games are started and ended as they must be.
/// </summary>
public sealed class RehearsalTarget : ILoadTarget
{
    private readonly ConcurrentDictionary<long, long> _gameOf = new();
    private readonly ConcurrentDictionary<long, long[]> _games = new();

    /// <summary>Games running.</summary>
    public int GameCount => _games.Count;

    /// <summary>Players in a game.</summary>
    public int PlayingCount => _gameOf.Count;

    /// <inheritdoc/>
    public ValueTask<int> RequestStatus(long player) =>
        new(_gameOf.TryGetValue(player, out long game) && _games.TryGetValue(game, out long[]? players) ? 2 + 2 * players.Length : 0);

    /// <inheritdoc/>
    public ValueTask StartGame(long game, long[] players)
    {
        if (!_games.TryAdd(game, players))
            throw new InvalidOperationException($"Game {game} runs already.");
        foreach (long player in players)
        {
            if (!_gameOf.TryAdd(player, game))
                throw new InvalidOperationException($"Player {player} is in a game already and cannot join game {game}.");
        }
        return default;
    }

    /// <inheritdoc/>
    public ValueTask EndGame(long game)
    {
        if (!_games.TryRemove(game, out long[]? players))
            throw new InvalidOperationException($"Game {game} does not run.");
        foreach (long player in players)
            _gameOf.TryRemove(player, out _);
        return default;
    }

    /// <inheritdoc/>
    public ValueTask Depart(long player) =>
        _gameOf.ContainsKey(player) ? throw new InvalidOperationException($"Player {player} departs from within a game.") : default;

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => default;
}
