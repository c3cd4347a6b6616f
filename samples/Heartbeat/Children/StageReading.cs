namespace Heartbeat.Children;

/// <summary>
/// What one stage of a silo says; everything but <paramref name="Threads"/> and <paramref name="Queued"/> is cumulative since its start.
/// </summary>
/// <param name="Threads">Threads now.</param>
/// <param name="Queued">Items in its queue now.</param>
/// <param name="Executed">Items executed.</param>
/// <param name="Changes">Changes of its number of threads.</param>
/// <param name="Wall">Seconds that its threads were busy.</param>
/// <param name="Cpu">Seconds of them on a processor.</param>
/// <param name="Ready">Seconds of them ready but without a processor.</param>
/// <param name="Wait">Seconds that items waited in its queue.</param>
public sealed record StageReading(int Threads, int Queued, long Executed, long Changes, double Wall, double Cpu, double Ready, double Wait);
