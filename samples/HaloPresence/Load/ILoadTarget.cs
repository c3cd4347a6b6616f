namespace HaloPresence.Load;

/// <summary>What the load is applied to: a cluster, or a fake in tests and rehearsals. Called from several threads at once.</summary>
public interface ILoadTarget : IAsyncDisposable
{
    /// <summary>Asks for the status of a player and of those in its game.</summary>
    /// <returns>The grain messages it took: 18 in a game of 8, 0 when the player is in no game.</returns>
    ValueTask<int> RequestStatus(long player);

    /// <summary>A new game begins with these players.</summary>
    ValueTask StartGame(long game, long[] players);

    /// <summary>A game is over.</summary>
    ValueTask EndGame(long game);

    /// <summary>A player has left the system.</summary>
    ValueTask Depart(long player);
}
