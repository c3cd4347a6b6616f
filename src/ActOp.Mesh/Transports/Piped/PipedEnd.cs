using System.Buffers;
using System.IO.Pipelines;
using PipeFlush = System.IO.Pipelines.FlushResult;

namespace ActOp.Mesh.Transports.Piped;

/// <summary>
/// The side of a piped stream that faces the link: what the link reads and writes behind the middleware.
/// <para>A direction that middleware has left as it was is used as it is, without a hand-off: the reading thread moves bytes from the
/// network to the link, the flushing thread sends them. A direction with a pipe of somebody else has a pump, a task on the scheduler of
/// the settings, and a pipe of our own between the pump and the link: so code of the application never runs on a thread of the mesh.</para>
/// <para>Owns the pumps and their pipes; each ends when the link is closed (<see cref="Close"/>), at an end of its source, or at a
/// failure, which is told once.</para>
/// <para>Threads: <see cref="Open"/> once, by the middleware. <see cref="ReadAvailable"/> under the gate of the poller.
/// <see cref="WriteAvailable"/> and <see cref="Finish"/> under the gate of the flush, and under the send gate, which <see cref="Close"/>
/// takes too.</para>
/// </summary>
internal sealed class PipedEnd(PipedSettings settings, PipePair own, Action<ReadyKinds> report, Action<Exception> failed)
{
    private readonly Lock _sendGate = new();
    private readonly Action _onBytes = () => report(ReadyKinds.Read);
    private readonly Action _onRoom = () => report(ReadyKinds.Write);
    private IDuplexPipe? _transport;
    private Pipe? _toLink;
    private Pipe? _fromLink;
    private PipeReader _input = null!;
    private PipeWriter _output = null!;
    private volatile bool _isOpen;
    private volatile bool _isClosed;

    // Of Take.
    private bool _hasEnded;
    private bool _isAsking;
    private ValueTask<ReadResult> _asked;

    // Under the send gate.
    private bool _isFull;
    private bool _isFinished;
    private ValueTask<PipeFlush> _flush;

    /// <summary>Whether the chain has reached its end, so that the link may use it.</summary>
    public bool IsOpen => _isOpen;

    /// <summary>Whether the link has said that no more follows.</summary>
    public bool IsFinished => Volatile.Read(ref _isFinished);

    /// <summary>Whether <see cref="ReadAvailable"/> has found the end, maybe behind bytes. Thread of Take.</summary>
    public bool HasEnded => _hasEnded;

    /// <summary>Ends with the last pump.</summary>
    public Task Pumps { get; private set; } = Task.CompletedTask;

    /// <summary>Connects the link with what the middleware has left. False if the link is closed already.</summary>
    public bool Open(IDuplexPipe transport)
    {
        var receiving = Task.CompletedTask;
        var sending = Task.CompletedTask;
        lock (_sendGate)
        {
            if (_isClosed)
                return false;

            _transport = transport;
            _toLink = ReferenceEquals(transport.Input, own.Input)
                ? null : new Pipe(PipedStream.Options(settings, reader: PipeScheduler.Inline, writer: settings.Scheduler));
            _input = _toLink?.Reader ?? own.Input;
            _output = own.Output;
            if (!ReferenceEquals(transport.Output, own.Output))
            {
                _fromLink = new Pipe(PipedStream.Options(settings, reader: settings.Scheduler, writer: PipeScheduler.Inline));
                _output = _fromLink.Writer;
                // There is nothing to send yet, so no code of the application runs under the gate.
                sending = PumpAsync(_fromLink.Reader, transport.Output, receives: false);
            }

            _isOpen = true;
        }

        if (_toLink is not null)
            receiving = PumpAsync(transport.Input, _toLink.Writer, receives: true);

        Pumps = Task.WhenAll(receiving, sending);
        report(ReadyKinds.Read | ReadyKinds.Write);
        return true;
    }

    /// <summary>The chain has reached its end after that of the link: completes what <see cref="Open"/> would have used.</summary>
    public async Task RefuseAsync(IDuplexPipe transport)
    {
        if (!ReferenceEquals(transport.Output, own.Output))
            await transport.Output.CompleteAsync().ConfigureAwait(false);

        if (!ReferenceEquals(transport.Input, own.Input))
            await transport.Input.CompleteAsync().ConfigureAwait(false);
    }

    /// <summary>
    /// Reads what is there: the number of bytes, 0 at the end, or <see cref="ByteStream.WouldBlock"/>; then, if bytes may come other than
    /// by a fill of the wire, their arrival is reported.
    /// </summary>
    public int ReadAvailable(Span<byte> buffer)
    {
        if (!_isOpen)
            return ByteStream.WouldBlock;

        var total = 0;
        while (total < buffer.Length && !_hasEnded && TryAsk(out var read))
        {
            var rest = read.Buffer;
            var copied = (int)Math.Min(rest.Length, buffer.Length - total);
            rest.Slice(0, copied).CopyTo(buffer[total..]);
            _input.AdvanceTo(rest.GetPosition(copied));
            total += copied;
            if (copied == 0)
            {
                // A read that somebody has cancelled, or the end. Bytes that were read before it are delivered first.
                _hasEnded = read.IsCompleted;
                break;
            }
        }

        return total > 0 ? total : _hasEnded ? 0 : ByteStream.WouldBlock;
    }

