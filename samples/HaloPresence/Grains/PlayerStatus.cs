namespace HaloPresence.Grains;

/// <summary>The answer to a status request.</summary>
/// <param name="Player">The player asked about.</param>
/// <param name="Game">Its game, 0 for none.</param>
/// <param name="Messages">Grain messages that the answer took: 18 in a game of 8, 0 without a game.</param>
[GenerateSerializer, Immutable]
public readonly record struct PlayerStatus([property: Id(0)] long Player, [property: Id(1)] long Game, [property: Id(2)] int Messages);
