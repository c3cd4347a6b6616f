namespace HaloPresence.Grains;

/// <summary>What one player is doing.</summary>
[GenerateSerializer, Immutable]
public readonly record struct Presence([property: Id(0)] long Player, [property: Id(1)] long Game, [property: Id(2)] long Seen);
