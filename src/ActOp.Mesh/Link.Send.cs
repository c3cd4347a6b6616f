using System.Buffers;
using System.Buffers.Binary;
using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <content>The sending half: two buffers, one filled by appenders while the other is on its way out.</content>
public sealed partial class Link
{
    private readonly Lock _appendGate = new();
    private readonly Lock _flushGate = new();

    // Under the append gate.
    private byte[] _pending = [];
    private int _pendingCount;
    private int _pendingFrames;
    private long _queued;          // accepted and not yet taken by the network: pending plus the unsent part of out
    private bool _scheduled;       // somebody was asked for a flush; appenders that deferred theirs owe one besides
    private bool _appendable;
    private bool _finishing;
    private bool _finished;
    private bool _closeWhenFinished;
    private TaskCompletionSource? _room;
    private long _roomBelow;

    // Under the flush gate.
    private byte[] _out = [];
    private int _outCount;
    private int _outSent;
    private bool _sendClosed;
    private long _framesSent;
    private long _bytesSent;
    private long _flushes;

    // 1 while a flusher waits for the poller to report that the stream takes more.
    private int _blocked;

    /// <summary>Frames handed to the network so far (counted when their flush starts).</summary>
    public long FramesSent => Volatile.Read(ref _framesSent);

    /// <summary>Bytes taken by the network so far, with length prefixes.</summary>
    public long BytesSent => Volatile.Read(ref _bytesSent);

    /// <summary>Sends to the network so far.</summary>
    public long Flushes => Volatile.Read(ref _flushes);

    /// <summary>Bytes accepted and not yet taken by the network.</summary>
    public long QueuedBytes => Volatile.Read(ref _queued);

    /// <summary>
    /// Copies one frame into the link's buffer; <paramref name="head"/> and <paramref name="rest"/> together are its body. Any thread;
    /// frames leave in the order of acceptance. Raises <see cref="MeshEvents.SendPending"/> if the link was idle.
    /// </summary>
    public SendResult TryAppend(ReadOnlySpan<byte> head, ReadOnlySpan<byte> rest = default) => Append(head, rest, int.MaxValue);

    /// <summary>
    /// Like <see cref="TryAppend"/>, for a caller that will call <see cref="Flush"/> itself after some more frames (and may ignore that it
    /// returns <see cref="FlushResult.More"/>): raises no event, unless more than <see cref="MeshOptions.DeferredBytes"/> are pending.
    /// </summary>
    public SendResult TryAppendDeferred(ReadOnlySpan<byte> frame) => Append(frame, default, _node.Options.DeferredBytes);

    /// <summary>Says that this end is there, unless something waits to be sent anyway. Any thread.</summary>
    internal void SendKeepAlive()
    {
        lock (_appendGate)
        {
            if (!_appendable || _queued != 0 || _scheduled)
            {
                return;
            }

            AppendLocked(default, default, WireLimits.PrefixBytes);
            _pendingFrames--;
            BinaryPrimitives.WriteUInt32LittleEndian(_pending, WireLimits.KeepAliveMark);
            _scheduled = true;
        }

        _node.Events.SendPending(this);
    }

    private SendResult Append(ReadOnlySpan<byte> head, ReadOnlySpan<byte> rest, int deferred)
    {
        var body = (long)head.Length + rest.Length;
        if (body > _node.Options.MaxFrameBytes)
        {
            return SendResult.TooLarge;
        }

        var need = WireLimits.PrefixBytes + (int)body;
        bool wake;
        lock (_appendGate)
        {
            if (!_appendable)
            {
                return SendResult.Closed;
            }

            if (_queued != 0 && _queued + need > _node.Options.SendQueueBytes)
            {
                return SendResult.Full;
            }

            AppendLocked(head, rest, need);
            wake = !_scheduled && (deferred == int.MaxValue || _pendingCount > deferred);
            _scheduled |= wake;
        }

        if (wake)
        {
            _node.Events.SendPending(this);
        }

        return SendResult.Accepted;
    }

