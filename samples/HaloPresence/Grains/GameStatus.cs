namespace HaloPresence.Grains;

/// <summary>What the players of one game are doing.</summary>
/// <param name="Game">The game.</param>
/// <param name="Players">Players that answered.</param>
/// <param name="Seen">Sum of their observations.</param>
[GenerateSerializer, Immutable]
public readonly record struct GameStatus([property: Id(0)] long Game, [property: Id(1)] int Players, [property: Id(2)] long Seen);
