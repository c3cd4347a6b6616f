using System.Buffers.Binary;
using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <summary>
/// The sending half of a <see cref="Link"/>: two buffers, one filled by appenders while the other is sent.
/// <para>Threads: any thread appends, under the append gate, which is held for a copy and never for a system call. Any thread flushes,
/// under the flush gate. Order of the gates: flush gate, then append gate.</para>
/// </summary>
internal sealed class LinkSender
{
    /// <summary>How far the queue of a client's link grows before it is counted, and between two counts.</summary>
    private const int CountedStep = 32 << 10;

    /// <summary>The least that a link of a session with many has for its queue.</summary>
    private const int LeastQueueBytes = 64 << 10;

    private readonly Link _link;
    private readonly MeshNode _node;
    private readonly ByteStream _stream;
    private readonly Lock _appendGate = new();
    private readonly Lock _flushGate = new();

    // Under the append gate.
    private byte[] _pending = [];
    private int _pendingCount;
    private int _pendingFrames;
    private long _queued;          // accepted and not yet taken by the network: pending plus the unsent part of out
    private bool _scheduled;       // a flush was requested; appenders that deferred theirs flush in addition
    private bool _appendable;
    private bool _finishing;
    private bool _finished;
    private bool _closeWhenFinished;
    private TaskCompletionSource? _room;
    private long _roomBelow;
    private int _queueBytes;

    // What is counted of the queue (see UnfinishedFrames), and where it is counted again.
    private long _counted;
    private long _countAt = long.MaxValue;

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

    public LinkSender(Link link, MeshNode node, ByteStream stream)
    {
        _link = link;
        _node = node;
        _stream = stream;
        _queueBytes = node.Options.SendQueueBytes;
    }

    /// <summary>What is counted of the frames that a client has not taken.</summary>
    public long CountedBytes => Volatile.Read(ref _counted);

    /// <inheritdoc cref="Link.FramesSent"/>
    public long FramesSent => Volatile.Read(ref _framesSent);

    /// <inheritdoc cref="Link.BytesSent"/>
    public long BytesSent => Volatile.Read(ref _bytesSent);

    /// <inheritdoc cref="Link.Flushes"/>
    public long Flushes => Volatile.Read(ref _flushes);

    /// <inheritdoc cref="Link.QueuedBytes"/>
    public long QueuedBytes => Volatile.Read(ref _queued);

    /// <summary>
    /// Frames may be appended from now on, unless the link is aborted. The data links of a client's session share the queue of one: their
    /// number is the client's choice.
    /// </summary>
    public void Open()
    {
        lock (_appendGate)
        {
            if (_link.Accepts == NodeKind.Client)
            {
                var share = _node.Options.SendQueueBytes / Math.Max(_link.Session!.DataLinks, 1);
                _queueBytes = Math.Min(Math.Max(share, LeastQueueBytes), _node.Options.SendQueueBytes);
                _countAt = CountedStep;
            }

            _appendable = !_link.IsAborted;
        }
    }

    /// <summary>Sends a keep-alive, unless something waits to be sent anyway. Any thread.</summary>
    public void SendKeepAlive()
    {
        lock (_appendGate)
        {
            if (!_appendable || _queued != 0 || _scheduled)
                return;

            AppendLocked(default, default, WireLimits.PrefixBytes);
            _pendingFrames--;
            BinaryPrimitives.WriteUInt32LittleEndian(_pending, WireLimits.KeepAliveMark);
            _scheduled = true;
        }

        _node.Events.SendPending(_link);
    }

