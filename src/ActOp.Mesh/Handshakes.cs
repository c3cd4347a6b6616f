using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <summary>
/// The handshakes of one <see cref="MeshNode"/>: from a byte stream to a link of a session. Owns the accepted connections that have not
/// finished theirs (<see cref="PendingHandshakes"/>); <see cref="Peer"/> describes which session remains when both ends dial.
/// <para>Threads: control thread, except <see cref="Accepted"/> (any).</para>
/// </summary>
internal sealed class Handshakes(
    NodeId self, MeshOptions options, TimeProvider time, MeshTables tables, Poller control, Sessions sessions, MeshReports reports,
    MeshEvents events)
    : IDisposable
{
    public PendingHandshakes Pending { get; } = new(options, time);

    /// <summary>A handshake frame arrived.</summary>
    public void Received(Link link, ReadOnlySpan<byte> body)
    {
        var frame = HandshakeFrame.Decode(body);
        switch (link.Phase, frame?.Kind)
        {
            case (LinkPhase.AwaitGreeting or LinkPhase.AwaitHello or LinkPhase.AwaitWelcome, HandshakeKind.Refusal):
                Refuse(link, frame.Reason is DisconnectReason.None ? DisconnectReason.Garbage : frame.Reason, tell: false);
                break;
            case (LinkPhase.AwaitGreeting, HandshakeKind.Greeting) when Agrees(link, frame):
                OnGreeting(link, frame);
                break;
            case (LinkPhase.AwaitHello, HandshakeKind.Hello) when Agrees(link, frame):
                OnHello(link, frame);
                break;
            case (LinkPhase.AwaitWelcome, HandshakeKind.Welcome):
                OnWelcome(link);
                break;
            case (_, null) or (LinkPhase.AwaitGreeting, not HandshakeKind.Greeting):
            case (LinkPhase.AwaitHello, not HandshakeKind.Hello) or (LinkPhase.AwaitWelcome, _):
                RefuseGarbage(link);
                break;
        }
    }

    /// <summary>Closes a link that does not speak the protocol, without an answer.</summary>
    public void RefuseGarbage(Link link) => Refuse(link, DisconnectReason.Garbage, tell: false);

    /// <summary>A listener has accepted a connection.</summary>
    public void Accepted(ByteStream stream, NodeKind accepts)
    {
        if (tables.TryAddLink(stream, LinkPhase.AwaitHello, accepts) is not { } link)
        {
            return;
        }

        try
        {
            if (!Pending.Enter(link))
            {
                link.Abort(DisconnectReason.OutOfDescriptors);
                return;
            }

            link.SendHandshake(NewFrame(HandshakeKind.Greeting).Encode());
            control.Post(() => control.Attach(link), link);
        }
        catch
        {
            // The node owns the stream; the listener logs the exception and continues.
            link.Abort(DisconnectReason.InternalError);
            throw;
        }
    }

    /// <summary>A link was closed before it joined a session.</summary>
    public void Closed(Link link)
    {
        Pending.Leave(link);
        if (link.AbortReason != DisconnectReason.ClosedLocally)
        {
            reports.LinkRefused(link);
        }
    }

    public void Dispose() => Pending.Dispose();

    /// <summary>A dialler's decision: now it knows which node it has reached.</summary>
    private void OnGreeting(Link link, HandshakeFrame greeting)
    {
        var session = link.Session!;
        if (!session.IsCommitted && !TryCommit(session, greeting.Node))
        {
            return;
        }

        if (session.Peer.Id != greeting.Node)
        {
            // The node at the endpoint changed between two links of one dial.
            session.Abort(DisconnectReason.WrongNode);
            return;
        }

        session.Announced ??= greeting.KeepAlive;
        var hello = NewFrame(HandshakeKind.Hello);
        hello.Session = session.Number;
        hello.Channel = link.Channel;
        hello.Index = (ushort)link.Index;
        hello.Links = (ushort)session.DataLinks;
        hello.Supersedes = session.Peer.LastAccepted;
        link.Enter(LinkPhase.AwaitWelcome);
        link.SendHandshake(hello.Encode());
    }

    private bool TryCommit(Session session, NodeId id)
    {
        if (session.Peer.IdentityIsExpected && session.Peer.Id != id)
        {
            session.Abort(DisconnectReason.WrongNode);
            return false;
        }

        var peer = tables.Named(session.Peer, id);
        if ((peer.Arriving ?? peer.Current ?? (peer.Dial == session ? null : peer.Dial)) is not null)
        {
            session.Abort(DisconnectReason.Duplicate);
            return false;
        }

        session.Peer = peer;
        session.IsCommitted = true;
        peer.Arriving = session;
        peer.Dial = session;
        return true;
    }

    /// <summary>An acceptor's decision; see <see cref="Peer"/>, when both ends dial.</summary>
    private void OnHello(Link link, HandshakeFrame hello)
    {
        var peer = tables.PeerOf(hello.Node);
        var session = SessionFor(peer, hello);
        session?.Announced ??= hello.KeepAlive;
        if (session is null || !session.TryJoin(link, hello.Channel, hello.Index))
        {
            Refuse(link, DisconnectReason.Duplicate, tell: true);
            tables.ForgetIfUnused(peer);
            return;
        }

        Pending.Leave(link);
        // Held before the welcome leaves: after it frames may arrive, which wait until the session is complete.
        link.Enter(LinkPhase.Held);
        session.Welcomed++;
        // Sent before the session opens, so that no frame of this end overtakes it.
        link.SendHandshake(NewFrame(HandshakeKind.Welcome).Encode());
        sessions.TryPromote(peer);
    }

    private Session? SessionFor(Peer peer, HandshakeFrame hello)
    {
        if (tables.IsStopping)
        {
            return null;
        }

        if (peer.Arriving is { IsEnding: false } arriving)
        {
            if (arriving.IsDialled)
            {
                if (self.CompareTo(hello.Node) < 0)
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
        sessions.Limit(session);
        return session;
    }

    private void OnWelcome(Link link)
    {
        var session = link.Session!;
        link.Enter(LinkPhase.Held);
        session.Welcomed++;
        sessions.TryPromote(session.Peer);
    }

    private bool Agrees(Link link, HandshakeFrame frame)
    {
        link.ProtocolVersion = frame.CommonVersion;
        var reason = frame.CommonVersion == 0 ? DisconnectReason.WrongVersion
            : frame.Cluster != options.ClusterId ? DisconnectReason.WrongCluster
            : frame.Service != options.ServiceId ? DisconnectReason.WrongService
            : frame.Node == self ? DisconnectReason.Self
            : frame.NodeKind != link.Accepts ? DisconnectReason.WrongRole
            : !events.AcceptsName(frame.Node) ? DisconnectReason.WrongName
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
            var refusal = NewFrame(HandshakeKind.Refusal);
            refusal.Reason = reason;
            link.SendHandshake(refusal.Encode());
        }

        control.CloseNow(link, reason);
    }

    private HandshakeFrame NewFrame(HandshakeKind kind) => new()
    {
        Kind = kind,
        Cluster = options.ClusterId,
        Service = options.ServiceId,
        NodeKind = self.Kind,
        Name = self.Name,
        KeepAlive = (int)options.KeepAliveInterval.TotalMilliseconds,
    };
}
