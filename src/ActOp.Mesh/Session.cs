using System.Net;

namespace ActOp.Mesh;

/// <summary>
/// The links that two nodes open together: one control link and some data links. A session begins and ends as a whole, so that "frames may
/// have been lost" is one event and not a state per link. Everything here belongs to the control thread.
/// </summary>
internal sealed class Session
{
    private readonly Link?[] _links;
    private int _closed;

    public Session(Peer peer, ulong number, bool dialled, int dataLinks)
    {
        Peer = peer;
        Number = number;
        IsDialled = dialled;
        _links = new Link?[1 + dataLinks];
    }

    public Peer Peer { get; set; }

    public ulong Number { get; }

    /// <summary>Dialled by this node, not accepted.</summary>
    public bool IsDialled { get; }

    /// <summary>Of a dialled session: a hello has been sent, so the other end may have decided for it.</summary>
    public bool IsCommitted { get; set; }

    /// <summary>Its end has begun and this is why.</summary>
    public DisconnectReason Reason { get; private set; }

    public bool IsEnding => Reason != DisconnectReason.None;

    /// <summary>Limits the handshake, and later the orderly close.</summary>
    public ITimer? Deadline { get; set; }

    /// <summary>Milliseconds between two keep-alives of the other end, 0 for none; null if it does not know them.</summary>
    public int? Announced { get; set; }

    /// <summary>Bytes that had come by the last look, and looks since then that found no more.</summary>
    private (long Bytes, int Looks) _heard;

    public int DataLinks => _links.Length - 1;

    public int Welcomed { get; set; }

    public bool IsComplete => Welcomed == _links.Length && !IsEnding;

    /// <summary>All links that ever joined are closed.</summary>
    public bool IsOver => _closed == JoinedCount;

    public Link Control => _links[0]!;

    public Link[] Data() => _links[1..]!;

    private int JoinedCount { get; set; }

    public IEnumerable<Link> Joined()
    {
        foreach (var link in _links)
        {
            if (link is not null)
            {
                yield return link;
            }
        }
    }

    /// <summary>False if the place is taken.</summary>
    public bool TryJoin(Link link, Channel channel, int index)
    {
        var slot = channel == Channel.Control ? 0 : 1 + index;
        if (slot >= _links.Length || _links[slot] is not null)
        {
            return false;
        }

        _links[slot] = link;
        link.Join(this, channel, index);
        JoinedCount++;
        return true;
    }

    public void CountClosed() => _closed++;

    /// <summary>Looks for news from the other end, once in each period; returns for how many periods there were none.</summary>
    public int SilentPeriods()
    {
        var bytes = 0L;
        foreach (var link in Joined())
        {
            bytes += link.BytesReceived;
        }

        _heard = bytes == _heard.Bytes ? (bytes, _heard.Looks + 1) : (bytes, 0);
        return _heard.Looks;
    }

    /// <summary>Ends the session at once: whatever is under way is lost. The first reason stays.</summary>
    public void Abort(DisconnectReason reason)
    {
        Mark(reason);
        foreach (var link in Joined())
        {
            link.Abort(Reason);
        }
    }

    /// <summary>Ends the session in order: what was accepted is sent, what the other end has sent is delivered.</summary>
    public void Finish(DisconnectReason reason)
    {
        Mark(reason);
        foreach (var link in Joined())
        {
            link.FinishSending();
        }
    }

    private void Mark(DisconnectReason reason)
    {
        if (!IsEnding)
        {
            Reason = reason;
        }
    }
}
