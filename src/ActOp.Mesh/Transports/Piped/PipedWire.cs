using System.Buffers;
using System.IO.Pipelines;
using PipeFlush = System.IO.Pipelines.FlushResult;

namespace ActOp.Mesh.Transports.Piped;

/// <summary>
/// The side of a piped stream that faces the network: fills the pipe that middleware reads and sends what it writes into the other one.
/// No task and no thread: both directions go on when the readiness set reports, or when the middleware makes bytes or room.
/// <para>Owns the inner stream and its two pipes. A pipe holds at most <see cref="PipedStream.PauseBytes"/> and one chunk; then reading
/// from the network stops, or the middleware's flush waits.</para>
/// <para>Threads: <see cref="Fill"/> and <see cref="EndInput"/> under the gate of the poller. <see cref="Drain"/> by any thread, under
/// the output gate, which is held for non-blocking sends only. <see cref="Close"/> takes that gate, and no poller reads then.</para>
/// <para>Failures: a stream that fails completes both pipes, so middleware sees the end of its input, and that nobody reads its
/// output.</para>
/// </summary>
internal sealed class PipedWire
{
    private readonly ByteStream _inner;
    private readonly Action<ReadyKinds> _report;
    private readonly Pipe _fromPeer;
    private readonly Pipe _toPeer;
    private readonly Lock _outputGate = new();
    private readonly Action _onRoom;
    private readonly Action _onOutput;

    // Of Fill.
    private bool _isReadable = true;
    private bool _readsToTheEnd;
    private bool _isPaused;
    private bool _isUnread;
    private bool _hasEnded;
    private ValueTask<PipeFlush> _flush;
    private volatile int _failure;

    // Under the output gate.
    private bool _isAsking;
    private ValueTask<ReadResult> _asked;
    private bool _isClosed;
    private bool _isUnwatched;
    private volatile bool _isOutputOver;

    public PipedWire(ByteStream inner, PipedSettings settings, Action<ReadyKinds> report)
    {
        _inner = inner;
        _report = report;
        // Middleware continues where the settings say; what continues here only reports, or sends without blocking.
        _fromPeer = new Pipe(PipedStream.Options(settings, reader: settings.Scheduler, writer: PipeScheduler.Inline));
        _toPeer = new Pipe(PipedStream.Options(settings, reader: PipeScheduler.Inline, writer: settings.Scheduler));
        _onRoom = () => _report(ReadyKinds.Read);
        _onOutput = Drain;
        Middleware = new PipePair(_fromPeer.Reader, _toPeer.Writer);
    }

    /// <summary>What middleware reads and writes.</summary>
    public PipePair Middleware { get; }

    /// <summary>The result of the inner stream that ended it, or 0.</summary>
    public int Failure => _failure;

    /// <summary>Whether anything was ever received.</summary>
    public bool HasHeard { get; private set; }

    /// <summary>Whether all output was sent, and its end too.</summary>
    public bool IsOutputOver => _isOutputOver;

    /// <summary>The readiness set has reported bytes, or the end, which is read to even after a short read. Any thread.</summary>
    public void BecameReadable(bool toTheEnd)
    {
        if (toTheEnd)
            Volatile.Write(ref _readsToTheEnd, true);

        Volatile.Write(ref _isReadable, true);
    }

    /// <summary>
    /// Reads once from the network into the middleware's pipe, if there is anything and the pipe has room. Returns whether there may be
    /// more. A room that comes later is reported.
    /// </summary>
    /// <param name="scratch">Overwritten.</param>
    public bool Fill(Span<byte> scratch)
    {
        if (_hasEnded || _failure != 0 || !Volatile.Read(ref _isReadable) || !HasRoom())
            return false;

        scratch = scratch[..Math.Min(scratch.Length, PipedStream.ChunkBytes)];
        // Before the read: a report that comes during it is about what it may not have seen.
        Volatile.Write(ref _isReadable, false);
        return PassOn(_inner.Receive(scratch), scratch);
    }

    /// <summary>
    /// Sends what middleware has written, as far as the stream takes it, and asks for more. Its end ends the stream's output.
    /// </summary>
    public void Drain()
    {
        lock (_outputGate)
        {
            while (!_isClosed && !_isOutputOver && TryAsk(out var output))
            {
                if (!Send(output))
                    return;
            }
        }
    }

    /// <summary>Nothing more arrives: the link is closed. Under the gate of the poller.</summary>
    public void EndInput()
    {
        _hasEnded = true;
        _fromPeer.Writer.Complete();
    }

    /// <summary>
    /// The stream has left the readiness set, so nobody reports room any more: output that the network does not take at once is lost, and
    /// the stream fails. After <see cref="EndInput"/>.
    /// </summary>
    public void EndReports()
    {
        lock (_outputGate)
            _isUnwatched = true;

        Drain();
    }

