using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <summary>
/// The links that two nodes open together: one control link and some data links. A session begins and ends as a whole, so that the
/// possible loss of frames is one event and not a state per link. Control thread only.
/// </summary>
internal sealed class Session
{
    private readonly Link?[] _links;
    private int _closed;

    public Session(Peer peer, ulong number, bool dialled, int dataLinks, LinkLayout? layout = null)
    {
        Layout = layout ?? LinkLayout.Plain;
        Peer = peer;
        Number = number;
        IsDialled = dialled;
        _links = new Link?[1 + dataLinks];
    }

    public Peer Peer { get; set; }

    /// <summary>As the end that has dialled says.</summary>
    public LinkLayout Layout { get; }

    public ulong Number { get; }

    /// <summary>Dialled by this node, not accepted.</summary>
    public bool IsDialled { get; }

    /// <summary>Of a dialled session: a claim has been sent, so the other end may have accepted it.</summary>
    public bool IsCommitted { get; set; }

    /// <summary>
    /// Not null: it only asks who answers at the endpoint, and never opens. Called once, when it is over, with null if the expected node
    /// has answered.
    /// </summary>
    public Action<DialFailure?>? Asked { get; init; }

    /// <summary>The expected node has answered a session that only asks.</summary>
    public bool IsAnswered { get; set; }

    /// <summary>The reason of its end; None while it has not begun.</summary>
    public DisconnectReason Reason { get; private set; }

    public bool IsEnding => Reason != DisconnectReason.None;

    /// <summary>What the transport knows about the reason.</summary>
    public string? Why { get; set; }

    /// <summary>Limits the handshake, and later the orderly close.</summary>
    public ITimer? Deadline { get; set; }

    /// <summary>Milliseconds between two keep-alives of the other end, 0 for none; null if it does not know them.</summary>
    public int? Announced { get; set; }

    /// <inheritdoc cref="Peer.Mark"/>
    public ulong? Mark { get; set; }

    /// <summary>Of an accepted session: all links that have joined know the secret of operators.</summary>
    public bool IsOperator { get; set; } = true;

    /// <summary>Of an accepted session: the tenant whose secret each link has proved; null for none.</summary>
    public string? Tenant { get; private set; }

    /// <summary>Bytes received up to the last check, and checks since then that found no more.</summary>
    private (long Bytes, int Checks) _heard;

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
                yield return link;
        }
    }

    /// <summary>The first link decides of which tenant the session is. False for a later one that is of another.</summary>
    public bool TryBind(string? tenant)
    {
        if (JoinedCount == 0)
            Tenant = tenant;
        return Tenant == tenant;
    }

    /// <summary>False if the place is taken.</summary>
    public bool TryJoin(Link link, Channel channel, int index)
    {
        var slot = channel == Channel.Control ? 0 : 1 + index;
        if (slot >= _links.Length || _links[slot] is not null)
            return false;

        _links[slot] = link;
        link.Join(this, channel, index);
        JoinedCount++;
        Invariant.Holds(JoinedCount <= _links.Length && _closed < JoinedCount);
        return true;
    }

    public void CountClosed()
    {
        Invariant.Holds(_closed < JoinedCount);
        _closed++;
    }

    /// <summary>Checks for bytes from the other end, once in each period; returns for how many periods there were none.</summary>
    public int SilentPeriods()
    {
        var bytes = 0L;
        foreach (var link in Joined())
            bytes += link.BytesReceived;

        _heard = bytes == _heard.Bytes ? (bytes, _heard.Checks + 1) : (bytes, 0);
        return _heard.Checks;
    }

    /// <summary>Ends the session at once; frames in transit are lost. The first reason stays.</summary>
    public void Abort(DisconnectReason reason)
    {
        NoteReason(reason);
        foreach (var link in Joined())
            link.Abort(Reason);
    }

    /// <summary>Ends the session at once for the reason why a link of it was closed, although the other end has closed it too.</summary>
    public void Condemn(DisconnectReason reason)
    {
        Reason = reason;
        Abort(reason);
    }

    /// <summary>Ends the session in order: frames that were accepted are sent, frames that the other end has sent are delivered.</summary>
    public void Finish(DisconnectReason reason)
    {
        NoteReason(reason);
        foreach (var link in Joined())
            link.FinishSending();
    }

    private void NoteReason(DisconnectReason reason)
    {
        if (!IsEnding)
            Reason = reason;
    }
}

