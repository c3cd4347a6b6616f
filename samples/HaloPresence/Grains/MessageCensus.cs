namespace HaloPresence.Grains;

/// <summary>
/// The application's own count of calls that came from another silo, to check the runtime's: every call between player and game
/// carries the number of the caller's silo, and every 16th that an activation receives is counted. One per silo.
/// </summary>
public sealed class MessageCensus(int silo)
{
    private const long Every = 16;
    private long _local;
    private long _remote;

    /// <summary>The number of this silo.</summary>
    public int Silo { get; } = silo;

    /// <summary>Sampled calls from this silo.</summary>
    public long Local => Volatile.Read(ref _local);

    /// <summary>Sampled calls from other silos.</summary>
    public long Remote => Volatile.Read(ref _remote);

    /// <summary>Notes a call; <paramref name="ordinal"/> is how many calls the activation received before.</summary>
    public void Saw(int callerSilo, long ordinal)
    {
        // Sampled per activation, so that most calls touch nothing that another core writes.
        if (ordinal % Every != 0)
            return;
        if (callerSilo == Silo)
            Interlocked.Increment(ref _local);
        else
            Interlocked.Increment(ref _remote);
    }
}
