using ActOp.Mesh;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Foundation;
using ActOp.Staging;

namespace ActOp.Runtime.Routing;

/// <summary>A link as an item of its send stage: one run writes all pending frames of the link with one system call.</summary>
/// <remarks>
/// <see cref="Schedule"/> runs on the thread that put a frame into the idle link, <see cref="Execute"/> on a thread of the stage. The link
/// calls one of them at a time. The next call may start while the last one returns; this may only make a decision of
/// <see cref="WriteBurst"/> wrong.
/// </remarks>
internal sealed class LinkFlusher(Link link, Stage stage, NodeTime time) : IStageItem
{
    /// <summary>Writes of an appending thread before the stage takes over, because other threads append faster than it writes.</summary>
    private const int OwnFlushes = 3;

    private WriteBurst _burst = new(time.TimestampFrequency);

    /// <summary>
    /// A frame was put into the idle link. If the whole stage sleeps, the calling thread writes the frame, which costs less than a wake-up,
    /// unless such frames follow each other quickly.
    /// </summary>
    internal void Schedule()
    {
        if (stage.IsAsleep && !_burst.IsOn(time.GetTimestamp()))
        {
            for (var left = OwnFlushes; left > 0; left--)
            {
                if (link.Flush() != FlushResult.More)
                {
                    _burst.Wrote(time.GetTimestamp());
                    return;
                }
            }
        }

        stage.Post(this);
    }

    public void Execute()
    {
        var before = link.FramesSent;
        if (link.Flush() == FlushResult.More)
            stage.Post(this);
        _burst.StageWrote(link.FramesSent - before);
    }
}

/// <summary>
/// Detects frames that follow each other so quickly that it costs less to wake the send stage, which writes many at once, than to write
/// each frame separately.
/// </summary>
/// <param name="frequency">Timestamps per second.</param>
internal struct WriteBurst(long frequency)
{
    /// <summary>Consecutive writes after which a burst starts.</summary>
    internal const int WritesInARow = 16;

    /// <summary>
    /// A burst continues while each write of the stage has at least this many frames: as many writes cost about as much as a wake-up.
    /// </summary>
    internal const int FramesPerWake = 8;

    /// <summary>Largest time between consecutive writes, 10 us. A write takes about 3 us.</summary>
    private readonly long _soon = frequency / 100_000;

    private long _lastWrite = long.MinValue;
    private int _inARow;
    private bool _isOn;

    /// <summary>Called before a write. Returns whether the frame is left to the stage.</summary>
    internal bool IsOn(long now)
    {
        if (Volatile.Read(ref _isOn))
            return true;
        var last = Volatile.Read(ref _lastWrite);
        _inARow = last != long.MinValue && now - last <= _soon ? _inARow + 1 : 0;
        if (_inARow < WritesInARow)
            return false;
        _inARow = 0;
        Volatile.Write(ref _isOn, true);
        return true;
    }

    /// <summary>Called after a thread has written a frame.</summary>
    internal void Wrote(long now) => Volatile.Write(ref _lastWrite, now);

    /// <summary>Called after a write of the stage with this number of frames.</summary>
    internal void StageWrote(long frames)
    {
        if (frames < FramesPerWake)
            Volatile.Write(ref _isOn, false);
    }
}

/// <summary>
/// The links with frames of this thread, which it flushes when its stage pauses: frames of many turns are sent in one write without waking
/// another thread. The send stages take over when there are more frames than one write should have.
/// </summary>
/// <remarks>The whole decision, with what else flushes, is a table of docs/path.md: "Who flushes a link".</remarks>
internal static class SendBatch
{
    /// <summary>Links between two flushes; with more, the thread flushes early.</summary>
    private const int MaxLinks = 64;

    [ThreadStatic]
    private static Link[]? t_links;

    [ThreadStatic]
    private static int t_count;

    /// <summary>
    /// Puts a frame into the link, to be flushed by this thread's next pause, with its batch of callers, or at once where there is none.
    /// </summary>
    internal static SendResult Append(Link link, ReadOnlySpan<byte> frame)
    {
        if (!Stage.WillPause)
            return PoolBatch.Current is { } batch ? batch.Append(link, frame) : link.TryAppend(frame);
        var result = link.TryAppendDeferred(frame);
        if (result == SendResult.Accepted)
            Add(link);
        return result;
    }

    /// <summary>The pause.</summary>
    internal static void Flush()
    {
        var links = t_links;
        var count = t_count;
        t_count = 0;
        for (var index = 0; index < count; index++)
        {
            // More: another thread has appended frames and flushes them or has scheduled a flush. Blocked: the poller schedules the flush.
            links![index].Flush();
            links[index] = null!;
        }
    }

    private static void Add(Link link)
    {
        var links = t_links ??= new Link[MaxLinks];
        for (var index = t_count - 1; index >= 0; index--)
        {
            if (ReferenceEquals(links[index], link))
                return;
        }

        if (t_count == MaxLinks)
            Flush();
        if (Invariant.AreChecked)
            Invariant.Holds(t_count >= 0 && t_count < MaxLinks);
        links[t_count++] = link;
    }
}
