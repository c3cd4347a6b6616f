using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <content>From a byte stream to a link of a session. Control thread, but for <see cref="Accepted"/>.</content>
public sealed partial class MeshNode
{
    internal void HandshakeReceived(Link link, ReadOnlySpan<byte> body)
    {
        var frame = HandshakeFrame.Decode(body);
        switch (link.Phase, frame?.Kind)
        {
            case (LinkPhase.AwaitGreeting or LinkPhase.AwaitHello or LinkPhase.AwaitWelcome, HandshakeKind.Refusal):
                Refuse(link, frame.Reason is DisconnectReason.None ? DisconnectReason.Garbage : frame.Reason, tell: false);
                break;
            case (LinkPhase.AwaitGreeting, HandshakeKind.Greeting) when Agrees(link, frame):
                Greeted(link, frame);
                break;
            case (LinkPhase.AwaitHello, HandshakeKind.Hello) when Agrees(link, frame):
                Asked(link, frame);
                break;
            case (LinkPhase.AwaitWelcome, HandshakeKind.Welcome):
                Welcome(link);
                break;
            case (_, null) or (LinkPhase.AwaitGreeting, not HandshakeKind.Greeting) or (LinkPhase.AwaitHello, not HandshakeKind.Hello) or (LinkPhase.AwaitWelcome, _):
                RefuseGarbage(link);
                break;
        }
    }

    /// <summary>No answer to whoever does not speak the protocol.</summary>
    internal void RefuseGarbage(Link link) => Refuse(link, DisconnectReason.Garbage, tell: false);

    /// <summary>The last word about a link, from its poller.</summary>
    internal void LinkClosed(Link link)
    {
        bool known;
        lock (_tablesGate)
        {
            known = _links.Remove(link);
        }

        if (known)
        {
            _metrics.Fold(link);
            ControlPoller.Post(() => Closed(link));
        }
    }

    private void Accepted(ByteStream stream)
    {
        if (TryAddLink(stream, LinkPhase.AwaitHello) is not { } link)
        {
            return;
        }

        try
        {
            if (!PendingHandshakes.Enter(link))
            {
                link.Abort(DisconnectReason.OutOfDescriptors);
                return;
            }

            link.SendHandshake(Say(HandshakeKind.Greeting).Encode());
            ControlPoller.Post(() => ControlPoller.Attach(link), link);
        }
        catch
        {
            // The node owns the stream; the listener logs and goes on.
            link.Abort(DisconnectReason.InternalError);
            throw;
        }
    }

    /// <summary>
    /// The link of a stream, of which the node is the owner from then on; null, and the stream is closed, if the node has ended.
    /// </summary>
    private Link? TryAddLink(ByteStream stream, LinkPhase phase)
    {
        lock (_tablesGate)
        {
            if (!_stopping)
            {
                var link = new Link(this, stream, phase, ++_linkSequence);
                _links.Add(link);
                return link;
            }
        }

        stream.Dispose();
        return null;
    }

    private HandshakeFrame Say(HandshakeKind kind) => new()
    {
        Kind = kind,
        Cluster = Options.ClusterId,
        Service = Options.ServiceId,
        NodeKind = Id.Kind,
        Name = Id.Name,
        KeepAlive = (int)Options.KeepAliveInterval.TotalMilliseconds,
    };

    private bool Agrees(Link link, HandshakeFrame frame)
    {
        link.ProtocolVersion = frame.CommonVersion;
        var reason = frame.CommonVersion == 0 ? DisconnectReason.WrongVersion
            : frame.Cluster != Options.ClusterId ? DisconnectReason.WrongCluster
            : frame.Service != Options.ServiceId ? DisconnectReason.WrongService
            : frame.Node == Id ? DisconnectReason.Self
            : DisconnectReason.None;
        if (reason != DisconnectReason.None)
        {
            Refuse(link, reason, tell: true);
        }

        return reason == DisconnectReason.None;
    }

    /// <summary>Ends a handshake. A dial's end is logged once by the dial, an accepted link's here (by <see cref="Closed"/>).</summary>
    private void Refuse(Link link, DisconnectReason reason, bool tell)
    {
        if (tell)
        {
            var refusal = Say(HandshakeKind.Refusal);
            refusal.Reason = reason;
            link.SendHandshake(refusal.Encode());
        }

        ControlPoller.CloseNow(link, reason);
    }

    /// <summary>An acceptor's decision; see <see cref="Peer"/>, when both ends dial.</summary>
    private void Asked(Link link, HandshakeFrame hello)
    {
        var peer = AcceptedPeer(hello.Node);
        var session = SessionFor(peer, hello);
        session?.Announced ??= hello.KeepAlive;
        if (session is null || !session.TryJoin(link, hello.Channel, hello.Index))
        {
            Refuse(link, DisconnectReason.Duplicate, tell: true);
            ForgetIfUnused(peer);
            return;
        }

        PendingHandshakes.Leave(link);
        // Held before the welcome leaves: from then on frames may come, and they wait for the whole session.
        link.Enter(LinkPhase.Held);
        session.Welcomed++;
        // And sent before the session opens: no frame of ours may overtake it.
        link.SendHandshake(Say(HandshakeKind.Welcome).Encode());
        TryPromote(peer);
    }

    private Session? SessionFor(Peer peer, HandshakeFrame hello)
    {
        if (_stopping)
        {
            return null;
        }

        if (peer.Arriving is { IsEnding: false } arriving)
        {
            if (arriving.IsDialled)
            {
                if (Id.CompareTo(hello.Node) < 0)
                {
                    return null;
                }

                arriving.Abort(DisconnectReason.Duplicate);
            }
            else if (arriving.Number >= hello.Session)
            {
                return arriving.Number == hello.Session && arriving.DataLinks == hello.Links ? arriving : null;
            }
            else
            {
                arriving.Abort(DisconnectReason.Superseded);
            }
        }
        else if (peer.Current is { IsEnding: false } current)
        {
            if (current.Number > (current.IsDialled ? hello.Supersedes : hello.Session - 1))
            {
                return null;
            }

            current.Abort(DisconnectReason.Superseded);
        }

        var session = new Session(peer, hello.Session, dialled: false, hello.Links);
        peer.Arriving = session;
        Limit(session);
        return session;
    }

    private void Welcome(Link link)
    {
        var session = link.Session!;
        link.Enter(LinkPhase.Held);
        session.Welcomed++;
        TryPromote(session.Peer);
    }

    private void Limit(Session session)
    {
        session.Deadline?.Dispose();
        session.Deadline = _time.CreateTimer(
            _ => ControlPoller.Post(() =>
            {
                if (session != session.Peer.Current || session.IsEnding)
                {
                    session.Abort(DisconnectReason.HandshakeTimeout);
                }
            }),
            null,
            Options.HandshakeTimeout,
            Timeout.InfiniteTimeSpan);
    }

    private Peer AcceptedPeer(NodeId id)
    {
        lock (_tablesGate)
        {
            if (!_peers.TryGetValue(id, out var peer))
            {
                peer = new Peer(this, null, id, false);
                _peers.Add(id, peer);
            }

            return peer;
        }
    }
}
