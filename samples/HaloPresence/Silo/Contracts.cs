using Orleans.Concurrency;

namespace HaloPresence;

/// <summary>A player, keyed by its number.</summary>
public interface IPlayerGrain : IGrainWithIntegerKey
{
    /// <summary>What a friend sees: the status of this player and of everybody in its game.</summary>
    [ReadOnly]
    Task<PlayerStatus> GetStatus();

    /// <summary>
    /// What this player is doing. Asked by the game, also while the player itself waits for the game's answer: it must interleave.
    /// </summary>
    [AlwaysInterleave]
    Task<Presence> Observe();

    /// <summary>The player has joined a game.</summary>
    Task JoinGame(long game);

    /// <summary>The player's game is over; nothing happens when it is in another one by now.</summary>
    Task LeaveGame(long game);

    /// <summary>The player leaves the system.</summary>
    Task Depart();
}

/// <summary>A game and the players in it, keyed by its number.</summary>
public interface IGameGrain : IGrainWithIntegerKey
{
    /// <summary>Begins with these players and tells them.</summary>
    Task Start(long[] players);

    /// <summary>Ends and tells the players.</summary>
    Task End();

    /// <summary>Who plays; nobody when the game is over.</summary>
    [AlwaysInterleave]
    Task<long[]> GetPlayers();

    /// <summary>
    /// Asks every player of the game. Requests for different players of one game overlap, and do not wait for its start or end.
    /// </summary>
    /// <returns>The summary; its count of players is 0 when the game is over.</returns>
    [AlwaysInterleave]
    Task<GameStatus> GetStatus();
}

/// <summary>The answer to a status request.</summary>
/// <param name="Player">The player asked about.</param>
/// <param name="Game">Its game, 0 for none.</param>
/// <param name="Players">Players of the game that answered.</param>
[GenerateSerializer, Immutable]
public readonly record struct PlayerStatus([property: Id(0)] long Player, [property: Id(1)] long Game, [property: Id(2)] int Players);

/// <summary>What one player is doing.</summary>
/// <param name="Player">The player.</param>
/// <param name="Game">Its game, 0 for none.</param>
/// <param name="Views">How often it was looked at.</param>
[GenerateSerializer, Immutable]
public readonly record struct Presence([property: Id(0)] long Player, [property: Id(1)] long Game, [property: Id(2)] long Views);

/// <summary>What the players of one game are doing.</summary>
/// <param name="Game">The game.</param>
/// <param name="Players">Players that answered.</param>
/// <param name="Views">How often they were looked at, together.</param>
[GenerateSerializer, Immutable]
public readonly record struct GameStatus([property: Id(0)] long Game, [property: Id(1)] int Players, [property: Id(2)] long Views);
