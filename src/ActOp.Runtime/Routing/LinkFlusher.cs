using ActOp.Foundation;
using ActOp.Mesh;
using ActOp.Runtime.Calls;
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

/// <summary>Who writes a frame that is appended to a link: what <see cref="SendBatch.Decide"/> answers.</summary>
internal enum FlushedBy
{
    /// <summary>The link, at once: if nobody is asked to flush it yet, it asks its <see cref="LinkFlusher"/>.</summary>
    Link,

    /// <summary>The pause of the run of stage items that the thread is in, with all other links of the run.</summary>
    Pause,

    /// <summary>The batch of callers outside of grains that the thread resumes.</summary>
    Batch,
}

/// <summary>
/// The links with frames of this thread, which it flushes when its stage pauses: frames of many turns are sent in one write without waking
/// another thread. The send stages take over when there are more frames than one write should have.
/// </summary>
/// <remarks>The whole decision, with what else flushes, is a table of docs/path.md: "Who flushes a link".</remarks>
internal sealed class SendBatch
{
    /// <summary>Links between two flushes; with more, the thread flushes early.</summary>
    private const int MaxLinks = 64;

    /// <summary>Of the thread, for good: it is empty between two runs.</summary>
    [ThreadStatic]
    private static SendBatch? t_batch;

    private readonly Link[] _links = new Link[MaxLinks];
    private int _count;

    /// <summary>The one decision who flushes.</summary>
    /// <param name="isControl">Whether the frame goes over the control channel.</param>
    internal static FlushedBy Decide(bool isControl) =>
        isControl ? FlushedBy.Link
        : Stage.WillPause ? FlushedBy.Pause
        : PoolBatch.Current is not null ? FlushedBy.Batch
        : FlushedBy.Link;

    /// <summary>Puts a frame into the link; <see cref="Decide"/> says who flushes it.</summary>
    internal static SendResult Append(Link link, ReadOnlySpan<byte> frame, bool isControl)
    {
        switch (Decide(isControl))
        {
            case FlushedBy.Pause:
                var result = link.TryAppendDeferred(frame);
                if (result == SendResult.Accepted)
                    (t_batch ??= new SendBatch()).Add(link);
                return result;
            // A batch that is closed defers nothing.
            case FlushedBy.Batch when PoolBatch.Current!.TryAppend(link, frame) is { } deferred:
                return deferred;
            default:
                return link.TryAppend(frame);
        }
    }

    /// <summary>The pause.</summary>
    internal static void Flush() => t_batch?.FlushLinks();

    private void FlushLinks()
    {
        var count = _count;
        _count = 0;
        for (var index = 0; index < count; index++)
        {
            // More: another thread has appended frames and flushes them or has scheduled a flush. Blocked: the poller schedules the flush.
            _links[index].Flush();
            _links[index] = null!;
        }
    }

    private void Add(Link link)
    {
        for (var index = _count - 1; index >= 0; index--)
        {
            if (ReferenceEquals(_links[index], link))
                return;
        }

        if (_count == MaxLinks)
            FlushLinks();
        if (Invariant.AreChecked)
            Invariant.Holds(_count >= 0 && _count < MaxLinks);
        _links[_count++] = link;
    }
}
