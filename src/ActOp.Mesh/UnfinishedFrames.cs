namespace ActOp.Mesh;

/// <summary>
/// The memory of frames that have begun to arrive, over all links, and of frames that clients have not taken. A link takes it as its frame
/// or its queue grows and returns it when the frame is complete, the queue is sent, or the link is closed. When it is used up, the address
/// that holds most loses its link that holds most, and with it the session: who announces large frames on many links and sends
/// most of each, or asks for large answers and reads none, pays for it, and not whoever comes next.
/// <para>Small buffers (<see cref="FreeBytes"/>, and 32 KiB of a queue) are not counted: the number of connections limits them. At most one
/// step of growth for each poller is held beyond the limit, until the victim is closed.</para>
/// <para>Threads: any; no lock. A link takes and returns under the gate of its poller.</para>
/// </summary>
internal sealed class UnfinishedFrames(MeshNode node)
{
    /// <summary>The largest buffer that a link has, and keeps, without counting.</summary>
    public const int FreeBytes = 4096;

    private long _all;
    private long _clients;

    /// <summary>Bytes held by all links.</summary>
    public long All => Volatile.Read(ref _all);

    /// <summary>Changes what a link holds. If that is too much, a link is aborted, maybe this one.</summary>
    public void Add(Link link, long bytes)
    {
        var isClient = link.Accepts == NodeKind.Client;
        var all = Interlocked.Add(ref _all, bytes);
        var clients = isClient ? Interlocked.Add(ref _clients, bytes) : Volatile.Read(ref _clients);
        if (bytes <= 0)
            return;

        if (isClient && clients > node.Options.MaxUnfinishedClientBytes)
            EndLargest(NodeKind.Client);
        else if (all > node.Options.MaxUnfinishedBytes)
            EndLargest(null);
    }

    private void EndLargest(NodeKind? kind)
    {
        var links = node.Links();
        var held = new Dictionary<object, long>();
        foreach (var link in links)
        {
            if (IsCandidate(link, kind))
            {
                var address = ConnectionCounts.AddressOf(link.RemoteEndPoint);
                held[address] = held.GetValueOrDefault(address) + link.UnfinishedBytes;
            }
        }

        Link? largest = null;
        var most = 0L;
        foreach (var link in links)
        {
            var ofAddress = IsCandidate(link, kind) ? held[ConnectionCounts.AddressOf(link.RemoteEndPoint)] : 0;
            if (ofAddress > most || (ofAddress == most && link.UnfinishedBytes > (largest?.UnfinishedBytes ?? 0)))
                (largest, most) = (link, ofAddress);
        }

        largest?.Abort(DisconnectReason.TooManyUnfinishedBytes);
    }

    private static bool IsCandidate(Link link, NodeKind? kind)
        => link.UnfinishedBytes > 0 && !link.IsAborted && (kind is null || link.Accepts == kind);
}
