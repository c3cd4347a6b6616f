namespace HaloPresence.Simulation;

/// <summary>What happened in the simulated community of players.</summary>
public enum GameEventKind
{
    /// <summary>A player entered the system and waits in the pool.</summary>
    Arrive,

    /// <summary>Players left the pool and joined a new game.</summary>
    StartGame,

    /// <summary>A game ended: its players left it.</summary>
    EndGame,

    /// <summary>A player left the system after the last of its games.</summary>
    Depart,
}
