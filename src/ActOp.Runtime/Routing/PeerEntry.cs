using System.Diagnostics.Metrics;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Mesh;
using ActOp.Serialization;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>One other node: its links, and the frames that wait for a link or for room in it.</summary>
/// <remarks>
/// Any thread sends. While frames wait, later ones of the same node and channel are queued behind them, so order is kept; the lock guards
/// only that slow path. Control frames and each named channel have a queue and a limit of their own: nothing of the data, however much
/// waits, is before control frames, and nothing of one channel is before another. Owns
/// the waiting frames, up to a limit of bytes each, until they are sent or dropped with their link, dial or node; then the callers get an
/// exception. At most one continuation for each queue waits for room in a link. A client for which much waits is not read until little
/// does: who does not take its answers makes no further ones, and what it has asked for stays in the network.
/// </remarks>
internal sealed class PeerEntry(PeerTable table, SiloAddress address, Sender sender)
{
    private readonly Lock _gate = new();
    private readonly WaitingFrames _controls = new(control: true, channel: 0);
    private readonly WaitingFrames _data = new(control: false, channel: 0);

    /// <summary>Those of the named channels.</summary>
    private readonly WaitingFrames[] _named =
        [.. Enumerable.Range(1, table.Channels.Count).Select(static channel => new WaitingFrames(control: false, channel))];
    private Peer? _peer;

    /// <summary>Closed, it is not dialled any more, and another one takes its place.</summary>
    private Peer? _dialling;

    /// <summary>The last connected peer. The mesh may be dialling it again.</summary>
    private Peer? _last;

    /// <summary>When it was first seen that frames wait without a dial; null if not so.</summary>
    private long? _undialledSince;

    private bool _closed;

    /// <summary>The client's links are not read because of what waits for it. Under the gate.</summary>
    private bool _isPaused;

    internal SiloAddress Address => address;

    /// <summary>The node as the sender of frames.</summary>
    internal Sender Sender => sender;

    /// <summary>The entry was removed from the table: holders must look it up again.</summary>
    internal volatile bool IsRemoved;

    internal bool IsConnected => Connection is not null;

    /// <summary>The connected peer, or null. Any thread.</summary>
    internal Peer? Connection => Volatile.Read(ref _peer);

    /// <summary>The bytes that have arrived over the present links.</summary>
    internal long BytesReceived
    {
        get
        {
            if (Connection is not { } peer)
                return 0;
            var bytes = peer.Control?.BytesReceived ?? 0;
            foreach (var link in peer.Links)
                bytes += link.BytesReceived;
            return bytes;
        }
    }

    /// <summary>Whether the node listens at an endpoint, or is connected by it.</summary>
    internal bool IsConnectedAt(System.Net.EndPoint endPoint) =>
        Connection is { } peer && (endPoint.Equals(address.Endpoint) || endPoint.Equals(peer.EndPoint));

    private bool IsDialled => _dialling is { State: not PeerState.Closed };

    internal void EnsureDialled()
    {
        lock (_gate)
        {
            if (_peer is null && !_closed && !address.IsClient && !IsDialled)
                _dialling = table.Dial(address);
        }
    }

    /// <summary>
    /// Whether frames have waited for too long for a silo that is not dialled, because the view does not list it. Dials it if it does now.
    /// </summary>
    internal bool IsForsaken(long now)
    {
        if (Connection is not null || !IsWaiting)
            return false;
        EnsureDialled();
        lock (_gate)
        {
            var isDialled = IsDialled || _peer is not null || address.IsClient;
            _undialledSince = isDialled ? null : _undialledSince ?? now;
            return now - _undialledSince >= PeerTable.LongestUnlistedMs;
        }
    }

    /// <summary>Sends a frame, or keeps it until there is a link, or room in it. Returns why not when it can't.</summary>
    internal Exception? Send(uint affinity, bool control, ReadOnlySpan<byte> frame, int channel = 0)
    {
        if (frame.Length > table.Channels.MaxFrameBytesOf(channel))
        {
            return new LimitExceededException("A message of " + frame.Length + " bytes to " + address
                + " exceeds " + table.Channels.LimitOf(channel) + ", which is " + table.Channels.MaxFrameBytesOf(channel) + ".");
        }

        var waiting = control ? _controls : channel == 0 ? _data : _named[channel - 1];
        if (Connection is { } peer && !waiting.IsWaiting && Append(peer, affinity, waiting, frame) == SendResult.Accepted)
            return null;
        return Wait(affinity, waiting, frame);
    }

