using ActOp.Mesh;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>One other node: its links, and the frames that wait for a link or for room in it.</summary>
/// <remarks>
/// Any thread sends. While frames wait, later ones of the same node are queued behind them, so order is kept; the lock guards only that
/// slow path. Owns the waiting frames, up to a limit of bytes, until they are sent or dropped with their link, dial or node; then the
/// callers get an exception. At most one continuation waits for room in a link.
/// </remarks>
internal sealed class PeerEntry(PeerTable table, SiloAddress address, Sender sender)
{
    private readonly Lock _gate = new();
    private readonly Queue<(byte[] Frame, uint Affinity, bool Control)> _waiting = new();
    private volatile Peer? _peer;
    private volatile bool _hasWaiting;
    private Peer? _dialling;

    /// <summary>The last connected peer. The mesh may be dialling it again.</summary>
    private Peer? _last;
    private long _waitingBytes;

    /// <summary>When it was first seen that frames wait without a dial; null if not so.</summary>
    private long? _undialledSince;

    /// <summary>A continuation waits for room in the link and will send the rest.</summary>
    private bool _isDraining;
    private bool _closed;

    internal SiloAddress Address => address;

    /// <summary>The node as the sender of frames.</summary>
    internal Sender Sender => sender;

    /// <summary>The entry was removed from the table: holders must look it up again.</summary>
    internal volatile bool IsRemoved;

    internal bool IsConnected => _peer is not null;

    /// <summary>Whether the node listens at an endpoint, or is connected by it.</summary>
    internal bool IsConnectedAt(System.Net.EndPoint endPoint) =>
        _peer is { } peer && (endPoint.Equals(address.Endpoint) || endPoint.Equals(peer.EndPoint));

    internal void EnsureDialled()
    {
        lock (_gate)
        {
            if (_peer is null && !_closed && !address.IsClient)
                _dialling ??= table.Dial(address);
        }
    }

    /// <summary>
    /// Whether frames have waited for too long for a silo that is not dialled, because the view does not list it. Dials it if it does now.
    /// </summary>
    internal bool IsForsaken(long now)
    {
        if (!_hasWaiting || _peer is not null)
            return false;
        EnsureDialled();
        lock (_gate)
        {
            var isDialled = _dialling is not null || _peer is not null || address.IsClient;
            _undialledSince = isDialled ? null : _undialledSince ?? now;
            return now - _undialledSince >= PeerTable.LongestUnlistedMs;
        }
    }

    internal Exception? Send(uint affinity, bool control, ReadOnlySpan<byte> frame)
    {
        if (frame.Length > table.MaxFrameBytes)
        {
            return new LimitExceededException("A message of " + frame.Length + " bytes to " + address
                + " exceeds MaxMessageBodySize, which is " + table.MaxFrameBytes + ".");
        }

        if (_peer is { } peer && !_hasWaiting && Append(peer, affinity, control, frame) == SendResult.Accepted)
            return null;
        return Wait(affinity, control, frame);
    }

    internal void Connected(Peer peer)
    {
        lock (_gate)
        {
            _peer = peer;
            _last = peer;
        }

        Drain();
    }

    internal void Disconnected(Peer peer)
    {
        lock (_gate)
        {
            if (ReferenceEquals(_peer, peer))
                _peer = null;
            Drop();
        }

        sender.Held.Clear();
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
            _peer = null;
            Drop();
        }

        // The peer may belong to the next process at the same endpoint by now, which has its own entry.
        if (ReferenceEquals(_last?.Tag, this))
            _last.Close();
        if (_dialling is { } dialling && !ReferenceEquals(_last, dialling) && dialling.Tag is null)
            dialling.Close();
    }

    /// <summary>Ends the session: the node has sent what is no frame.</summary>
    internal void Break() => _peer?.Close();

    /// <summary>Writes frames whose flush is delayed by a long turn of the thread that appended them.</summary>
    internal void FlushLate()
    {
        if (_peer is not { } peer)
            return;
        for (var index = 0u; index < peer.DataLinks; index++)
        {
            if (peer.GetLink(index) is { QueuedBytes: > 0, Tag: LinkFlusher flusher })
                flusher.Schedule();
        }
    }

    private static SendResult Append(Peer peer, uint affinity, bool control, ReadOnlySpan<byte> frame) =>
        control ? peer.Control?.TryAppend(frame) ?? SendResult.Closed
        : peer.GetLink(affinity) is { } link ? SendBatch.Append(link, frame) : SendResult.Closed;

    private Exception? Wait(uint affinity, bool control, ReadOnlySpan<byte> frame)
    {
        lock (_gate)
        {
            if (_closed)
                return new SiloUnavailableException("The silo " + address + " is gone.");
            if (!table.TryTakeWaiting(frame.Length, _waitingBytes))
            {
                return new LimitExceededException("Too many bytes wait to be sent, " + _waitingBytes + " of them to " + address
                    + ": ConnectionLimitOptions.MaxWaitingBytesPerNode or MaxWaitingBytes is reached.");
            }

            _waiting.Enqueue((frame.ToArray(), affinity, control));
            _waitingBytes += frame.Length;
            _hasWaiting = true;
        }

        EnsureDialled();
        Drain();
        return null;
    }

    /// <summary>Sends waiting frames until a link is full; continues when the link has room again.</summary>
    private void Drain()
    {
        lock (_gate)
        {
            while (!_isDraining && _peer is { } peer && _waiting.TryPeek(out var next))
            {
                var result = Append(peer, next.Affinity, next.Control, next.Frame);
                if (result == SendResult.Full && (next.Control ? peer.Control : peer.GetLink(next.Affinity)) is { } link)
                {
                    _isDraining = true;
                    // Completes also when the link is closed; the stage supervises what runs then.
                    link.WaitForRoomAsync(next.Frame.Length).GetAwaiter().UnsafeOnCompleted(() => table.Post(DrainOn));
                }

                if (result != SendResult.Accepted)
                    return;

                _waiting.Dequeue();
                _waitingBytes -= next.Frame.Length;
                table.ReturnWaiting(next.Frame.Length);
            }

            _hasWaiting = _waiting.Count > 0;
        }
    }

    private void DrainOn()
    {
        lock (_gate)
            _isDraining = false;
        Drain();
    }

    /// <summary>Gives up the frames that wait. Under the gate.</summary>
    private void Drop()
    {
        while (_waiting.TryDequeue(out var frame))
            table.GiveUp(address, frame.Frame);
        table.ReturnWaiting(_waitingBytes);
        _waitingBytes = 0;
        _hasWaiting = false;
    }
}
