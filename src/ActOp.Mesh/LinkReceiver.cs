using System.Buffers.Binary;
using ActOp.Mesh.Transports;
using ActOp.Mesh.Transports.Tls;

namespace ActOp.Mesh;

/// <summary>
/// The receiving half of a <see cref="Link"/>. Reads go into the poller's large shared buffer, behind a copy of the link's tail (the
/// beginning of a frame whose end has not arrived), so that an idle link needs no memory. A frame longer than the shared buffer is
/// collected in the tail itself, which grows as the bytes arrive, not as announced.
/// <para>Threads: the thread that holds the gate of the link's poller. The counters may be read by any.</para>
/// </summary>
internal sealed class LinkReceiver
{
    private const int LargeStepBytes = 1 << 20;

    private readonly Link _link;
    private readonly MeshNode _node;
    private readonly ByteStream _stream;
    private readonly LinkSender _sender;
    private byte[] _tail = [];
    private int _tailCount;

    /// <summary>What is counted of the tail's buffer; see <see cref="UnfinishedFrames"/>.</summary>
    private long _counted;
    private readonly int _maxBodyBytes;
    private long _framesReceived;
    private long _bytesReceived;

    public LinkReceiver(Link link, MeshNode node, ByteStream stream, LinkSender sender)
    {
        _link = link;
        _node = node;
        _stream = stream;
        _sender = sender;
        _maxBodyBytes = link.Accepts == NodeKind.Client
            ? node.Options.MaxClientFrameBytes ?? node.Options.MaxFrameBytes : node.Options.MaxFrameBytes;
    }

    /// <summary>Memory held for a frame whose end has not arrived, beyond what every link may have.</summary>
    public long UnfinishedBytes => Volatile.Read(ref _counted);

    /// <inheritdoc cref="Link.FramesReceived"/>
    public long FramesReceived => Volatile.Read(ref _framesReceived);

    /// <inheritdoc cref="Link.BytesReceived"/>
    public long BytesReceived => Volatile.Read(ref _bytesReceived);

