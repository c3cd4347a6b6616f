namespace HaloPresence.Simulation;

/// <summary>One change of the communication graph.</summary>
/// <param name="At">Virtual time since the start.</param>
/// <param name="Kind">What happened.</param>
/// <param name="Game">The game that starts or ends; 0 for arrivals and departures.</param>
/// <param name="Players">The players concerned: all of the game, or the one that arrives or departs.</param>
public readonly record struct GameEvent(TimeSpan At, GameEventKind Kind, long Game, long[] Players);
