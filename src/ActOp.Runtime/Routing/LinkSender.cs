using ActOp.Mesh;
using ActOp.Runtime.Calls;
using ActOp.Staging;

namespace ActOp.Runtime.Routing;

/// <summary>A link as an item of its send stage: one run is one write to the socket of all that has gathered.</summary>
/// <remarks>
/// <see cref="Schedule"/> runs on the thread that has put a frame into the idle link, <see cref="Execute"/> on a thread of the stage. The
/// link asks one of them at a time; the next one may begin while the last one returns, which costs a decision of <see cref="SendRush"/> at
/// worst.
/// </remarks>
internal sealed class LinkSender(Link link, Stage stage, TimeProvider time) : IStageItem
{
    /// <summary>Writes of an appending thread before the stage takes over: others append faster than it can write.</summary>
    private const int OwnFlushes = 3;

    private SendRush _rush = new(time.TimestampFrequency);

    /// <summary>
    /// Somebody has put a frame into the idle link. If the whole stage sleeps, the thread writes the frame itself, which costs less than
    /// waking another to do it, unless one such frame follows the other.
    /// </summary>
    internal void Schedule()
    {
        if (stage.IsAsleep && !_rush.IsOn(time.GetTimestamp()))
        {
            for (var left = OwnFlushes; left > 0; left--)
            {
                if (link.Flush() != FlushResult.More)
                {
                    _rush.Wrote(time.GetTimestamp());
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
        _rush.StageWrote(link.FramesSent - before);
    }
}

/// <summary>
/// Whether frames of threads that have no pause follow each other so fast that it costs less to wake the send stage, which then writes many
/// at once, than to write each of them.
/// </summary>
/// <param name="frequency">Timestamps per second.</param>
internal struct SendRush(long frequency)
{
    /// <summary>Writes in a row, each soon after the last one, until there is a rush: a few calls at once are none.</summary>
    internal const int WritesInARow = 16;

    /// <summary>A rush goes on while a write of the stage takes so many frames along: about as many writes cost as much as a wake-up.</summary>
    internal const int FramesPerWake = 8;

    /// <summary>A write takes about 3 us; who has done nothing else since the last one writes without a break.</summary>
    private readonly long _soon = frequency / 100_000;

    private long _lastWrite = long.MinValue;
    private int _inARow;
    private bool _isOn;

    /// <summary>A thread is about to write a frame at that time: whether it is to leave it to the stage.</summary>
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

    /// <summary>A thread has written its frame at that time.</summary>
    internal void Wrote(long now) => Volatile.Write(ref _lastWrite, now);

    /// <summary>The stage has written so many frames at once.</summary>
    internal void StageWrote(long frames)
    {
        if (frames < FramesPerWake)
            Volatile.Write(ref _isOn, false);
    }
}

/// <summary>
/// The links that this thread has put frames into and will flush when its stage pauses: frames of many turns go out in one write, and
/// no other thread is woken for it. The send stages take over when more gathers than a write should hold.
/// </summary>
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
            // More: somebody else's frames, who flushes them himself or has asked for it. Blocked: the poller asks for it.
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
        links[t_count++] = link;
    }
}