    /// <summary>
    /// Reads and delivers the available bytes, up to the limit of the poller. Returns true if there may be more to read without a new
    /// report. The link may have been closed or moved to another poller when this returns. Poller's gate.
    /// </summary>
    public bool Receive(Poller poller)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(poller.IsHeldByCaller);
        do
        {
            if (!MayRead(poller))
                return false;

            var need = FrameUnderWay();
            // Behind a large frame there is often another one: while more arrives, the link stays where it is until the next is known.
            if (need > 0 && _node.Reassign(_link, need))
                return false;

            var result = need > poller.Buffer.Length
                ? ReceiveLarge(need, out var asked)
                : ReceiveShared(poller.Buffer, need, out asked);
            if (result <= 0)
            {
                _link.ReadsToTheEnd = false;
                EndReading(poller, result);
                ReassignEmpty(poller);
                return false;
            }

            poller.CountRead(result);
            // A short read has emptied the stream: the next byte causes a new report.
            if (result < asked && !_link.ReadsToTheEnd)
            {
                ReassignEmpty(poller);
                return false;
            }
        }
        while (poller.MayReadMore);
        return MayRead(poller);
    }

    /// <summary>Delivers what the tail already holds; used when a link becomes open with frames behind its last handshake frame.</summary>
    public void DeliverTail(Poller poller)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(poller.IsHeldByCaller);
        // A longer tail is a part of a large frame, which is collected in the tail itself.
        if (_tailCount == 0 || _tailCount > poller.Buffer.Length || !MayRead(poller))
            return;

        _tail.AsSpan(0, _tailCount).CopyTo(poller.Buffer);
        Slice(poller.Buffer.AsSpan(0, _tailCount));
    }

    /// <summary>The stream is empty: if the rest of a large frame is to come, the poller for them reads it, else a data poller.</summary>
    private void ReassignEmpty(Poller poller)
    {
        if (MayRead(poller))
            _node.Reassign(_link, FrameUnderWay());
    }

    private bool MayRead(Poller poller)
        => _link.Poller == poller && _link.IsRegistered && !_link.IsAborted && !_link.IsPaused
            && _link.Phase is not (LinkPhase.Held or LinkPhase.Closed);

    private void EndReading(Poller poller, int result)
    {
        if (result == ByteStream.WouldBlock)
        {
            if (_link.Phase == LinkPhase.AwaitHello && _stream.HasHeard)
                _node.PendingHandshakes.Spoke(_link);

            return;
        }

        // The other end has finished, this one has not: accepted frames are still sent, and the last flush closes the link.
        if (result == 0 && _link.Phase == LinkPhase.Open && _sender.AwaitLastFlush())
            return;

        var reason = result == 0 ? DisconnectReason.PeerClosed
            : result == ByteStream.Refused ? DisconnectReason.ConnectRefused
            : _link.Phase == LinkPhase.AwaitGreeting && _bytesReceived == 0 ? DisconnectReason.ConnectFailed
            : DisconnectReason.Reset;
        poller.CloseNow(_link, reason);
    }

    /// <summary>Length with prefix of the frame whose beginning the tail holds, 0 if not known yet.</summary>
    private int FrameUnderWay()
        => _tailCount < WireLimits.PrefixBytes ? 0 : WireLimits.PrefixBytes + BinaryPrimitives.ReadInt32LittleEndian(_tail);

    private int ReceiveShared(byte[] buffer, int need, out int asked)
    {
        _tail.AsSpan(0, _tailCount).CopyTo(buffer);
        // A frame that has begun is read whole: reading it in small pieces would copy its tail again for each.
        asked = Math.Min(buffer.Length, Math.Max(need, _tailCount + _node.Options.ReadBytes)) - _tailCount;
        if (Invariant.AreChecked)
            Invariant.Holds(asked > 0);
        var read = _stream.Receive(buffer.AsSpan(_tailCount, asked));
        if (read > 0)
        {
            _bytesReceived += read;
            Slice(buffer.AsSpan(0, _tailCount + read));
        }

        return read;
    }

    private int ReceiveLarge(int need, out int asked)
    {
        if (_tailCount == _tail.Length)
        {
            PooledBuffer.Grow(ref _tail, _tailCount, (int)Math.Min(need, Math.Max(2L * _tailCount, LargeStepBytes)));
            CountTail();
        }

        // Never beyond this frame: its end is the end of the tail, and what follows goes through the shared buffer again.
        asked = Math.Min(_tail.Length, need) - _tailCount;
        if (Invariant.AreChecked)
            Invariant.Holds(asked > 0 && _tailCount < need);
        var read = _stream.Receive(_tail.AsSpan(_tailCount, asked));
        if (read > 0)
        {
            _bytesReceived += read;
            _tailCount += read;
            if (_tailCount == need)
            {
                var frame = _tail.AsSpan(0, need);
                _tailCount = 0;
                Deliver(frame, 1);
                ReturnTail();
            }
        }

        return read;
    }

    /// <summary>Delivers the complete frames and keeps the rest. <paramref name="bytes"/> is in the poller's buffer.</summary>
    private void Slice(ReadOnlySpan<byte> bytes)
    {
        if (_link.Phase is not LinkPhase.Open)
        {
            SliceHandshake(bytes);
            return;
        }

        while (true)
        {
            var good = FrameBatch.Measure(bytes, _maxBodyBytes, out var frames, out var length);
            var rest = bytes[length..];
            var isMark = !good && BinaryPrimitives.ReadUInt32LittleEndian(rest) == WireLimits.KeepAliveMark;
            KeepTail(isMark ? default : rest);
            if (frames > 0)
                Deliver(bytes[..length], frames);

            if (!isMark)
            {
                if (!good)
                    _link.Abort(DisconnectReason.FrameTooLarge);

                return;
            }

            // A keep-alive has no content; its bytes are counted.
            bytes = rest[WireLimits.PrefixBytes..];
        }
    }

    /// <summary>
    /// One frame at a time: each may end the handshake and hand the link to another thread. So the tail is kept before the frame is
    /// handled, and after that nothing of the link is touched unless it is still in a handshake on this poller.
    /// </summary>
    private void SliceHandshake(ReadOnlySpan<byte> bytes)
    {
        while (_link.IsInHandshake && !_link.IsAborted)
        {
            if (bytes.Length < WireLimits.PrefixBytes)
            {
                KeepPart(bytes);
                return;
            }

            var body = BinaryPrimitives.ReadUInt32LittleEndian(bytes);
            if (body > WireLimits.HandshakeBytes)
            {
                if (TlsWire.LooksLikeTls(bytes))
                    _node.Log.TlsWithoutTls(_link.RemoteEndPoint);

                _node.RefuseGarbage(_link);
                return;
            }

            var length = WireLimits.PrefixBytes + (int)body;
            if (bytes.Length < length)
            {
                KeepPart(bytes);
                return;
            }

            KeepTail(bytes[length..]);
            _node.HandshakeReceived(_link, bytes[WireLimits.PrefixBytes..length]);
            bytes = bytes[length..];
        }
    }

    /// <summary>Keeps a part of a handshake frame, so that the link no longer counts as silent.</summary>
    private void KeepPart(ReadOnlySpan<byte> bytes)
    {
        KeepTail(bytes);
        if (!bytes.IsEmpty)
            _node.PendingHandshakes.Spoke(_link);
    }

    private void Deliver(ReadOnlySpan<byte> bytes, int frames)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(frames > 0 && !bytes.IsEmpty);
        _framesReceived += frames;
        try
        {
            _node.Events.FramesReceived(_link, new FrameBatch(bytes, frames));
        }
        catch (Exception exception)
        {
            // The poller serves other links too, so an exception of one receiver must not end its thread.
            _node.Log.ReceiverFailed(exception, _link.Peer.Name, _link.Channel, _link.Index);
            _link.Abort(DisconnectReason.ReceiverFailed);
        }
    }

    private void KeepTail(ReadOnlySpan<byte> bytes)
    {
        if (_tail.Length < bytes.Length)
        {
            PooledBuffer.Grow(ref _tail, 0, bytes.Length);
            CountTail();
        }

        if (Invariant.AreChecked)
            Invariant.Holds(_tail.Length >= bytes.Length);
        bytes.CopyTo(_tail);
        _tailCount = bytes.Length;
        if (_tailCount == 0)
            ReturnTail();
    }

    /// <summary>The tail is empty: keeps only a small buffer, so that what is counted belongs to frames under way.</summary>
    private void ReturnTail()
    {
        if (Invariant.AreChecked)
            Invariant.Holds(_tailCount == 0);
        if (_tail.Length > UnfinishedFrames.FreeBytes)
        {
            PooledBuffer.GiveBack(ref _tail);
            CountTail();
        }
    }

    /// <summary>The buffer of the tail has changed. May abort this link, which then reads no more.</summary>
    private void CountTail()
    {
        var bytes = _tail.Length > UnfinishedFrames.FreeBytes ? _tail.Length : 0L;
        var more = bytes - _counted;
        if (Invariant.AreChecked)
            Invariant.Holds(_counted >= 0);
        Volatile.Write(ref _counted, bytes);
        _node.Unfinished.Add(_link, more);
    }

    /// <summary>Releases the tail. Under the gate of the poller.</summary>
    public void Close()
    {
        PooledBuffer.GiveBack(ref _tail);
        _tailCount = 0;
        CountTail();
    }
}