    /// <summary>
    /// Takes a chunk to send: the number of bytes, <see cref="ByteStream.WouldBlock"/> (room is reported) or
    /// <see cref="ByteStream.Failed"/> when nobody reads it any more.
    /// </summary>
    public int WriteAvailable(ReadOnlySpan<byte> bytes)
    {
        if (!_isOpen)
            return ByteStream.WouldBlock;

        lock (_sendGate)
        {
            if (_isClosed || _isFinished)
                return ByteStream.Failed;

            if (_isFull)
            {
                if (!_flush.IsCompleted)
                    return ByteStream.WouldBlock;

                _isFull = false;
                if (_flush.GetAwaiter().GetResult().IsCompleted)
                    return ByteStream.Failed;
            }

            var chunk = bytes[..Math.Min(bytes.Length, PipedStream.ChunkBytes)];
            _output.Write(chunk);
            var flush = _output.FlushAsync();
            if (flush.IsCompleted)
                return flush.GetAwaiter().GetResult().IsCompleted ? ByteStream.Failed : chunk.Length;

            _flush = flush;
            _isFull = true;
            flush.ConfigureAwait(false).GetAwaiter().UnsafeOnCompleted(_onRoom);
            return chunk.Length;
        }
    }

    /// <summary>The link sends no more: what it has sent is passed on, and then the end.</summary>
    public void Finish()
    {
        lock (_sendGate)
            FinishLocked();
    }

    /// <summary>The link is closed: it reads no more, and what it has sent is passed on. Under the gate of the poller.</summary>
    public void Close()
    {
        lock (_sendGate)
        {
            _isClosed = true;
            FinishLocked();
        }

        _toLink?.Reader.Complete();
    }

    /// <summary>Ends a pump that waits for bytes of the application's pipe. After <see cref="Close"/>, on the scheduler.</summary>
    public void CancelReceiving()
    {
        if (_toLink is not null)
            _transport!.Input.CancelPendingRead();
    }

    /// <summary>Ends a pump that waits for room in the application's pipe. After <see cref="Close"/>, on the scheduler.</summary>
    public void CancelSending()
    {
        if (_fromLink is not null)
            _transport!.Output.CancelPendingFlush();
    }

    private void FinishLocked()
    {
        Invariant.Held(_sendGate);
        if (_isOpen && !_isFinished)
        {
            Volatile.Write(ref _isFinished, true);
            _output.Complete();
        }
    }

    private bool TryAsk(out ReadResult read)
    {
        if (_toLink is null)
            return _input.TryRead(out read);

        if (!_isAsking)
        {
            _asked = _input.ReadAsync();
            _isAsking = true;
            if (!_asked.IsCompleted)
                _asked.ConfigureAwait(false).GetAwaiter().UnsafeOnCompleted(_onBytes);
        }

        if (!_asked.IsCompleted)
        {
            read = default;
            return false;
        }

        _isAsking = false;
        read = _asked.GetAwaiter().GetResult();
        return true;
    }

    /// <summary>Copies until an end, and passes the end on.</summary>
    private async Task PumpAsync(PipeReader from, PipeWriter to, bool receives)
    {
        Exception? failure = null;
        try
        {
            while (true)
            {
                var read = await from.ReadAsync().ConfigureAwait(false);
                if (read.IsCanceled && _isClosed)
                {
                    from.AdvanceTo(read.Buffer.Start);
                    break;
                }

                var goesOn = await CopyAsync(read.Buffer, to).ConfigureAwait(false);
                from.AdvanceTo(read.Buffer.End);
                if (!goesOn || read.IsCompleted)
                    break;
            }
        }
        catch (Exception exception)
        {
            failure = exception;
            failed(exception);
        }

        await EndAsync(from, to, receives, failure).ConfigureAwait(false);
    }

    /// <summary>False if nobody reads what is written, or if it is not to be written any more.</summary>
    private async ValueTask<bool> CopyAsync(ReadOnlySequence<byte> bytes, PipeWriter to)
    {
        foreach (var segment in bytes)
        {
            for (var rest = segment; !rest.IsEmpty;)
            {
                var chunk = rest[..Math.Min(rest.Length, PipedStream.ChunkBytes)];
                to.Write(chunk.Span);
                rest = rest[chunk.Length..];
                var flush = await to.FlushAsync().ConfigureAwait(false);
                if (flush.IsCompleted || (flush.IsCanceled && _isClosed))
                    return false;
            }
        }

        return true;
    }

    /// <summary>Completes both ends; only that of the application with the failure, which the link's end would throw.</summary>
    private async ValueTask EndAsync(PipeReader from, PipeWriter to, bool receives, Exception? failure)
    {
        try
        {
            await to.CompleteAsync(receives ? null : failure).ConfigureAwait(false);
        }
        catch (Exception exception)
        {
            // A pipe of the application that cannot be completed.
            failed(exception);
        }

        try
        {
            await from.CompleteAsync(receives ? failure : null).ConfigureAwait(false);
        }
        catch (Exception exception)
        {
            // A pipe of the application that cannot be completed.
            failed(exception);
        }
    }
}