    /// <summary>Copies one frame into the pending buffer. Any thread.</summary>
    /// <param name="head">The first part of the body.</param>
    /// <param name="rest">The second part.</param>
    /// <param name="deferred">Bytes that may be pending without an event; the maximum value: an event if the link was idle.</param>
    public SendResult Append(ReadOnlySpan<byte> head, ReadOnlySpan<byte> rest, int deferred)
    {
        var body = (long)head.Length + rest.Length;
        if (body > _node.Options.MaxFrameBytes)
            return SendResult.TooLarge;

        var need = WireLimits.PrefixBytes + (int)body;
        bool wake;
        bool isBehind;
        lock (_appendGate)
        {
            if (!_appendable)
                return SendResult.Closed;

            if (_queued != 0 && _queued + need > _queueBytes)
                return SendResult.Full;

            AppendLocked(head, rest, need);
            wake = !_scheduled && (deferred == int.MaxValue || _pendingCount > deferred);
            _scheduled |= wake;
            isBehind = _queued > _countAt;
        }

        if (isBehind)
            CountQueue();

        if (wake)
            _node.Events.SendPending(_link);

        return SendResult.Accepted;
    }

    /// <inheritdoc cref="Link.WaitForRoomAsync"/>
    public Task WaitForRoomAsync(int bodyBytes, CancellationToken cancellationToken)
    {
        Task room;
        lock (_appendGate)
        {
            var half = _queueBytes / 2;
            var below = (long)bodyBytes + WireLimits.PrefixBytes <= half ? half : 0;
            if (!_appendable || _queued <= below)
                return Task.CompletedTask;

            _roomBelow = _room is null ? below : Math.Max(_roomBelow, below);
            _room ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            if (Invariant.AreChecked)
                Invariant.Holds(_roomBelow >= 0 && _roomBelow <= _queueBytes / 2);
            room = _room.Task;
        }

        return cancellationToken.CanBeCanceled ? room.WaitAsync(cancellationToken) : room;
    }

    /// <inheritdoc cref="Link.Flush"/>
    public FlushResult Flush()
    {
        bool tookOver;
        lock (_flushGate)
        {
            if (_sendClosed)
                return FlushResult.Closed;

            if (_outSent == _outCount && !SwapBuffers())
                return FlushResult.Idle;

            var waited = Volatile.Read(ref _blocked) == 1;
            var sent = SendOut(out var unmarked);
            if (sent is ByteStream.Failed or ByteStream.Refused)
            {
                _link.Abort(DisconnectReason.Reset);
                return FlushResult.Closed;
            }

            var more = Settle(sent);
            if (_outSent < _outCount)
            {
                // SendOut has set the blocked mark: the poller will raise SendPending.
                return FlushResult.Blocked;
            }

            if (!more)
                return FlushResult.Idle;

            // The frames behind the blocked ones waited for the poller's report, which finds the mark cleared.
            tookOver = waited && unmarked;
        }

        if (tookOver)
            _node.Events.SendPending(_link);

        return FlushResult.More;
    }

    /// <summary>Sends one handshake frame at once. Control thread, or the accepting thread for the first one.</summary>
    public void SendHandshake(ReadOnlySpan<byte> body)
    {
        lock (_appendGate)
        {
            if (_sendClosed)
                return;

            AppendLocked(body, default, WireLimits.PrefixBytes + body.Length);
            _scheduled = true;
        }

        while (Flush() == FlushResult.More)
        {
        }
    }

    /// <summary>Accepts no more frames, sends what is pending and then tells the other end. Any thread.</summary>
    public void FinishSending()
    {
        bool wake;
        lock (_appendGate)
        {
            if (_finishing || _sendClosed)
                return;

            _appendable = false;
            _finishing = true;
            wake = !_scheduled;
            _scheduled = true;
        }

        if (wake)
            _node.Events.SendPending(_link);
    }

    /// <summary>Whether an orderly end of sending is under way; then its last flush closes the link.</summary>
    public bool AwaitLastFlush()
    {
        lock (_appendGate)
        {
            _closeWhenFinished = _finishing && !_finished;
            return _closeWhenFinished;
        }
    }