/// <summary>
/// The sessions of one <see cref="MeshNode"/> from the first complete handshake to the last closed link. Owns the time limits and the
/// keep-alives; the sessions themselves are properties of <see cref="Peer"/>. <see cref="Dials"/> is the other part: the end of a session
/// leads to a dial, and a dial that fails ends a session.
/// <para>Threads: control thread; the timers post to it.</para>
/// </summary>
internal sealed class Sessions : IDisposable
{
    private readonly MeshTables _tables;
    private readonly MeshPollers _pollers;
    private readonly MeshOptions _options;
    private readonly TimeProvider _time;
    private readonly MeshReports _reports;
    private readonly NameOwners _owners;
    private readonly ITimer? _keepAlive;
    private int _isKeepAliveDue;

    public Sessions(
        MeshTables tables, MeshPollers pollers, MeshOptions options, TimeProvider time, MeshReports reports, Transport transport,
        NameOwners owners)
    {
        _tables = tables;
        _pollers = pollers;
        _options = options;
        _time = time;
        _reports = reports;
        _owners = owners;
        Dials = new Dials(this, tables, pollers.Control, options, time, reports, transport);
        if (options.KeepAlivePeriod is { } period)
            _keepAlive = time.CreateTimer(_ => PostKeepAlives(), null, period, period);
    }

    public Dials Dials { get; }

    public void Dispose() => _keepAlive?.Dispose();

    /// <summary>Ends the session if its handshake, or its orderly close, takes too long.</summary>
    public void Limit(Session session)
    {
        session.Deadline?.Dispose();
        session.Deadline = _time.CreateTimer(
            _ => _pollers.Control.Post(() =>
            {
                if (session != session.Peer.Current || session.IsEnding)
                    session.Abort(DisconnectReason.HandshakeTimeout);
            }),
            null,
            _options.HandshakeTimeout,
            Timeout.InfiniteTimeSpan);
    }

    /// <summary>Makes the complete arriving session the current one, as soon as the one before is over.</summary>
    public void TryPromote(Peer peer)
    {
        if (peer.Current is not null || peer.Arriving is not { IsComplete: true } session)
            return;

        session.Deadline?.Dispose();
        Invariant.Holds(session.Peer == peer && session.Asked is null && !session.IsOver);
        peer.Arriving = null;
        peer.Dial = peer.Dial == session ? null : peer.Dial;
        peer.Current = session;
        peer.Failures = 0;
        peer.LastFailure = null;
        if (!session.IsDialled)
            peer.LastAccepted = session.Number;

        foreach (var link in session.Joined())
            link.Open();

        peer.Publish(session);
        if (!_reports.Connected(peer, session))
        {
            // The runtime does not know the peer, so it could not receive its frames.
            session.Abort(DisconnectReason.ReceiverFailed);
        }

        _pollers.Control.Post(() => _pollers.Control.Attach(session.Control), session.Control);
        foreach (var link in session.Data())
            _pollers.Assign(link);
    }

    /// <summary>A link that had joined a session is closed.</summary>
    public void Closed(Link link, Session session)
    {
        session.CountClosed();
        End(session, link);
        if (session.IsOver)
            Over(session);
    }

    /// <summary>All links of a session are closed.</summary>
    public void Over(Session session)
    {
        Invariant.Holds(session.IsOver);
        var peer = session.Peer;
        session.Deadline?.Dispose();
        if (session.Asked is { } asked)
        {
            asked(session.IsAnswered ? null : new DialFailure(session.Reason, session.Why));
            return;
        }

        var wasCurrent = peer.Current == session;
        if (wasCurrent)
        {
            peer.Publish(null);
            peer.Current = null;
            _reports.Disconnected(peer, session);
        }

        peer.Arriving = peer.Arriving == session ? null : peer.Arriving;
        peer.Dial = peer.Dial == session ? null : peer.Dial;
        if (peer.Id is { } name && (peer.Current ?? peer.Arriving) is null)
            _owners.Release(name);

        TryPromote(peer);
        if (session.IsDialled && !wasCurrent)
            Dials.Over(peer, new DialFailure(session.Reason, session.Why));
        else
            Dials.Schedule(peer);

        _tables.ForgetIfUnused(peer);
    }

    /// <summary>Removes a peer, in order if it is connected.</summary>
    public void Close(Peer peer)
    {
        if (peer.MergedInto is { } other)
            peer = other;

        if (peer.IsClosed)
            return;

        peer.MarkClosed();
        peer.Redial?.Dispose();
        peer.Arriving?.Abort(DisconnectReason.ClosedLocally);
        peer.Dial?.Abort(DisconnectReason.ClosedLocally);
        if (peer.Current is { } session)
        {
            session.Finish(DisconnectReason.ClosedLocally);
            Limit(session);
        }

        _tables.ForgetIfUnused(peer);
    }

