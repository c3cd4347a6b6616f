using ActOp.Mesh;
using ActOp.Runtime.Calls;
using ActOp.Staging;

namespace ActOp.Runtime.Routing;

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
