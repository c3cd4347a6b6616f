namespace ActOp.Mesh.Transports;

/// <summary>
/// A set of streams that one thread waits on (edge-triggered).
/// <para>Threads: <see cref="Wait"/> by one thread at a time; the rest by any thread. A report may be stale: it may name a stream that was
/// removed while the wait ended.</para>
/// </summary>
public abstract class Readiness : IDisposable
{
    /// <summary>Adds a stream; what it is ready for already is reported too.</summary>
    public abstract void Add(ByteStream stream);

    /// <summary>Removes a stream that was added.</summary>
    public abstract void Remove(ByteStream stream);

    /// <summary>Waits until a stream is ready, <see cref="Wake"/> is called or the time is over. Returns the number of reports.</summary>
    /// <param name="reports">Filled from the start.</param>
    /// <param name="timeoutMs">Milliseconds; 0 only looks, -1 waits for ever.</param>
    public abstract int Wait(Span<Ready> reports, int timeoutMs);

    /// <summary>
    /// Whether <see cref="TryLook"/> looks and is cheap: then whoever waits may spin for a moment before it sleeps. Default false.
    /// </summary>
    public virtual bool CanLook => false;

    /// <summary>
    /// Looks without waiting. False when there was nothing, not even a <see cref="Wake"/>; then another thread that wanted the processor
    /// had it.
    /// </summary>
    /// <param name="reports">Filled from the start.</param>
    /// <param name="found">The number of reports.</param>
    public virtual bool TryLook(Span<Ready> reports, out int found)
    {
        found = 0;
        return false;
    }

    /// <summary>Ends the current wait, or else the next one.</summary>
    public abstract void Wake();

    /// <summary>Frees the set; no wait may be in progress.</summary>
    public abstract void Dispose();
}

/// <summary>One report of a <see cref="Readiness"/> set.</summary>
/// <param name="Stream">The stream.</param>
/// <param name="Kinds">What it is ready for.</param>
public readonly record struct Ready(ByteStream Stream, ReadyKinds Kinds);

/// <summary>What a stream is ready for.</summary>
[Flags]
public enum ReadyKinds
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>A receive will not block.</summary>
    Read = 1,

    /// <summary>A send will not block.</summary>
    Write = 2,

    /// <summary>The other end has finished or the stream is broken: read to the end.</summary>
    Hangup = 4,
}
