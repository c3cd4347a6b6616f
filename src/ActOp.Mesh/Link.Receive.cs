using System.Buffers.Binary;
using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <content>
/// The receiving half. Reads go into the poller's large shared buffer, behind a copy of the link's tail (the beginning of a frame whose end
/// has not come), so that a link with nothing under way needs no memory. A frame longer than the shared buffer is collected in the tail
/// itself, which grows as the bytes come, not as announced.
/// </content>
public sealed partial class Link
{
    private const int LargeStepBytes = 1 << 20;

    private byte[] _tail = [];
    private int _tailCount;
    private long _framesReceived;
    private long _bytesReceived;

    /// <summary>Frames delivered so far.</summary>
    public long FramesReceived => Volatile.Read(ref _framesReceived);

    /// <summary>Bytes read so far, with length prefixes.</summary>
    public long BytesReceived => Volatile.Read(ref _bytesReceived);

    private int MaxBodyBytes => _phase is LinkPhase.Open ? _node.Options.MaxFrameBytes : WireLimits.HandshakeBytes;

    /// <summary>
    /// Reads and delivers what is there, as far as the poller may read. Returns true if there may be more to read without a new report. The
    /// link may have been closed or moved to another poller when this returns. Poller's gate.
    /// </summary>
    internal bool Receive(Poller poller)
    {
        do
        {
            if (!MayRead(poller))
            {
                return false;
            }

            var need = FrameUnderWay();
            var result = need > poller.Buffer.Length
                ? ReceiveLarge(need, out var asked)
                : ReceiveShared(poller.Buffer, need, out asked);
            if (result <= 0)
            {
                ReadsToTheEnd = false;
                EndReading(poller, result);
                return false;
            }

            poller.CountRead(result);
            // A short read has emptied the stream: the next byte makes a new report.
            if (result < asked && !ReadsToTheEnd)
            {
                return false;
            }
        }
        while (poller.MayReadMore);
        return MayRead(poller);
    }

    /// <summary>Delivers what the tail already holds; used when a link becomes open with frames behind its last handshake frame.</summary>
    internal void DeliverTail(Poller poller)
    {
        // A longer tail is a large frame under way, which is collected in the tail itself and has no end yet.
        if (_tailCount == 0 || _tailCount > poller.Buffer.Length || !MayRead(poller))
        {
            return;
        }

        _tail.AsSpan(0, _tailCount).CopyTo(poller.Buffer);
        Slice(poller.Buffer.AsSpan(0, _tailCount));
    }

    private bool MayRead(Poller poller)
        => Poller == poller && IsRegistered && !IsAborted && _phase is not (LinkPhase.Held or LinkPhase.Closed);

    private void EndReading(Poller poller, int result)
    {
        if (result == ByteStream.WouldBlock)
        {
            return;
        }

        // The other end has finished, we have not: what was accepted still goes out, and the last flush closes the link.
        if (result == 0 && _phase == LinkPhase.Open && AwaitLastFlush())
        {
            return;
        }

        var reason = result == 0 ? DisconnectReason.PeerClosed
            : result == ByteStream.Refused ? DisconnectReason.ConnectRefused
            : _phase == LinkPhase.AwaitGreeting && _bytesReceived == 0 ? DisconnectReason.ConnectFailed
            : DisconnectReason.Reset;
        poller.CloseNow(this, reason);
    }

    /// <summary>Length with prefix of the frame whose beginning the tail holds, 0 if not known yet.</summary>
    private int FrameUnderWay()
        => _tailCount < WireLimits.PrefixBytes ? 0 : WireLimits.PrefixBytes + BinaryPrimitives.ReadInt32LittleEndian(_tail);

