namespace ActOp.Mesh;

/// <content>Dialling, the life of sessions and peers. Control thread.</content>
public sealed partial class MeshNode
{
    private void StartDial(Peer peer)
    {
        peer.Redial?.Dispose();
        peer.Redial = null;
        if (_stopping || peer.IsClosed || peer.MergedInto is not null || peer.EndPoint is null
            || (peer.Current ?? peer.Arriving ?? peer.Dial) is not null)
        {
            return;
        }

        _lastSession++;
        var session = new Session(peer, _lastSession, dialled: true, Options.LinksPerPeer);
        peer.Dial = session;
        Limit(session);
        try
        {
            for (var i = -1; i < session.DataLinks; i++)
            {
                if (TryAddLink(_transport.Dial(peer.EndPoint), LinkPhase.AwaitGreeting) is not { } link)
                {
                    return;
                }

                session.TryJoin(link, i < 0 ? Channel.Control : Channel.Data, Math.Max(i, 0));
                ControlPoller.Post(() => ControlPoller.Attach(link), link);
            }
        }
        catch (Exception exception)
        {
            // Out of descriptors, for example: a failed dial like others, repeated after the back-off.
            Log.DialThrew(exception, peer.Name);
            session.Abort(DisconnectReason.ConnectFailed);
            if (session.IsOver)
            {
                SessionOver(session);
            }
        }
    }