    /// <summary>
    /// Completes when a frame of <paramref name="bodyBytes"/> may fit again or the link is closed; then try again. Waits until half of the
    /// buffer is free (all of it for a frame longer than half) so that senders do not return for every few bytes. All waiters share one
    /// task.
    /// </summary>
    public Task WaitForRoomAsync(int bodyBytes, CancellationToken cancellationToken = default)
    {
        var half = _node.Options.SendQueueBytes / 2;
        var below = (long)bodyBytes + WireLimits.PrefixBytes <= half ? half : 0;
        Task room;
        lock (_appendGate)
        {
            if (!_appendable || _queued <= below)
            {
                return Task.CompletedTask;
            }

            _roomBelow = _room is null ? below : Math.Max(_roomBelow, below);
            _room ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            room = _room.Task;
        }

        return cancellationToken.CanBeCanceled ? room.WaitAsync(cancellationToken) : room;
    }

    /// <summary>
    /// Hands everything pending to the network in one non-blocking send. Any thread; concurrent calls wait for each other. A caller that
    /// has asked nobody may ignore <see cref="FlushResult.More"/>: whoever appended the rest has asked, or this call does in place of the
    /// report that it makes void.
    /// </summary>
    public FlushResult Flush()
    {
        bool tookOver;
        lock (_flushGate)
        {
            if (_sendClosed)
            {
                return FlushResult.Closed;
            }

            if (_outSent == _outCount && !SwapBuffers())
            {
                return FlushResult.Idle;
            }

            var waited = Volatile.Read(ref _blocked) == 1;
            var sent = SendOut(out var unmarked);
            if (sent is ByteStream.Failed or ByteStream.Refused)
            {
                Abort(DisconnectReason.Reset);
                return FlushResult.Closed;
            }

            var more = Settle(sent);
            if (_outSent < _outCount)
            {
                // SendOut has left the blocked mark: the poller will raise SendPending.
                return FlushResult.Blocked;
            }

            if (!more)
            {
                return FlushResult.Idle;
            }

            // The frames behind those that were blocked waited for the poller's report, which finds no mark any more.
            tookOver = waited && unmarked;
        }

        if (tookOver)
        {
            _node.Events.SendPending(this);
        }

        return FlushResult.More;
    }

    /// <summary>Sends one handshake frame at once. Control thread, or the accepting thread for the first one.</summary>
    internal void SendHandshake(ReadOnlySpan<byte> body)
    {
        lock (_appendGate)
        {
            if (_sendClosed)
            {
                return;
            }

            AppendLocked(body, default, WireLimits.PrefixBytes + body.Length);
            _scheduled = true;
        }

        while (Flush() == FlushResult.More)
        {
        }
    }

    /// <summary>Accepts no more frames, sends what is pending and then tells the other end. Any thread.</summary>
    internal void FinishSending()
    {
        bool wake;
        lock (_appendGate)
        {
            if (_finishing || _sendClosed)
            {
                return;
            }

            _appendable = false;
            _finishing = true;
            wake = !_scheduled;
            _scheduled = true;
        }

        if (wake)
        {
            _node.Events.SendPending(this);
        }
    }

    /// <summary>Whether an orderly end of sending is under way; then its last flush closes the link.</summary>
    private bool AwaitLastFlush()
    {
        lock (_appendGate)
        {
            _closeWhenFinished = _finishing && !_finished;
            return _closeWhenFinished;
        }
    }

    /// <summary>The poller's report that the stream takes bytes again.</summary>
    internal void BecameWritable()
    {
        if (Volatile.Read(ref _blocked) == 1 && Interlocked.Exchange(ref _blocked, 0) == 1)
        {
            if (_phase is LinkPhase.Open)
            {
                _node.Events.SendPending(this);
            }
            else
            {
                // A handshake frame that did not fit: there is no sender yet.
                Flush();
            }
        }
    }

