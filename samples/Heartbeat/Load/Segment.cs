namespace Heartbeat.Load;

/// <summary>A stretch of the load.</summary>
/// <param name="Name">What it is called in results.</param>
/// <param name="Seconds">How long it lasts.</param>
/// <param name="Rate">
/// Requests per second, open loop; 0 means a closed loop, and without concurrency a rest that ends when nothing is in flight.
/// </param>
/// <param name="Concurrency">Requests in flight in the closed loop.</param>
/// <param name="Entries">Entries of history in the answer of a read.</param>
public sealed record Segment(string Name, double Seconds, double Rate, int Concurrency = 0, int Entries = 0);
