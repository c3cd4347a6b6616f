namespace ActOp.Mesh;

/// <summary>
/// The handshakes of one <see cref="MeshNode"/>: from a link to a link of a session. Accepted connections that have not finished theirs are
/// in <see cref="PendingHandshakes"/>; <see cref="Peer"/> describes which session remains when both ends dial.
/// <para>Who says what when: an acceptor tells its identity only to a dialler that has reached the listener of its kind, that knows the
/// ids, and that has proved the secret if there is one. A dialler commits only to an acceptor that has proved it too. Until the claim,
/// nothing is kept of a dialler but its link and its place among the pending handshakes; a refusal, an exception, or the deadline closes
/// the link, which gives both back.</para>
/// <para>Threads: control thread.</para>
/// </summary>
internal sealed class Handshakes(
    HandshakeIdentity identity, PendingHandshakes pending, MeshTables tables, Poller control, Sessions sessions, MeshReports reports,
    NameOwners owners)
{
    /// <summary>A handshake frame arrived.</summary>
    public void Received(Link link, ReadOnlySpan<byte> body)
    {
        var frame = HandshakeFrame.Decode(body);
        if (frame is null)
        {
            RefuseGarbage(link);
            return;
        }

        link.ProtocolVersion = Math.Min(frame.CommonVersion, identity.HighestVersion);
        if (frame.Kind == HandshakeKind.Refusal)
            Refuse(link, frame.Reason is DisconnectReason.None ? DisconnectReason.Garbage : frame.Reason, tell: false);
        else if (frame.CommonVersion == 0)
            Refuse(link, DisconnectReason.WrongVersion, tell: true);
        else
            OnFrame(link, frame, body);
    }

    /// <summary>Each phase has one frame that it waits for; every other one is garbage.</summary>
    private void OnFrame(Link link, HandshakeFrame frame, ReadOnlySpan<byte> body)
    {
        var reason = DisconnectReason.Garbage;
        switch (link.Phase, frame.Kind)
        {
            case (LinkPhase.AwaitGreeting, HandshakeKind.Greeting):
                link.Transcript!.Add(body);
                OnGreeting(link);
                return;
            case (LinkPhase.AwaitHello, HandshakeKind.Hello)
                when (reason = identity.CheckHello(link, frame, body)) == DisconnectReason.None:
                OnHello(link, frame, body);
                return;
            case (LinkPhase.AwaitAnswer, HandshakeKind.Answer)
                when (reason = identity.CheckAnswer(link, frame, body)) == DisconnectReason.None:
                OnAnswer(link, frame, body);
                return;
            case (LinkPhase.AwaitClaim, HandshakeKind.Claim)
                when (reason = HandshakeIdentity.CheckProof(link, frame, body)) == DisconnectReason.None:
                OnClaim(link, frame, body);
                return;
            case (LinkPhase.AwaitWelcome, HandshakeKind.Welcome)
                when (reason = HandshakeIdentity.CheckProof(link, frame, body)) == DisconnectReason.None:
                OnWelcome(link, frame);
                return;
            default:
                Refuse(link, reason, tell: reason != DisconnectReason.Garbage);
                return;
        }
    }

    /// <summary>Closes a link that does not speak the protocol, without an answer.</summary>
    public void RefuseGarbage(Link link) => Refuse(link, DisconnectReason.Garbage, tell: false);

    /// <summary>A link was closed before it joined a session.</summary>
    public void Closed(Link link)
    {
        pending.Leave(link);
        // A dialler that goes after it has proved itself and learned whom it has reached only asked (MeshNode.Ask).
        var asked = link is { AbortReason: DisconnectReason.PeerClosed or DisconnectReason.Reset, Transcript.Node: not null };
        if (link.AbortReason != DisconnectReason.ClosedLocally && !asked)
            reports.LinkRefused(link);
    }

    /// <summary>A dialler shows what it knows. It does not know yet whom it has reached.</summary>
    private void OnGreeting(Link link)
    {
        var hello = identity.Hello(link.Transcript!);
        link.Enter(LinkPhase.AwaitAnswer);
        Send(link, hello);
    }

    private void OnHello(Link link, HandshakeFrame hello, ReadOnlySpan<byte> body)
    {
        var transcript = link.Transcript!;
        transcript.Add(body);
        transcript.Node = hello.Node;
        transcript.KeepAlive = hello.KeepAlive;
        pending.Proved(link);
        link.Enter(LinkPhase.AwaitClaim);
        Send(link, identity.Answer());
    }

    /// <summary>A dialler's decision: now it knows which node it has reached.</summary>
    private void OnAnswer(Link link, HandshakeFrame answer, ReadOnlySpan<byte> body)
    {
        var session = link.Session!;
        if (session.Asked is not null)
        {
            session.IsAnswered = session.Peer.Id == answer.Node;
            session.Abort(session.IsAnswered ? DisconnectReason.ClosedLocally : DisconnectReason.WrongNode);
            return;
        }

        if (!session.IsCommitted && !TryCommit(session, answer.Node))
            return;

        if (session.Peer.Id != answer.Node)
        {
            // The node at the endpoint changed between two links of one dial.
            session.Abort(DisconnectReason.WrongNode);
            return;
        }

        session.Announced ??= answer.KeepAlive;
        link.Transcript!.Add(body);
        link.Enter(LinkPhase.AwaitWelcome);
        Send(link, identity.Claim(link, session, answer.Node));
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
    private void OnClaim(Link link, HandshakeFrame claim, ReadOnlySpan<byte> body)
    {
        var transcript = link.Transcript!;
        var node = transcript.Node!;
        if (owners.Check(node, claim.Token) is not DisconnectReason.None and var reason)
        {
            Refuse(link, reason, tell: true);
            return;
        }

        var peer = tables.PeerOf(node);
        var session = SessionFor(peer, claim);
        session?.Announced ??= transcript.KeepAlive;
        session?.Mark ??= claim.Mark;
        // Each link has proved it, or the session has no rights.
        session?.IsOperator &= transcript.IsOperator;
        if (session is null || !session.TryBind(transcript.Tenant) || !session.TryJoin(link, claim.Channel, claim.Index))
        {
            Refuse(link, DisconnectReason.Duplicate, tell: true);
            tables.ForgetIfUnused(peer);
            return;
        }

        owners.BeginSession(node, claim.Token);
        pending.Leave(link);
        transcript.Add(body);
        // Made before the transcript goes; held before it leaves: after it frames may arrive, which wait until the session is complete.
        var welcome = transcript.Seal(identity.Welcome(node));
        link.Enter(LinkPhase.Held);
        session.Welcomed++;
        // Sent before the session opens, so that no frame of this end overtakes it.
        link.SendHandshake(welcome);
        sessions.TryPromote(peer);
    }

    private Session? SessionFor(Peer peer, HandshakeFrame claim)
    {
        if (tables.IsStopping)
            return null;

        if (peer.Arriving is { IsEnding: false } arriving)
        {
            if (arriving.IsDialled)
            {
                if (identity.Self.CompareTo(peer.Id) < 0)
                    return null;

                arriving.Abort(DisconnectReason.Duplicate);
            }
            else if (arriving.Number >= claim.Session)
            {
                return arriving.Number == claim.Session && arriving.DataLinks == claim.Links ? arriving : null;
            }
            else
            {
                arriving.Abort(DisconnectReason.Superseded);
            }
        }
        else if (peer.Current is { IsEnding: false } current)
        {
            if (current.Number > (current.IsDialled ? claim.Supersedes : claim.Session - 1))
                return null;

            current.Abort(DisconnectReason.Superseded);
        }

        var session = new Session(peer, claim.Session, dialled: false, claim.Links, LinkLayout.Decode(claim.Layout, claim.Links));
        peer.Arriving = session;
        sessions.Limit(session);
        return session;
    }

    private void OnWelcome(Link link, HandshakeFrame welcome)
    {
        var session = link.Session!;
        var node = session.Peer.Id!;
        if (owners.Check(node, welcome.Token) is not DisconnectReason.None and var reason)
        {
            Refuse(link, reason, tell: false);
            return;
        }

        owners.BeginSession(node, welcome.Token);
        link.Enter(LinkPhase.Held);
        session.Welcomed++;
        sessions.TryPromote(session.Peer);
    }

    /// <summary>Sends a frame that belongs to the transcript.</summary>
    internal static void Send(Link link, HandshakeFrame frame)
    {
        var transcript = link.Transcript!;
        var bytes = transcript.Seal(frame);
        transcript.Add(bytes);
        link.SendHandshake(bytes);
    }

    /// <summary>Ends a handshake. A dial's end is logged once by the dial, an accepted link's here (by <see cref="Closed"/>).</summary>
    private void Refuse(Link link, DisconnectReason reason, bool tell)
    {
        if (tell)
            link.SendHandshake(new HandshakeFrame { Kind = HandshakeKind.Refusal, Reason = reason }.Encode());

        control.CloseNow(link, reason);
    }
}