    private void AppendLocked(ReadOnlySpan<byte> head, ReadOnlySpan<byte> rest, int need)
    {
        if (_pending.Length - _pendingCount < need)
        {
            Grow(ref _pending, _pendingCount, _pendingCount + need);
        }

        var target = _pending.AsSpan(_pendingCount, need);
        BinaryPrimitives.WriteInt32LittleEndian(target, need - WireLimits.PrefixBytes);
        head.CopyTo(target[WireLimits.PrefixBytes..]);
        rest.CopyTo(target[(WireLimits.PrefixBytes + head.Length)..]);
        _pendingCount += need;
        _pendingFrames++;
        _queued += need;
    }

    /// <summary>Makes the pending buffer the one to send. False, and unscheduled, if there is nothing.</summary>
    private bool SwapBuffers()
    {
        GiveBackIfLarge(ref _out);
        lock (_appendGate)
        {
            if (_pendingCount > 0)
            {
                (_pending, _out) = (_out, _pending);
                _outCount = _pendingCount;
                _outSent = 0;
                _framesSent += _pendingFrames;
                _pendingCount = 0;
                _pendingFrames = 0;
                return true;
            }

            _scheduled = false;
            if (!_finishing || _finished)
            {
                return false;
            }

            _finished = true;
            if (_closeWhenFinished)
            {
                Abort(DisconnectReason.PeerClosed);
                return false;
            }
        }

        _stream.FinishSending();
        return false;
    }

    /// <summary>
    /// Returns the bytes taken. Leaves the blocked mark if that is not all; else says whether there was one to take away.
    /// </summary>
    private int SendOut(out bool unmarked)
    {
        var total = 0;
        unmarked = false;
        while (true)
        {
            var sent = _stream.Send(_out.AsSpan(_outSent, _outCount - _outSent));
            _flushes++;
            if (sent is ByteStream.Failed or ByteStream.Refused)
            {
                return ByteStream.Failed;
            }

            if (sent > 0)
            {
                total += sent;
                _outSent += sent;
                if (_outSent == _outCount)
                {
                    unmarked = Interlocked.Exchange(ref _blocked, 0) == 1;
                    return total;
                }
            }
            else if (Volatile.Read(ref _blocked) == 1)
            {
                return total;
            }

            // Readiness is edge-triggered: an edge before the mark would be lost, so mark and try once more. An edge after it raises
            // SendPending; at worst the stream takes the rest now and that call finds nothing to do.
            Interlocked.Exchange(ref _blocked, 1);
        }
    }

    /// <summary>Books the bytes sent; returns whether frames are pending. Unschedules if not.</summary>
    private bool Settle(int sent)
    {
        TaskCompletionSource? room = null;
        var more = true;
        _bytesSent += sent;
        lock (_appendGate)
        {
            _queued -= sent;
            if (_outSent == _outCount && _pendingCount == 0 && !_finishing)
            {
                _scheduled = false;
                more = false;
            }

            if (_room is not null && _queued <= _roomBelow)
            {
                (room, _room) = (_room, null);
            }
        }

        room?.SetResult();
        return more;
    }

    private void CloseSending()
    {
        TaskCompletionSource? room;
        lock (_flushGate)
        {
            lock (_appendGate)
            {
                _appendable = false;
                _sendClosed = true;
                _queued = 0;
                (room, _room) = (_room, null);
                GiveBack(ref _pending);
                GiveBack(ref _out);
                _pendingCount = _outCount = _outSent = 0;
            }

            _stream.Dispose();
        }

        room?.SetResult();
    }

    private void GiveBackIfLarge(ref byte[] buffer)
    {
        if (buffer.Length > _node.Options.RetainedBufferBytes)
        {
            GiveBack(ref buffer);
        }
    }

    private static void Grow(ref byte[] buffer, int used, int need)
    {
        var larger = ArrayPool<byte>.Shared.Rent((int)Math.Min(Math.Max(Math.Max(need, 4096), 2L * buffer.Length), Array.MaxLength));
        buffer.AsSpan(0, used).CopyTo(larger);
        GiveBack(ref buffer);
        buffer = larger;
    }

    private static void GiveBack(ref byte[] buffer)
    {
        if (buffer.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(buffer);
            buffer = [];
        }
    }
}
