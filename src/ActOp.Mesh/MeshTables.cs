using System.Net;
using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <summary>
/// The links, peers and listeners of one <see cref="MeshNode"/>. Owns these tables and the stop flag: once it is set nothing is added,
/// so closing all of them misses none. Passes the node to the links and peers that it creates.
/// <para>Threads: any. One gate, taken after all others.</para>
/// </summary>
internal sealed class MeshTables(MeshNode node)
{
    private readonly Lock _gate = new();
    private readonly HashSet<Link> _links = [];
    private readonly Dictionary<NodeId, Peer> _peers = [];
    private readonly List<Peer> _unnamed = [];    // dialled by endpoint only, identity not known yet
    private readonly List<Listener> _listeners = [];
    private volatile bool _stopping;
    private long _linkSequence;

    public bool IsStopping => _stopping;

    public int LinkCount
    {
        get
        {
            lock (_gate)
                return _links.Count;
        }
    }

    public Link[] Links()
    {
        lock (_gate)
            return [.. _links];
    }

    public IReadOnlyList<Peer> Peers()
    {
        lock (_gate)
            return [.. _peers.Values, .. _unnamed];
    }

    public Peer? FindPeer(NodeId id)
    {
        lock (_gate)
            return _peers.GetValueOrDefault(id);
    }

    /// <summary>From now on no link, no peer and no listener is added.</summary>
    public void BeginStop()
    {
        lock (_gate)
            _stopping = true;
    }

    /// <summary>
    /// The link of a stream, of which the node is the owner from then on; null, and the stream is closed, if the node has ended.
    /// </summary>
    public Link? TryAddLink(ByteStream stream, LinkPhase phase, ListenerCount? listener)
    {
        lock (_gate)
        {
            if (!_stopping)
            {
                var link = new Link(node, stream, phase, listener, ++_linkSequence);
                _links.Add(link);
                return link;
            }
        }

        stream.Dispose();
        return null;
    }

    /// <summary>Removes a link; false if it was not there.</summary>
    public bool Remove(Link link)
    {
        bool known;
        lock (_gate)
            known = _links.Remove(link);

        return known;
    }

    /// <summary>False if the node has begun to stop.</summary>
    public bool TryAdd(Listener listener)
    {
        lock (_gate)
        {
            if (!_stopping)
                _listeners.Add(listener);

            return !_stopping;
        }
    }

    public Listener[] TakeListeners()
    {
        lock (_gate)
        {
            Listener[] listeners = [.. _listeners];
            _listeners.Clear();
            return listeners;
        }
    }

    /// <summary>The peer to dial at an endpoint: known or new. Null if the node has begun to stop.</summary>
    public Peer? PeerAt(EndPoint endPoint, NodeId? expected)
    {
        lock (_gate)
        {
            if (_stopping)
                return null;

            Peer? peer;
            if (expected is null)
            {
                // One dial is enough for all callers.
                peer = _unnamed.Find(other => endPoint.Equals(other.EndPoint));
                if (peer is null)
                {
                    peer = new Peer(node, endPoint, null, false);
                    _unnamed.Add(peer);
                }
            }
            else if (!_peers.TryGetValue(expected, out peer))
            {
                peer = new Peer(node, endPoint, expected, true);
                _peers.Add(expected, peer);
            }

            // Also if another caller has lost its interest: under the gate, so that the peer is not forgotten meanwhile.
            peer.Keep = true;
            peer.EndPoint ??= endPoint;
            return peer;
        }
    }

    /// <inheritdoc cref="MeshNode.StopSearching"/>
    public void StopSearching(Peer peer)
    {
        lock (_gate)
            peer.Keep &= !_unnamed.Contains(peer);
    }

    /// <summary>The peer that has dialled this node: known or new.</summary>
    public Peer PeerOf(NodeId id)
    {
        lock (_gate)
        {
            if (!_peers.TryGetValue(id, out var peer))
            {
                peer = new Peer(node, null, id, false);
                _peers.Add(id, peer);
            }

            return peer;
        }
    }

    /// <summary>Gives a dialled peer the identity that it turned out to have, or finds the peer that has it already.</summary>
    public Peer Named(Peer peer, NodeId id)
    {
        if (peer.Id == id)
            return peer;

        lock (_gate)
        {
            _unnamed.Remove(peer);
            if (_peers.TryGetValue(id, out var known))
            {
                // The known peer takes over the endpoint, and dials it from now on.
                if (peer.Id is not null)
                    _peers.Remove(peer.Id);

                known.EndPoint ??= peer.EndPoint;
                known.Keep |= peer.Keep;
                peer.Dial = null;
                peer.MergeInto(known);
                return known;
            }

            if (peer.Id is not null)
            {
                // Another run of the process at this endpoint: its sessions count from the beginning.
                _peers.Remove(peer.Id);
                peer.LastAccepted = 0;
            }

            peer.Id = id;
            _peers.Add(id, peer);
            return peer;
        }
    }

    /// <summary>Drops a peer that has no session and that is not to be dialled.</summary>
    public void ForgetIfUnused(Peer peer)
    {
        if ((peer.Current ?? peer.Arriving ?? peer.Dial) is not null)
            return;

        lock (_gate)
        {
            // Decided under the gate, as PeerAt sets the endpoint of a known peer under it.
            if (!peer.IsClosed && peer is { EndPoint: not null, Keep: true })
                return;

            peer.MarkClosed();
            _unnamed.Remove(peer);
            if (peer.Id is { } id && _peers.GetValueOrDefault(id) == peer)
                _peers.Remove(id);
        }
    }
}