    /// <summary>The poller's report that the stream takes bytes again.</summary>
    public void BecameWritable()
    {
        if (Volatile.Read(ref _blocked) == 1 && Interlocked.Exchange(ref _blocked, 0) == 1)
        {
            if (_link.Phase is LinkPhase.Open)
            {
                _node.Events.SendPending(_link);
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
        Invariant.Held(_appendGate);
        if (_pending.Length - _pendingCount < need)
            PooledBuffer.Grow(ref _pending, _pendingCount, _pendingCount + need);

        var target = _pending.AsSpan(_pendingCount, need);
        BinaryPrimitives.WriteInt32LittleEndian(target, need - WireLimits.PrefixBytes);
        head.CopyTo(target[WireLimits.PrefixBytes..]);
        rest.CopyTo(target[(WireLimits.PrefixBytes + head.Length)..]);
        _pendingCount += need;
        _pendingFrames++;
        _queued += need;
        if (Invariant.AreChecked)
            Invariant.Holds(_queued >= _pendingCount && _pendingCount <= _pending.Length);
    }

    /// <summary>Makes the pending buffer the one to send. False, and unscheduled, if there is nothing.</summary>
    private bool SwapBuffers()
    {
        Invariant.Held(_flushGate);
        if (Invariant.AreChecked)
            Invariant.Holds(_outSent == _outCount);
        PooledBuffer.GiveBackIfLarge(ref _out, _node.Options.RetainedBufferBytes);
        lock (_appendGate)
        {
            if (Invariant.AreChecked)
                Invariant.Holds(_queued == _pendingCount && _pendingFrames >= 0);
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
                return false;

            _finished = true;
            // A stream that ends later reports its end, and that closes the link.
            if (_closeWhenFinished && !_stream.EndsLater)
            {
                _link.Abort(DisconnectReason.PeerClosed);
                return false;
            }
        }

        _stream.FinishSending();
        return false;
    }

    /// <summary>
    /// Returns the bytes taken. Sets the blocked mark if that is not all; otherwise reports whether it was set.
    /// </summary>
    private int SendOut(out bool unmarked)
    {
        Invariant.Held(_flushGate);
        var total = 0;
        unmarked = false;
        while (true)
        {
            var sent = _stream.Send(_out.AsSpan(_outSent, _outCount - _outSent));
            _flushes++;
            if (sent is ByteStream.Failed or ByteStream.Refused)
                return ByteStream.Failed;

            if (Invariant.AreChecked)
                Invariant.Holds(sent <= _outCount - _outSent);
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

    /// <summary>
    /// The queue of a client's link has grown or shrunk by much. May abort links, this one too. Not under the append gate.
    /// </summary>
    private void CountQueue()
    {
        Invariant.NotHeld(_appendGate);
        long more;
        lock (_appendGate)
        {
            var now = _queued > CountedStep ? _queued : 0;
            more = now - _counted;
            Volatile.Write(ref _counted, now);
            _countAt = now + CountedStep;
            if (Invariant.AreChecked)
                Invariant.Holds(_counted >= 0);
        }

        _node.Unfinished.Add(_link, more);
    }

    /// <summary>Counts the bytes sent; returns whether frames are pending. Unschedules if not.</summary>
    private bool Settle(int sent)
    {
        Invariant.Held(_flushGate);
        TaskCompletionSource? room = null;
        var more = true;
        bool hasCaughtUp;
        _bytesSent += sent;
        lock (_appendGate)
        {
            _queued -= sent;
            if (Invariant.AreChecked)
                Invariant.Holds(_queued == _pendingCount + _outCount - _outSent);
            hasCaughtUp = _queued < _counted / 2;
            if (_outSent == _outCount && _pendingCount == 0 && !_finishing)
            {
                _scheduled = false;
                more = false;
            }

            if (_room is not null && _queued <= _roomBelow)
                (room, _room) = (_room, null);
        }

        if (hasCaughtUp)
            CountQueue();

        room?.SetResult();
        return more;
    }

    /// <summary>Releases the stream and the buffers. Under the gate of the poller.</summary>
    public void Close()
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
                PooledBuffer.GiveBack(ref _pending);
                PooledBuffer.GiveBack(ref _out);
                _pendingCount = _outCount = _outSent = 0;
            }

            _stream.Dispose();
        }

        CountQueue();
        room?.SetResult();
    }
}
