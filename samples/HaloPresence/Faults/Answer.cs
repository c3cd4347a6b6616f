namespace HaloPresence.Faults;

/// <summary>How one request of the load went.</summary>
/// <param name="From">When it was sent, monotonic.</param>
/// <param name="To">When it was answered or failed.</param>
/// <param name="Messages">Grain messages that the answer took; fewer than a full game's say that somebody has forgotten the game.</param>
/// <param name="Error">The type of the exception; null for an answer.</param>
/// <param name="Text">The exception's message.</param>
public readonly record struct Answer(TimeSpan From, TimeSpan To, int Messages, string? Error, string? Text);