    /// <summary>Sends through a peer from now on. False if the entry is closed: another one must have its place.</summary>
    internal bool TryConnect(Peer peer)
    {
        lock (_gate)
        {
            if (_closed)
                return false;
            Volatile.Write(ref _peer, peer);
            _last = peer;
        }

        Drain();
        return true;
    }

    /// <summary>A peer has lost its session: what waits is given up.</summary>
    /// <param name="peer">The peer.</param>
    /// <param name="isGone">The node does not come again: a thread that has found the entry leaves nothing in it from now on.</param>
    /// <returns>True if the entry is closed.</returns>
    internal bool Disconnected(Peer peer, bool isGone)
    {
        bool isClosed;
        lock (_gate)
        {
            if (ReferenceEquals(_peer, peer))
                Volatile.Write(ref _peer, null);
            _closed |= isGone && _peer is null;
            Invariant.Holds(_peer is null || !_closed);
            isClosed = _closed;
            Drop();
        }

        sender.Held.Clear();
        return isClosed;
    }

    internal void DialFailed()
    {
        lock (_gate)
        {
            if (_peer is null)
                Drop();
        }
    }

    internal void Close()
    {
        lock (_gate)
        {
            _closed = true;
            Volatile.Write(ref _peer, null);
            Drop();
        }

        // The peer may belong to the next process at the same endpoint by now, which has its own entry.
        if (ReferenceEquals(_last?.Tag, this))
            _last.Close();
        if (_dialling is { } dialling && !ReferenceEquals(_last, dialling) && dialling.Tag is null)
            dialling.Close();
    }

    /// <summary>Leaves what it has sent in the network, or reads it again.</summary>
    internal void PauseRequests(bool isPaused)
    {
        if (isPaused)
            Connection?.PauseReading(ReadPause.Requests);
        else
            Connection?.ResumeReading(ReadPause.Requests);
    }

    /// <summary>Ends the session: the node has sent what is no frame.</summary>
    internal void Break() => Connection?.Close();

    /// <summary>The bytes that wait for it. Any thread.</summary>
    internal long WaitingBytes => _controls.Bytes + DataBytes;

    private bool IsWaiting => _controls.IsWaiting || _data.IsWaiting || Array.Exists(_named, static one => one.IsWaiting);

    private long DataBytes => _data.Bytes + _named.Sum(static one => one.Bytes);

    /// <summary>A client that does not read and holds most of what may wait: its session ends, and what waits for it is dropped.</summary>
    internal void EndForRoom()
    {
        Peer? peer;
        lock (_gate)
        {
            peer = _peer;
            Volatile.Write(ref _peer, null);
            _closed = true;
            Drop();
        }

        peer?.Close();
    }

    /// <summary>Writes frames whose flush is delayed by a long turn of the thread that appended them.</summary>
    internal void FlushLate()
    {
        if (Connection is not { } peer)
            return;
        foreach (var link in peer.Links)
        {
            if (link is { QueuedBytes: > 0, Tag: LinkFlusher flusher })
                flusher.Schedule();
        }
    }

    private static SendResult Append(Peer peer, uint affinity, WaitingFrames kind, ReadOnlySpan<byte> frame) =>
        LinkOf(peer, affinity, kind) is { } link ? SendBatch.Append(link, frame, kind.AreControls) : SendResult.Closed;

    private static Link? LinkOf(Peer peer, uint affinity, WaitingFrames kind) =>
        kind.AreControls ? peer.Control : peer.GetLink(affinity, kind.Channel);

    private Exception? Wait(uint affinity, WaitingFrames waiting, ReadOnlySpan<byte> frame)
    {
        while (true)
        {
            lock (_gate)
            {
                if (_closed)
                    return Gone();
                if (table.Waiting.TryTake(frame.Length, waiting.Bytes))
                {
                    waiting.Add(new WaitingFrame(frame.ToArray(), affinity, table.Now));
                    // Repeated for each frame: the client may have other links since.
                    if (!waiting.AreControls && address.IsClient && waiting.Bytes >= table.Waiting.PauseAt)
                        Pause(true);
                    break;
                }
            }

            // Outside of the gate: another entry gives up what waits for it.
            if (!table.Waiting.TryMakeRoom(this, frame.Length, waiting.Bytes))
            {
                return new LimitExceededException("Too many bytes wait to be sent, " + waiting.Bytes + " of them to " + address
                    + ": ConnectionLimitOptions.MaxWaitingBytesPerNode or MaxWaitingBytes is reached.");
            }
        }

        EnsureDialled();
        Drain();
        return null;
    }

