using Orleans.Concurrency;

namespace HaloPresence.Grains;

/// <summary>A game and the players in it, keyed by its number.</summary>
public interface IGameGrain : IGrainWithIntegerKey
{
    /// <summary>Begins with these players and tells them.</summary>
    ValueTask Start(long[] players);

    /// <summary>Ends and tells the players.</summary>
    ValueTask End();

    /// <summary>
    /// Asks every player of the game. Requests for different players of one game overlap, and do not wait for its start or end.
    /// </summary>
    /// <param name="askerSilo">Number of the silo that the asking player runs on.</param>
    /// <returns>The summary; its count of players is 0 when the game is over.</returns>
    [AlwaysInterleave]
    ValueTask<GameStatus> GetStatus(int askerSilo);
}
