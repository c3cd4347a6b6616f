namespace HaloPresence.Grains;

/// <summary>What kind of grain a record of the journal speaks of.</summary>
public enum JournalKind : byte
{
    /// <summary>A player.</summary>
    Player = 1,

    /// <summary>A game.</summary>
    Game = 2,
}
