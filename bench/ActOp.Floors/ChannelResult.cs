namespace ActOp.Floors;

/// <summary>What bare channels do.</summary>
/// <param name="Pairs">Pairs of tasks that ping-pong.</param>
/// <param name="OneCore">Whether the process was pinned to one core.</param>
/// <param name="RoundTripsPerSecond">Round trips per second of all pairs, over the runs.</param>
public sealed record ChannelResult(int Pairs, bool OneCore, Spread RoundTripsPerSecond);
