using Orleans.Concurrency;

namespace HaloPresence.Grains;

/// <summary>A player, keyed by its number.</summary>
public interface IPlayerGrain : IGrainWithIntegerKey
{
    /// <summary>What a friend sees: the status of this player and of everybody in its game.</summary>
    [ReadOnly]
    ValueTask<PlayerStatus> GetStatus();

    /// <summary>
    /// What this player is doing. Asked by the game, also while the player itself waits for the game's answer: it must interleave.
    /// </summary>
    /// <param name="askerSilo">Number of the silo that the game runs on.</param>
    [AlwaysInterleave]
    ValueTask<Presence> Observe(int askerSilo);

    /// <summary>The player has joined a game.</summary>
    ValueTask JoinGame(long game);

    /// <summary>The player's game is over; nothing happens when it is in another one by now.</summary>
    ValueTask LeaveGame(long game);

    /// <summary>The player leaves the system.</summary>
    ValueTask Depart();
}
