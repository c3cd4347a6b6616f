using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <summary>
/// Reads a part of the links on the thread that calls <see cref="Poll"/>.
/// <para>Owns its readiness set, buffer and list of posted work until disposed. An exception of a posted
/// action or of a report is logged, and the link concerned is closed (its peer is dialled again if it is kept). Other links are not
/// affected.</para>
/// <para>Threads: <see cref="Poll"/> by one thread at a time. The gate is held while links are read, not while waiting. The holder
/// may move a link to another poller or close it. Posted work runs in Poll, in order.</para>
/// <para>Order of locks: a poller's gate, then a link's flush gate, then its append gate. No two pollers' gates are ever held
/// together.</para>
/// </summary>
public sealed class Poller
{
    private const int Free = 0;
    private const int Busy = 1;
    private const int Ended = 2;

    private readonly MeshNode _node;
    private readonly Readiness _readiness;
    private readonly Spin _spin;
    private readonly Lock _gate = new();
    private readonly Ready[] _reports = new Ready[256];
    private readonly Queue<Link> _unread = [];
    private readonly Lock _postGate = new();
    private List<(Action Work, Link? Link)> _posted = [];
    private List<(Action Work, Link? Link)> _running = [];
    private int _polling;
    private int _mayRead;
    private bool _disposed;

    internal Poller(MeshNode node, Readiness readiness, int index)
    {
        _node = node;
        _readiness = readiness;
        // Only data pollers spin.
        _spin = new Spin(readiness, node.Time, index < 0 ? TimeSpan.Zero : node.Options.Spin);
        Index = index;
        Buffer = GC.AllocateUninitializedArray<byte>(node.Options.ReceiveBufferBytes, pinned: true);
    }

    /// <summary>Its number among the data pollers; -1 for the control poller, -2 for that of large frames.</summary>
    public int Index { get; }

    /// <summary>Whether links are assigned to it; a data poller beyond the count of <see cref="MeshNode.SetPollers"/> is not.</summary>
    public bool IsActive => Index < _node.PollerCount;

    /// <summary>How it waits.</summary>
    internal Spin Spin => _spin;

    /// <summary>The receive buffer that all links of this poller share; guarded by the gate.</summary>
    internal byte[] Buffer { get; }

    /// <summary>Whether more may be read before the thread runs the work that was received; under the gate.</summary>
    internal bool MayReadMore => _mayRead > 0;

    /// <summary>Whether this thread is inside a callback of this poller.</summary>
    internal bool IsHeldByCaller => _gate.IsHeldByCurrentThread;

    /// <summary>
    /// Waits for readiness and reads. Returns the number of reports handled, including posted work; 0 when the time is over or <see
    /// cref="Wake"/> was called; -1 after the node was disposed.
    /// </summary>
    /// <param name="timeoutMs">Milliseconds; 0 does not wait, -1 waits without limit.</param>
    /// <param name="woken">Called on this thread when the wait is over.</param>
    /// <exception cref="InvalidOperationException">Another thread is in Poll.</exception>
    public int Poll(int timeoutMs, Action? woken = null)
    {
        switch (Interlocked.CompareExchange(ref _polling, Busy, Free))
        {
            case Busy:
                throw new InvalidOperationException("Another thread is in Poll of this poller.");
            case Ended:
                return -1;
        }

        try
        {
            var handled = 0;
            lock (_gate)
            {
                if (_disposed)
                    return -1;

                handled = RunPosted();
                if (handled > 0 || _unread.Count > 0)
                    timeoutMs = 0;
            }

            var count = _spin.Wait(_reports, timeoutMs);
            woken?.Invoke();
            lock (_gate)
                return _disposed ? -1 : handled + Handle(count);
        }
        finally
        {
            Volatile.Write(ref _polling, Free);
            DisposeReadinessIfIdle();
        }
    }

    /// <summary>Ends the current or else the next wait of <see cref="Poll"/>. Any thread.</summary>
    public void Wake()
    {
        if (!Volatile.Read(ref _disposed))
            _readiness.Wake();
    }

    /// <summary>Runs <paramref name="work"/> on the polling thread, under the gate. Any thread.</summary>
    /// <param name="work">The action.</param>
    /// <param name="link">The link concerned, which is closed if the action throws.</param>
    internal void Post(Action work, Link? link = null)
    {
        lock (_postGate)
            _posted.Add((work, link));

        Wake();
    }

    /// <summary>Called by a link with the number of bytes that it has read.</summary>
    internal void CountRead(int bytes)
    {
        Invariant.Held(_gate);
        if (Invariant.AreChecked)
            Invariant.Holds(bytes > 0);
        _mayRead -= bytes;
    }

    /// <summary>
    /// Begins to read a link whose Poller is this; does nothing if it was moved to another poller meanwhile. Posted work.
    /// </summary>
    internal void Attach(Link link)
    {
        Invariant.Held(_gate);
        if (link.Poller != this || link.Phase == LinkPhase.Closed)
            return;

        if (link.IsAborted)
        {
            CloseNow(link, link.AbortReason);
            return;
        }

        if (!link.IsRegistered)
        {
            link.IsRegistered = true;
            _readiness.Add(link.Stream);
        }

        // There is no new report for bytes that arrived after the last handshake frame, or while the link was held.
        link.DeliverTail(this);
        link.ReadsToTheEnd = true;
        MarkUnread(link);
    }