    private Exception Gone() => address.IsClient
        ? new ClientNotAvailableException(SystemGrainIds.Client(address))
        : new SiloUnavailableException("The silo " + address + " is gone.");

    private void Drain()
    {
        Drain(_controls);
        Drain(_data);
        foreach (var channel in _named)
            Drain(channel);
    }

    /// <summary>Sends waiting frames until a link is full; continues when the link has room again.</summary>
    private void Drain(WaitingFrames waiting)
    {
        lock (_gate)
        {
            while (!waiting.IsDraining && _peer is { } peer && waiting.Frames.TryPeek(out var next))
            {
                Invariant.Holds(!_closed);
                next.CountWait(table.Now);
                var result = Append(peer, next.Affinity, waiting, next.Frame);
                if (result == SendResult.Full && LinkOf(peer, next.Affinity, waiting) is { } link)
                {
                    waiting.IsDraining = true;
                    // Completes also when the link is closed; the stage supervises what runs then.
                    link.WaitForRoomAsync(next.Frame.Length).GetAwaiter().UnsafeOnCompleted(() => table.Post(() => DrainOn(waiting)));
                }

                if (result != SendResult.Accepted)
                    return;

                waiting.RemoveFirst();
                table.Waiting.Return(next.Frame.Length);
                if (_isPaused && !waiting.AreControls && DataBytes <= table.Waiting.ResumeAt)
                    Pause(false);
            }
        }
    }

    private void Pause(bool isPaused)
    {
        Invariant.Held(_gate);
        _isPaused = isPaused;
        if (isPaused)
            _peer?.PauseReading(ReadPause.Answers);
        else
            _peer?.ResumeReading(ReadPause.Answers);
    }

    private void DrainOn(WaitingFrames waiting)
    {
        lock (_gate)
            waiting.IsDraining = false;
        Drain(waiting);
    }

    /// <summary>Gives up the frames that wait.</summary>
    private void Drop()
    {
        // The links of a new session may be paused when the end of the one before is told.
        if (_isPaused)
            Pause(false);
        Drop(_controls);
        Drop(_data);
        foreach (var channel in _named)
            Drop(channel);
    }

    private void Drop(WaitingFrames waiting)
    {
        Invariant.Held(_gate);
        while (waiting.Frames.TryPeek(out var frame))
        {
            waiting.RemoveFirst();
            table.Waiting.Return(frame.Frame.Length);
            table.GiveUp(address, frame.Frame);
        }
    }

    /// <summary>The frames of one kind that wait, in order. Under the gate of the entry, except <see cref="IsWaiting"/>.</summary>
    private sealed class WaitingFrames(bool control, int channel)
    {
        private bool _isWaiting;
        private long _bytes;

        internal readonly Queue<WaitingFrame> Frames = new();

        /// <summary>They go over the control link.</summary>
        internal bool AreControls => control;

        /// <summary>The number of their channel; 0 without one.</summary>
        internal int Channel => channel;

        /// <summary>Whether later frames must queue. Any thread.</summary>
        internal bool IsWaiting => Volatile.Read(ref _isWaiting);

        internal long Bytes => Volatile.Read(ref _bytes);

        /// <summary>A continuation waits for room in the link and will send the rest.</summary>
        internal bool IsDraining { get; set; }

        internal void Add(WaitingFrame frame)
        {
            Frames.Enqueue(frame);
            Volatile.Write(ref _bytes, _bytes + frame.Frame.Length);
            Volatile.Write(ref _isWaiting, true);
        }

        internal void RemoveFirst()
        {
            Volatile.Write(ref _bytes, _bytes - Frames.Dequeue().Frame.Length);
            Volatile.Write(ref _isWaiting, Frames.Count > 0);
            Invariant.Holds(_bytes >= 0 && (Frames.Count > 0 || _bytes == 0));
        }
    }

