namespace Heartbeat.Load;

/// <summary>One request.</summary>
/// <param name="Client">The client whose grain is asked.</param>
/// <param name="Number">Number of the request; for an update the heartbeat's.</param>
/// <param name="IsRead">Whether the status is read instead of updated.</param>
/// <param name="Entries">Entries of history in the answer of a read.</param>
/// <param name="BlockMs">How long the call blocks its thread.</param>
/// <param name="ComputeUs">Microseconds of processor time that the call uses.</param>
public readonly record struct Beat(long Client, long Number, bool IsRead, int Entries, double BlockMs, double ComputeUs = 0);