    /// <summary>
    /// From the timer. One at a time: after a pause of this process, what has arrived meanwhile is read before the next check.
    /// </summary>
    private void PostKeepAlives()
    {
        if (Interlocked.Exchange(ref _isKeepAliveDue, 1) == 0)
        {
            _pollers.Control.Post(() =>
            {
                Volatile.Write(ref _isKeepAliveDue, 0);
                KeepAlive();
            });
        }
    }

    /// <summary>Sends a keep-alive to every peer, and ends the sessions of those that have sent nothing for too long.</summary>
    private void KeepAlive()
    {
        var period = _options.KeepAlivePeriod!.Value;
        foreach (var peer in _tables.Peers())
        {
            if (peer.Current is not { IsEnding: false } session)
                continue;

            var silent = session.SilentPeriods() * period;
            if (_options.KeepAliveTimeout > TimeSpan.Zero && silent.TotalMilliseconds >= PatienceWith(session))
                session.Abort(DisconnectReason.Silent);
            else if (_options.KeepAliveInterval > TimeSpan.Zero && session.Announced is not null)
                session.Control.SendKeepAlive();
        }
    }

    /// <summary>
    /// How long a session may be silent, in ms. What the other end announces makes it up to three times as long; who announces nothing, or
    /// that he sends no keep-alives, gets no more: he could keep the session, with all that waits for it, for ever.
    /// </summary>
    private double PatienceWith(Session session)
    {
        var timeout = _options.KeepAliveTimeout.TotalMilliseconds;
        return session.Announced is > 0 and var announced ? Math.Clamp(3.0 * announced, timeout, 3 * timeout) : 3 * timeout;
    }

    /// <summary>One link is closed, which ends the session: in order if that link ended in order.</summary>
    private void End(Session session, Link link)
    {
        var reason = link.AbortReason;
        var wasEnding = session.IsEnding;
        if (session != session.Peer.Current && link.Stream.Refusal is { } refusal)
        {
            session.Why ??= refusal.Why;
            reason = refusal.IsCertain ? DisconnectReason.TlsFailed : reason;
        }

        // The other end answers a link that was closed for its content by closing the rest, which may be seen here first.
        var isOutrun = session.Reason == DisconnectReason.PeerClosed && IsVerdict(reason);
        if ((!wasEnding || isOutrun) && session == session.Peer.Current
            && reason is not (DisconnectReason.PeerClosed or DisconnectReason.ClosedLocally))
        {
            _reports.LinkBroke(link);
        }

        if (isOutrun)
        {
            session.Condemn(reason);
        }
        else if (session == session.Peer.Current && reason == DisconnectReason.PeerClosed)
        {
            session.Finish(reason);
            if (!wasEnding && !session.IsOver)
                Limit(session);
        }
        else if (!wasEnding)
        {
            session.Abort(reason);
        }
    }

    /// <summary>Whether this end closed a link for what it had received on it.</summary>
    private static bool IsVerdict(DisconnectReason reason) => reason is DisconnectReason.FrameTooLarge or DisconnectReason.ReceiverFailed
        or DisconnectReason.TooManyUnfinishedBytes or DisconnectReason.InternalError;
}