    /// <summary>
    /// Reads a link that was paused: there is no new report for what has arrived meanwhile. Does nothing if it was moved to another poller
    /// or closed. Posted work.
    /// </summary>
    internal void ReadAgain(Link link)
    {
        Invariant.Held(_gate);
        link.ReadsToTheEnd = true;
        MarkUnread(link);
    }

    /// <summary>Hands a link to another poller between two reads. Any thread that holds no gate, or this poller's.</summary>
    internal bool TryMove(Link link, Poller target)
    {
        lock (_gate)
        {
            if (link.Poller != this)
                return false;

            if (link.Phase != LinkPhase.Closed)
            {
                Detach(link);
                link.Poller = target;
                target.Post(() => target.Attach(link), link);
            }

            return true;
        }
    }

    internal void CloseAborted(Link link)
    {
        Invariant.Held(_gate);
        if (link.Poller == this)
            CloseNow(link, link.AbortReason);
    }

    /// <summary>Closes a link of this poller.</summary>
    internal void CloseNow(Link link, DisconnectReason reason)
    {
        Invariant.Held(_gate);
        if (Invariant.AreChecked)
            Invariant.Holds(link.Poller == this);
        if (link.Phase != LinkPhase.Closed)
        {
            Detach(link);
            link.Close(reason);
        }
    }

    /// <summary>Stops polling and closes the links of this poller. Any thread that holds no gate.</summary>
    internal void Dispose()
    {
        lock (_gate)
        {
            RunPosted();
            // Under the gate, because posted work may have created links until now.
            foreach (var link in _node.Links())
            {
                if (link.Poller == this)
                    Guard(() => CloseNow(link, DisconnectReason.ClosedLocally), null);
            }

            while (RunPosted() > 0)
            {
            }

            _readiness.Wake();
            Volatile.Write(ref _disposed, true);
        }

        DisposeReadinessIfIdle();
    }

    /// <summary>
    /// Reads the links in turn, those left unread before first, until about <see cref="MeshOptions.ReadBytes"/> were read. Then the polling
    /// thread first runs the work that was received.
    /// </summary>
    private int Handle(int count)
    {
        Invariant.Held(_gate);
        if (Invariant.AreChecked)
            Invariant.Holds(count <= _reports.Length);
        for (var i = 0; i < count; i++)
        {
            var (stream, kinds) = _reports[i];
            _reports[i] = default;
            // A stale report names a link that was moved or closed.
            if (stream.Owner is Link link && link.Poller == this && link.IsRegistered)
            {
                try
                {
                    Handle(link, kinds);
                }
                catch (Exception exception)
                {
                    Failed(exception, link);
                }
            }
        }

        _mayRead = _node.Options.ReadBytes;
        var read = 0;
        for (var links = _unread.Count; links > 0 && MayReadMore; links--)
        {
            var link = _unread.Dequeue();
            // A link that was detached meanwhile is no longer marked, but still in the queue.
            if (link.IsUnread && link.Poller == this)
            {
                link.IsUnread = false;
                read++;
                try
                {
                    if (link.Receive(this))
                        MarkUnread(link);
                }
                catch (Exception exception)
                {
                    Failed(exception, link);
                }
            }
        }

        return count + read;
    }

    private void Handle(Link link, ReadyKinds kinds)
    {
        if ((kinds & ReadyKinds.Write) != 0)
            link.BecameWritable();

        if (link.Phase == LinkPhase.Held && (kinds & ReadyKinds.Hangup) != 0)
        {
            CloseNow(link, DisconnectReason.PeerClosed);
        }
        else if ((kinds & (ReadyKinds.Read | ReadyKinds.Hangup)) != 0)
        {
            link.ReadsToTheEnd |= (kinds & ReadyKinds.Hangup) != 0;
            MarkUnread(link);
        }
    }

    private void MarkUnread(Link link)
    {
        Invariant.Held(_gate);
        if (!link.IsUnread && link.Poller == this && link.IsRegistered)
        {
            link.IsUnread = true;
            _unread.Enqueue(link);
        }
    }

    private void Detach(Link link)
    {
        Invariant.Held(_gate);
        if (Invariant.AreChecked)
            Invariant.Holds(link.Poller == this);
        link.IsUnread = false;
        if (link.IsRegistered)
        {
            link.IsRegistered = false;
            _readiness.Remove(link.Stream);
        }
    }

    private int RunPosted()
    {
        Invariant.Held(_gate);
        if (Invariant.AreChecked)
            Invariant.Holds(_running.Count == 0);
        lock (_postGate)
            (_posted, _running) = (_running, _posted);

        var count = _running.Count;
        foreach (var (work, link) in _running)
            Guard(work, link);

        _running.Clear();
        return count;
    }

    private void Guard(Action work, Link? link)
    {
        try
        {
            work();
        }
        catch (Exception exception)
        {
            Failed(exception, link);
        }
    }

    private void Failed(Exception exception, Link? link)
    {
        Invariant.Held(_gate);
        _node.Log.WorkFailed(exception);
        if (link is null || link.Poller != this || link.Phase == LinkPhase.Closed)
            return;

        try
        {
            CloseNow(link, DisconnectReason.InternalError);
        }
        catch (Exception closing)
        {
            // Its stream may stay open; other links must not be affected.
            _node.Log.WorkFailed(closing);
        }
    }

    private void DisposeReadinessIfIdle()
    {
        // The last one, the disposer or the polling thread when it leaves, frees the set that a wait may be using.
        if (Volatile.Read(ref _disposed) && Interlocked.CompareExchange(ref _polling, Ended, Free) == Free)
            _readiness.Dispose();
    }
}