    private int ReceiveShared(byte[] buffer, int need, out int asked)
    {
        _tail.AsSpan(0, _tailCount).CopyTo(buffer);
        // A frame that has begun comes whole: reading it by small pieces would copy its tail over and over.
        asked = Math.Min(buffer.Length, Math.Max(need, _tailCount + _node.Options.ReadBytes)) - _tailCount;
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
            Grow(ref _tail, _tailCount, (int)Math.Min(need, Math.Max(2L * _tailCount, LargeStepBytes)));
        }

        // Never beyond this frame: its end is the end of the tail, and what follows goes through the shared buffer again.
        asked = Math.Min(_tail.Length, need) - _tailCount;
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
                GiveBackIfLarge(ref _tail);
            }
        }

        return read;
    }

    /// <summary>Delivers the complete frames and keeps the rest. <paramref name="bytes"/> is in the poller's buffer.</summary>
    private void Slice(ReadOnlySpan<byte> bytes)
    {
        if (_phase is not LinkPhase.Open)
        {
            SliceHandshake(bytes);
            return;
        }

        while (true)
        {
            var good = FrameBatch.Measure(bytes, MaxBodyBytes, out var frames, out var length);
            var rest = bytes[length..];
            var isMark = !good && BinaryPrimitives.ReadUInt32LittleEndian(rest) == WireLimits.KeepAliveMark;
            KeepTail(isMark ? default : rest);
            if (frames > 0)
            {
                Deliver(bytes[..length], frames);
            }

            if (!isMark)
            {
                if (!good)
                {
                    Abort(DisconnectReason.FrameTooLarge);
                }

                return;
            }

            // That it came is all it says.
            bytes = rest[WireLimits.PrefixBytes..];
        }
    }

    /// <summary>
    /// One frame at a time: each may end the handshake and hand the link to another thread. So the tail is kept before the frame is
    /// handled, and after that nothing of the link is touched unless it is still in a handshake on this poller.
    /// </summary>
    private void SliceHandshake(ReadOnlySpan<byte> bytes)
    {
        while (_phase is LinkPhase.AwaitGreeting or LinkPhase.AwaitHello or LinkPhase.AwaitWelcome && !IsAborted)
        {
            if (bytes.Length < WireLimits.PrefixBytes)
            {
                KeepPart(bytes);
                return;
            }

            var body = BinaryPrimitives.ReadUInt32LittleEndian(bytes);
            if (body > WireLimits.HandshakeBytes)
            {
                _node.RefuseGarbage(this);
                return;
            }

            var length = WireLimits.PrefixBytes + (int)body;
            if (bytes.Length < length)
            {
                KeepPart(bytes);
                return;
            }

            KeepTail(bytes[length..]);
            _node.HandshakeReceived(this, bytes[WireLimits.PrefixBytes..length]);
            bytes = bytes[length..];
        }
    }

    /// <summary>Keeps a part of a handshake frame: whoever has sent it is no longer one that says nothing.</summary>
    private void KeepPart(ReadOnlySpan<byte> bytes)
    {
        KeepTail(bytes);
        if (!bytes.IsEmpty)
        {
            _node.PendingHandshakes.Spoke(this);
        }
    }

    private void Deliver(ReadOnlySpan<byte> bytes, int frames)
    {
        _framesReceived += frames;
        try
        {
            _node.Events.FramesReceived(this, new FrameBatch(bytes, frames));
        }
        catch (Exception exception)
        {
            // The poller serves other links too: the fault of one receiver must not end its thread.
            _node.Log.ReceiverFailed(exception, Peer.Name, Channel, Index);
            Abort(DisconnectReason.ReceiverFailed);
        }
    }

    private void KeepTail(ReadOnlySpan<byte> bytes)
    {
        if (_tail.Length < bytes.Length)
        {
            Grow(ref _tail, 0, bytes.Length);
        }

        bytes.CopyTo(_tail);
        _tailCount = bytes.Length;
        if (_tailCount == 0)
        {
            GiveBackIfLarge(ref _tail);
        }
    }

    private void CloseReceiving()
    {
        GiveBack(ref _tail);
        _tailCount = 0;
    }
}