/// <summary>
/// The dials of one <see cref="MeshNode"/>. Owns the number of the last dialled session and the jitter of the back-off. Control thread; the
/// timers post to it.
/// </summary>
internal sealed class Dials(
    Sessions sessions, MeshTables tables, Poller control, MeshOptions options, TimeProvider time, MeshReports reports, Transport transport)
{
    private readonly Random _jitter = new(options.Seed);
    private readonly long _start = time.GetTimestamp();

    // When the next dial would be due if all were spread evenly, as time since the start.
    private TimeSpan _next;

    // Numbers rise over restarts too, as far as the clock does.
    private ulong _lastSession = (ulong)time.GetUtcNow().UtcTicks;

    /// <summary>Dials a peer, now or when it is its turn, unless it has a session or is not to be dialled.</summary>
    /// <param name="peer">The peer.</param>
    /// <param name="hasTurn">It has waited for its turn.</param>
    public void Start(Peer peer, bool hasTurn = false)
    {
        peer.Redial?.Dispose();
        peer.Redial = null;
        if (tables.IsStopping || peer.IsClosed || peer.MergedInto is not null || peer.EndPoint is null
            || (peer.Current ?? peer.Arriving ?? peer.Dial) is not null)
        {
            return;
        }

        if (!hasTurn && TakeTurn() is var wait && wait > TimeSpan.Zero)
        {
            reports.DialDelayed();
            peer.Redial = time.CreateTimer(_ => control.Post(() => Start(peer, hasTurn: true)), null, wait, Timeout.InfiniteTimeSpan);
            return;
        }

        Dial(peer);
    }

    /// <summary>How long the next dial must wait; those of one second may go at once.</summary>
    private TimeSpan TakeTurn()
    {
        var now = time.GetElapsedTime(_start);
        _next = (_next > now ? _next : now) + (TimeSpan.FromSeconds(1) / options.MaxDialsPerSecond);
        return _next - now - TimeSpan.FromSeconds(1);
    }

    private void Dial(Peer peer)
    {
        Invariant.Holds(peer.Current is null && peer.Arriving is null && peer.Dial is null);
        _lastSession++;
        var layout = new LinkLayout(options.NamedLinks);
        var session = new Session(peer, _lastSession, dialled: true, options.LinksPerPeer + layout.NamedCount, layout);
        peer.Dial = session;
        sessions.Limit(session);
        try
        {
            for (var i = -1; i < session.DataLinks; i++)
            {
                if (tables.TryAddLink(transport.Dial(peer.EndPoint!), LinkPhase.AwaitGreeting, null) is not { } link)
                    return;

                session.TryJoin(link, i < 0 ? Channel.Control : Channel.Data, Math.Max(i, 0));
                control.Post(() => control.Attach(link), link);
            }
        }
        catch (Exception exception)
        {
            // Out of descriptors, for example. It counts as a failed dial and is repeated after the back-off.
            reports.DialThrew(exception, peer);
            session.Abort(DisconnectReason.ConnectFailed);
            if (session.IsOver)
                sessions.Over(session);
        }
    }

    /// <summary>Dials once, to see whether the expected node answers. The peer is known to nobody else.</summary>
    public void Ask(Peer stranger, Action<DialFailure?> asked)
    {
        var session = new Session(stranger, ++_lastSession, dialled: true, dataLinks: 0) { Asked = asked };
        Link? link = null;
        try
        {
            link = tables.TryAddLink(transport.Dial(stranger.EndPoint!), LinkPhase.AwaitGreeting, null);
        }
        catch (Exception exception)
        {
            reports.DialThrew(exception, stranger);
        }

        if (link is null)
        {
            asked(new DialFailure(DisconnectReason.ConnectFailed, null));
            return;
        }

        session.TryJoin(link, Channel.Control, 0);
        sessions.Limit(session);
        control.Post(() => control.Attach(link), link);
    }

    /// <summary>A dial ended without an open session.</summary>
    public void Over(Peer peer, DialFailure failure)
    {
        if (failure.Reason == DisconnectReason.Duplicate || peer.MergedInto is not null)
        {
            // Not a failure: another session is open or in its handshake. The back-off covers the case that it does not arrive.
            Schedule(peer);
            return;
        }

        peer.Failures++;
        peer.LastFailure = failure;
        reports.HandshakeFailed(failure.Reason);
        reports.DialFailed(peer, failure.Reason, Schedule(peer));
    }

    /// <summary>Dials a peer again after the back-off. Returns the wait, or null if the peer is not to be dialled again.</summary>
    public TimeSpan? Schedule(Peer peer)
    {
        if (tables.IsStopping || peer.IsClosed || !peer.Keep || peer.EndPoint is null || peer.MergedInto is not null
            || (peer.Current ?? peer.Arriving ?? peer.Dial) is not null)
        {
            return null;
        }

        // Who was refused for his settings need not hurry.
        var isRefused = peer.LastFailure is { IsPermanent: true };
        var longest = peer.Id is null && !isRefused ? options.SearchMax : options.ReconnectMax;
        var growth = Math.Pow(2, isRefused ? 30 : Math.Min(peer.Failures, 30));
        var whole = Math.Min(options.ReconnectMin.TotalMilliseconds * growth, longest.TotalMilliseconds);
        var delay = TimeSpan.FromMilliseconds(whole * (0.5 + (0.5 * _jitter.NextDouble())));
        peer.Redial?.Dispose();
        peer.Redial = time.CreateTimer(_ => control.Post(() => Start(peer)), null, delay, Timeout.InfiniteTimeSpan);
        return delay;
    }
}
