namespace Heartbeat.Breakdown;

/// <summary>A part of the time of a mean request.</summary>
/// <param name="Name">Where it is spent.</param>
/// <param name="Ms">How long, in ms.</param>
public sealed record Part(string Name, double Ms);