    /// <summary>Middleware has ended, and the link is closed: gives back what it has left. The rest of its output is sent.</summary>
    public void MiddlewareEnded()
    {
        _fromPeer.Reader.Complete();
        _toPeer.Writer.Complete();
    }

    /// <summary>Closes the inner stream; output that was not sent is lost. Returns false if it was closed already.</summary>
    public bool Close()
    {
        lock (_outputGate)
        {
            if (_isClosed)
                return false;

            _isClosed = true;
            Forget();
            _inner.Dispose();
            return true;
        }
    }

    private bool HasRoom()
    {
        if (_isPaused && _flush.IsCompleted)
        {
            _isPaused = false;
            Note(_flush);
        }

        return !_isPaused && !_isUnread;
    }

    /// <summary>
    /// Middleware that has completed its input, maybe with an exception of its own, reads no more: then the network is not read either.
    /// </summary>
    private void Note(ValueTask<PipeFlush> flush)
    {
        try
        {
            _isUnread |= flush.GetAwaiter().GetResult().IsCompleted;
        }
        catch (Exception exception)
        {
            _ = exception;
            _isUnread = true;
        }
    }

    private bool PassOn(int read, ReadOnlySpan<byte> bytes)
    {
        if (read == ByteStream.WouldBlock)
        {
            _readsToTheEnd = false;
            return false;
        }

        if (read <= 0)
        {
            _failure = read;
            EndInput();
            return false;
        }

        HasHeard = true;
        if (read == bytes.Length || Volatile.Read(ref _readsToTheEnd))
            Volatile.Write(ref _isReadable, true);

        Invariant.Holds(!_isPaused && !_isUnread);
        _fromPeer.Writer.Write(bytes[..read]);
        var flush = Flush();
        if (flush.IsCompleted)
        {
            Note(flush);
        }
        else
        {
            _flush = flush;
            _isPaused = true;
            flush.ConfigureAwait(false).GetAwaiter().UnsafeOnCompleted(_onRoom);
        }

        return true;
    }

    private ValueTask<PipeFlush> Flush()
    {
        try
        {
            return _fromPeer.Writer.FlushAsync();
        }
        catch (Exception exception)
        {
            return ValueTask.FromException<PipeFlush>(exception);
        }
    }

    /// <summary>False: there is nothing; <see cref="Drain"/> is called when there is.</summary>
    private bool TryAsk(out ReadResult output)
    {
        Invariant.Held(_outputGate);
        output = default;
        try
        {
            if (!_isAsking)
            {
                _asked = _toPeer.Reader.ReadAsync();
                _isAsking = true;
                if (!_asked.IsCompleted)
                {
                    // Last, because bytes that come now are sent before this returns.
                    _asked.ConfigureAwait(false).GetAwaiter().UnsafeOnCompleted(_onOutput);
                    return false;
                }
            }

            if (!_asked.IsCompleted)
                return false;

            _isAsking = false;
            output = _asked.GetAwaiter().GetResult();
            return true;
        }
        catch (Exception exception)
        {
            // Middleware has completed its output with it.
            _ = exception;
            Break(ByteStream.Failed);
            return false;
        }
    }

    /// <summary>False: the rest waits for room or is lost, or the end was sent.</summary>
    private bool Send(in ReadResult output)
    {
        Invariant.Held(_outputGate);
        Invariant.Holds(!_isClosed && !_isOutputOver);
        var left = output.Buffer;
        foreach (var segment in output.Buffer)
        {
            for (var rest = segment.Span; !rest.IsEmpty;)
            {
                var sent = _inner.Send(rest);
                if (sent < 0)
                    return Stop(sent, left);

                rest = rest[sent..];
                left = left.Slice(sent);
            }
        }

        if (output.IsCompleted)
        {
            Forget();
            _inner.FinishSending();
            _isOutputOver = true;
            _report(ReadyKinds.Read);
            return false;
        }

        // The last, because middleware may continue inside of it.
        _toPeer.Reader.AdvanceTo(output.Buffer.End);
        return true;
    }

    private bool Stop(int result, ReadOnlySequence<byte> left)
    {
        if (result != ByteStream.WouldBlock)
            Break(result);
        else if (_isUnwatched)
            Break(ByteStream.Failed);
        else
            _toPeer.Reader.AdvanceTo(left.Start);

        return false;
    }

    private void Break(int result)
    {
        Invariant.Held(_outputGate);
        _failure = result;
        Forget();
        _isOutputOver = true;
        _report(ReadyKinds.Read | ReadyKinds.Hangup);
    }

    /// <summary>Nobody reads the output any more.</summary>
    private void Forget() => _toPeer.Reader.Complete();
}

/// <summary>Two pipes, one for each direction.</summary>
internal sealed class PipePair(PipeReader input, PipeWriter output) : IDuplexPipe
{
    public PipeReader Input { get; } = input;

    public PipeWriter Output { get; } = output;
}