    /// <summary>A dialler's decision: now it knows whom it has reached.</summary>
    private void Greeted(Link link, HandshakeFrame greeting)
    {
        var session = link.Session!;
        if (!session.IsCommitted && !TryCommit(session, greeting.Node))
        {
            return;
        }

        if (session.Peer.Id != greeting.Node)
        {
            // A name behind one endpoint changed between two links of one dial.
            session.Abort(DisconnectReason.WrongNode);
            return;
        }

        session.Announced ??= greeting.KeepAlive;
        var hello = Say(HandshakeKind.Hello);
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

        var peer = Named(session.Peer, id);
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

    /// <summary>Gives a dialled peer the identity that it turned out to have, or finds the peer that has it already.</summary>
    private Peer Named(Peer peer, NodeId id)
    {
        if (peer.Id == id)
        {
            return peer;
        }

        lock (_tablesGate)
        {
            _unnamed.Remove(peer);
            if (_peers.TryGetValue(id, out var known))
            {
                // The known peer takes over the endpoint, and with it the duty to dial.
                if (peer.Id is not null)
                {
                    _peers.Remove(peer.Id);
                }

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

    /// <summary>Makes the complete arriving session the current one, as soon as the one before is over.</summary>
    private void TryPromote(Peer peer)
    {
        if (peer.Current is not null || peer.Arriving is not { IsComplete: true } session)
        {
            return;
        }

        session.Deadline?.Dispose();
        peer.Arriving = null;
        peer.Dial = peer.Dial == session ? null : peer.Dial;
        peer.Current = session;
        peer.Failures = 0;
        if (!session.IsDialled)
        {
            peer.LastAccepted = session.Number;
        }

        foreach (var link in session.Joined())
        {
            link.Open();
        }

        peer.Publish(session);
        _metrics.Sessions.Add(1);
        Log.PeerConnected(peer.Id!.Kind, peer.Name, session.Number, session.DataLinks, session.IsDialled ? "dialled" : "accepted");
        if (!Tell(peer, nameof(MeshEvents.PeerConnected), static (events, peer, _) => events.PeerConnected(peer)))
        {
            // The runtime does not know the peer: its frames would find nobody.
            session.Abort(DisconnectReason.ReceiverFailed);
        }

        ControlPoller.Post(() => ControlPoller.Attach(session.Control), session.Control);
        foreach (var link in session.Data())
        {
            Assign(link);
        }
    }

    private void Assign(Link link) => ControlPoller.Post(
        () =>
        {
            // Posted so that no read of this link is under way; under the gate so that SetPollers misses no link.
            lock (_pollersGate)
            {
                ControlPoller.TryMove(link, PollerOf(link));
            }
        },
        link);

    /// <summary>Tells the runtime; false if it threw. What it does with an event must not keep the mesh from its own part of it.</summary>
    private bool Tell(Peer peer, string name, Action<MeshEvents, Peer, DisconnectReason> tell, DisconnectReason reason = DisconnectReason.None)
    {
        try
        {
            tell(Events, peer, reason);
            return true;
        }
        catch (Exception exception)
        {
            Log.EventFailed(exception, name, peer.Name);
            return false;
        }
    }

    /// <summary>Says to every peer that this node is there, and ends the sessions of those that have said nothing for too long.</summary>
    private void KeepAlive()
    {
        var period = Options.KeepAlivePeriod!.Value;
        foreach (var peer in Peers())
        {
            if (peer.Current is not { IsEnding: false, Announced: { } announced } session)
            {
                continue;
            }

            var silent = session.SilentPeriods() * period;
            var patience = Math.Max(Options.KeepAliveTimeout.TotalMilliseconds, 3.0 * announced);
            if (Options.KeepAliveTimeout > TimeSpan.Zero && announced > 0 && silent.TotalMilliseconds >= patience)
            {
                session.Abort(DisconnectReason.Silent);
            }
            else if (Options.KeepAliveInterval > TimeSpan.Zero)
            {
                session.Control.SendKeepAlive();
            }
        }
    }

    private void Closed(Link link)
    {
        if (link.Session is not { } session)
        {
            // Never became part of a session.
            PendingHandshakes.Leave(link);
            if (link.AbortReason != DisconnectReason.ClosedLocally)
            {
                _metrics.HandshakeFailures.Add(1);
                Log.LinkRefused(link.RemoteEndPoint, link.AbortReason);
            }

            return;
        }

        session.CountClosed();
        EndSession(session, link);
        if (session.IsOver)
        {
            SessionOver(session);
        }
    }

    /// <summary>One link is gone: so goes the session, in order if that link ended in order.</summary>
    private void EndSession(Session session, Link link)
    {
        var reason = link.AbortReason;
        var wasEnding = session.IsEnding;
        if (!wasEnding && session == session.Peer.Current && reason is not (DisconnectReason.PeerClosed or DisconnectReason.ClosedLocally))
        {
            Log.LinkBroke(session.Peer.Name, link.Channel, link.Index, reason);
        }

        if (session == session.Peer.Current && reason == DisconnectReason.PeerClosed)
        {
            session.Finish(reason);
            if (!wasEnding && !session.IsOver)
            {
                Limit(session);
            }
        }
        else if (!wasEnding)
        {
            session.Abort(reason);
        }
    }

    private void SessionOver(Session session)
    {
        var peer = session.Peer;
        session.Deadline?.Dispose();
        var wasCurrent = peer.Current == session;
        if (wasCurrent)
        {
            peer.Publish(null);
            peer.Current = null;
            Log.PeerDisconnected(peer.Name, session.Number, session.Reason);
            Tell(peer, nameof(MeshEvents.PeerDisconnected), static (events, peer, reason) => events.PeerDisconnected(peer, reason), session.Reason);
        }

        peer.Arriving = peer.Arriving == session ? null : peer.Arriving;
        peer.Dial = peer.Dial == session ? null : peer.Dial;
        TryPromote(peer);
        if (session.IsDialled && !wasCurrent)
        {
            DialOver(peer, session.Reason);
        }
        else
        {
            ScheduleDial(peer);
        }

        ForgetIfUnused(peer);
    }

    private void DialOver(Peer peer, DisconnectReason reason)
    {
        if (reason == DisconnectReason.Duplicate || peer.MergedInto is not null)
        {
            // Not a failure: another session is there or on its way. The back-off covers the case that it does not arrive.
            ScheduleDial(peer);
            return;
        }

        peer.Failures++;
        _metrics.HandshakeFailures.Add(1);
        var delay = ScheduleDial(peer);
        Log.DialFailed(peer.Name, peer.Failures, reason, delay);
        Tell(peer, nameof(MeshEvents.DialFailed), static (events, peer, reason) => events.DialFailed(peer, reason, peer.Failures), reason);
    }

    /// <summary>Returns the wait, or null if the peer is not to be dialled again.</summary>
    private TimeSpan? ScheduleDial(Peer peer)
    {
        if (_stopping || peer.IsClosed || !peer.Keep || peer.EndPoint is null || peer.MergedInto is not null
            || (peer.Current ?? peer.Arriving ?? peer.Dial) is not null)
        {
            return null;
        }

        var longest = peer.Id is null ? Options.SearchMax : Options.ReconnectMax;
        var whole = Math.Min(Options.ReconnectMin.TotalMilliseconds * Math.Pow(2, Math.Min(peer.Failures, 30)), longest.TotalMilliseconds);
        var delay = TimeSpan.FromMilliseconds(whole * (0.5 + (0.5 * _jitter.NextDouble())));
        peer.Redial?.Dispose();
        peer.Redial = _time.CreateTimer(_ => ControlPoller.Post(() => StartDial(peer)), null, delay, Timeout.InfiniteTimeSpan);
        return delay;
    }

    private void ClosePeer(Peer peer)
    {
        if (peer.MergedInto is { } other)
        {
            peer = other;
        }

        if (peer.IsClosed)
        {
            return;
        }

        peer.MarkClosed();
        peer.Redial?.Dispose();
        peer.Arriving?.Abort(DisconnectReason.ClosedLocally);
        peer.Dial?.Abort(DisconnectReason.ClosedLocally);
        if (peer.Current is { } session)
        {
            session.Finish(DisconnectReason.ClosedLocally);
            Limit(session);
        }

        ForgetIfUnused(peer);
    }

    /// <summary>Drops a peer that has no session and that we are not to dial.</summary>
    private void ForgetIfUnused(Peer peer)
    {
        if ((peer.Current ?? peer.Arriving ?? peer.Dial) is not null)
        {
            return;
        }

        lock (_tablesGate)
        {
            // Decided under the gate: Connect sets the endpoint of a peer that it finds in the table under it.
            if (!peer.IsClosed && peer is { EndPoint: not null, Keep: true })
            {
                return;
            }

            peer.MarkClosed();
            _unnamed.Remove(peer);
            if (peer.Id is { } id && _peers.GetValueOrDefault(id) == peer)
            {
                _peers.Remove(id);
            }
        }
    }
}