    /// <summary>A frame that waits. Under the gate of the entry.</summary>
    private sealed class WaitingFrame(byte[] frame, uint affinity, long since)
    {
        private long _countedTo = since;

        internal byte[] Frame => frame;

        internal uint Affinity => affinity;

        /// <summary>Takes the time since the last count from what its request has left.</summary>
        internal void CountWait(long now)
        {
            RequestDeadline.Shorten(frame, now - _countedTo);
            _countedTo = now;
        }
    }
}

/// <summary>
/// The bytes of frames that wait for links, or for room in them, over all nodes. When there are too many, of the clients' hosts the one for
/// which most waits loses the client for which most waits: those that do not read what they have asked for pay for it themselves. Silos
/// never give way: what may wait for one has a limit of its own.
/// </summary>
/// <remarks>Any thread, without a lock. Reads all entries only while the limit is reached.</remarks>
internal sealed class WaitingBytes
{
    private readonly LocalNode _local;
    private readonly ConnectionLimitOptions _limits;
    private readonly Func<IEnumerable<PeerEntry>> _entries;
    private readonly Counter<long> _refused;
    private long _all;

    internal WaitingBytes(LocalNode local, ConnectionLimitOptions limits, Meter meter, Func<IEnumerable<PeerEntry>> entries)
    {
        (_local, _limits, _entries) = (local, limits, entries);
        meter.CreateObservableUpDownCounter("actop.peers.waiting", () => Volatile.Read(ref _all), "By");
        _refused = meter.CreateCounter<long>("actop.peers.overflows", "{frame}");
    }

    /// <summary>A client for which so much waits is not read: well before its answers are refused.</summary>
    internal long PauseAt => _limits.MaxWaitingBytesPerNode / 4;

    /// <summary>Until so little is left.</summary>
    internal long ResumeAt => PauseAt / 4;

    /// <summary>Takes the bytes of a frame that is to wait; false if too many wait for its node, or in all.</summary>
    /// <param name="bytes">Bytes of the frame.</param>
    /// <param name="ofNode">Bytes of its kind, control, data or a channel, that wait for its node already.</param>
    internal bool TryTake(int bytes, long ofNode)
    {
        if (ofNode + bytes > _limits.MaxWaitingBytesPerNode)
            return false;
        if (Interlocked.Add(ref _all, bytes) <= _limits.MaxWaitingBytes)
            return true;
        Return(bytes);
        return false;
    }

    internal void Return(long bytes)
    {
        Interlocked.Add(ref _all, -bytes);
        Invariant.Holds(_all >= 0);
    }

    /// <summary>
    /// Called when a frame could not be taken, without the gate of an entry. True if a client has lost what waited for it, so that it may
    /// be tried again; else the frame is counted as refused.
    /// </summary>
    /// <param name="asking">Its node.</param>
    /// <param name="bytes">Bytes of the frame.</param>
    /// <param name="ofNode">As for <see cref="TryTake"/>.</param>
    internal bool TryMakeRoom(PeerEntry asking, int bytes, long ofNode)
    {
        if (ofNode + bytes <= _limits.MaxWaitingBytesPerNode && bytes <= _limits.MaxWaitingBytes && TryEndLargest(asking, bytes))
            return true;
        _refused.Add(1);
        _local.Counts.Add(NodeEvent.SendFailed);
        return false;
    }

    private bool TryEndLargest(PeerEntry asking, int bytes)
    {
        PeerEntry[] clients = [.. _entries().Where(static entry => entry is { Address.IsClient: true, Sender.Types: not null })];
        var ofHosts = new Dictionary<TypeShare, long>();
        foreach (var client in clients)
            ofHosts[client.Sender.Types!] = ofHosts.GetValueOrDefault(client.Sender.Types!) + Held(client);
        var largest = clients.OrderByDescending(client => ofHosts[client.Sender.Types!]).ThenByDescending(Held).FirstOrDefault();
        if (largest is null || ReferenceEquals(largest, asking) || largest.WaitingBytes == 0)
            return false;
        largest.EndForRoom();
        return true;

        long Held(PeerEntry client) => client.WaitingBytes + (ReferenceEquals(client, asking) ? bytes : 0);
    }
}
