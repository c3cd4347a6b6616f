namespace Heartbeat.Calibrate;

/// <summary>A fitted price of a thread.</summary>
/// <param name="Eta">The price in seconds per thread.</param>
/// <param name="From">The least price with a suggestion as near.</param>
/// <param name="To">The greatest.</param>
/// <param name="Suggestion">What the model suggests with it.</param>
/// <param name="Distance">Threads by which the suggestion differs from what measuring found best.</param>
public sealed record FittedPenalty(double Eta, double From, double To, ThreadPoint Suggestion, int Distance);
