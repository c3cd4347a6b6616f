using System.Buffers;
using System.Threading.Tasks.Sources;

namespace ActOp.Mesh.Transports.Tls;

/// <summary>
/// The encrypted side of a TLS stream, as the <see cref="Stream"/> that <see cref="System.Net.Security.SslStream"/> needs. A read that
/// finds no bytes stays pending until <see cref="Resume"/>, which continues the reader on the calling thread. A write only fills the output
/// buffer, which <see cref="Drain"/> sends; so every write completes at once.
/// <para>Owns the encrypted stream and the output buffer, which is from the shared pool while it holds bytes: at most a chunk of
/// <see cref="TlsStream"/> and a few control records.</para>
/// <para>Threads: one reader at a time, under the read gate; several writers (the sender, and the reader for alerts and key updates), under
/// the write gate. Both gates are held for one non-blocking call and no continuation. <see cref="CloseInner"/> takes both, so that no
/// thread uses a stream that was closed.</para>
/// </summary>
internal sealed class TlsWire(ByteStream inner) : Stream, IValueTaskSource<int>
{
    private readonly Lock _readGate = new();
    private readonly Lock _writeGate = new();
    private ManualResetValueTaskSourceCore<int> _pending;
    private Memory<byte> _asked;
    private bool _isPending;
    private bool _isReadable;
    private bool _readsToTheEnd;
    private byte[] _out = [];
    private int _outCount;
    private int _outSent;
    private bool _finishes;
    private bool _isFinished;
    private bool _isClosed;

    /// <summary>The last result below zero of the encrypted stream other than "would block", or 0.</summary>
    public int Failure { get; private set; }

    /// <summary>Whether the encrypted stream has ended.</summary>
    public bool IsAtEnd { get; private set; }

    /// <summary>Whether anything was ever received.</summary>
    public bool HasHeard { get; private set; }

    /// <summary>Whether the first bytes belong to another protocol.</summary>
    public bool IsNotTls { get; private set; }

    /// <summary>Whether output waits to be sent.</summary>
    public bool HasOutput => Volatile.Read(ref _outCount) > 0;

    public override bool CanRead => true;

    public override bool CanWrite => true;

    public override bool CanSeek => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <summary>
    /// The readiness set has reported bytes, or the end, which is read to even after a read that was not full. Any thread.
    /// </summary>
    public void BecameReadable(bool toTheEnd)
    {
        if (toTheEnd)
            Volatile.Write(ref _readsToTheEnd, true);

        Volatile.Write(ref _isReadable, true);
    }

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var read = TryRead(buffer.Span);
        if (read == ByteStream.WouldBlock)
        {
            _pending.Reset();
            _asked = buffer;
            _isPending = true;
            return new ValueTask<int>(this, _pending.Version);
        }

        return read >= 0 ? new ValueTask<int>(read) : ValueTask.FromException<int>(Broken());
    }

    /// <summary>Completes pending reads as long as there are bytes. The reader continues on this thread, inside of this call.</summary>
    public void Resume()
    {
        while (_isPending)
        {
            var read = TryRead(_asked.Span);
            if (read == ByteStream.WouldBlock)
                return;

            _isPending = false;
            _asked = default;
            if (read >= 0)
                _pending.SetResult(read);
            else
                _pending.SetException(Broken());
        }
    }

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        Append(buffer.Span);
        return default;
    }

    /// <summary>Adds output that is sent by the next <see cref="Drain"/>.</summary>
    public void Append(ReadOnlySpan<byte> bytes)
    {
        lock (_writeGate)
        {
            if (_isClosed)
                return;

            if (_out.Length - _outCount < bytes.Length)
                PooledBuffer.Grow(ref _out, _outCount, _outCount + bytes.Length);

            bytes.CopyTo(_out.AsSpan(_outCount));
            // Before it is sent: the report of room that follows a full stream then finds that there is output.
            Volatile.Write(ref _outCount, _outCount + bytes.Length);
        }
    }

    /// <summary>
    /// Sends the output: 1 if nothing is left, <see cref="ByteStream.WouldBlock"/> or <see cref="ByteStream.Failed"/>.
    /// </summary>
    public int Drain()
    {
        lock (_writeGate)
        {
            while (_outSent < _outCount)
            {
                var sent = inner.Send(_out.AsSpan(_outSent, _outCount - _outSent));
                if (sent == ByteStream.WouldBlock)
                    return sent;

                if (sent < 0)
                {
                    Failure = Failure == 0 ? sent : Failure;
                    GiveBack();
                    return ByteStream.Failed;
                }

                _outSent += sent;
            }

            GiveBack();
            if (_finishes && !_isFinished && !_isClosed)
            {
                _isFinished = true;
                inner.FinishSending();
            }

            return 1;
        }
    }

    /// <summary>Sends the output and then the end of the encrypted stream, now or by a later <see cref="Drain"/>.</summary>
    public void Finish()
    {
        lock (_writeGate)
            _finishes = true;

        Drain();
    }

    /// <summary>
    /// Closes the encrypted stream. Reads and writes of a handshake that is still running on another thread fail from now on.
    /// </summary>
    public void CloseInner()
    {
        lock (_readGate)
        {
            lock (_writeGate)
            {
                if (!_isClosed)
                {
                    _isClosed = true;
                    GiveBack();
                    inner.Dispose();
                }
            }
        }
    }

    public override Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public override void Flush()
    {
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    int IValueTaskSource<int>.GetResult(short token) => _pending.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<int>.GetStatus(short token) => _pending.GetStatus(token);

    void IValueTaskSource<int>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags)
        => _pending.OnCompleted(continuation, state, token, flags);

    private int TryRead(Span<byte> buffer)
    {
        lock (_readGate)
        {
            if (_isClosed)
                return ByteStream.Failed;

            if (!Volatile.Read(ref _isReadable))
                return ByteStream.WouldBlock;

            // An empty read asks whether bytes may be there: without them the reader holds no buffer.
            if (buffer.IsEmpty)
                return 0;

            // Before the read: a report that comes during it is about what it may not have seen.
            Volatile.Write(ref _isReadable, false);
            var read = inner.Receive(buffer);
            if (read == ByteStream.WouldBlock)
            {
                _readsToTheEnd = false;
                return read;
            }

            Note(read, buffer);
            return IsNotTls ? ByteStream.Failed : read;
        }
    }

    private void Note(int read, ReadOnlySpan<byte> buffer)
    {
        // A full buffer does not show what follows. The end and a failure are reported once, but may be read again.
        if (read == buffer.Length || read <= 0 || _readsToTheEnd)
            Volatile.Write(ref _isReadable, true);

        if (read < 0)
        {
            Failure = Failure == 0 ? read : Failure;
        }
        else if (read == 0)
        {
            IsAtEnd = true;
        }
        else if (!HasHeard)
        {
            HasHeard = true;
            IsNotTls = !LooksLikeTls(buffer[..read]);
        }
    }

    /// <summary>Whether bytes begin a handshake message or an alert of TLS.</summary>
    internal static bool LooksLikeTls(ReadOnlySpan<byte> bytes) => bytes[0] is 0x15 or 0x16 && (bytes.Length < 2 || bytes[1] == 3);

    private void GiveBack()
    {
        PooledBuffer.GiveBack(ref _out);
        _outSent = 0;
        Volatile.Write(ref _outCount, 0);
    }

    private static IOException Broken() => new("The connection was lost.");
}

/// <summary>
/// Makes a <see cref="Memory{T}"/> of a span for one call that completes before it returns. After <see cref="TakeBack"/> the memory is
/// empty.
/// </summary>
internal sealed unsafe class LentMemory : MemoryManager<byte>
{
    private byte* _start;
    private int _length;

    /// <summary>The memory at an address, which must be fixed until <see cref="TakeBack"/>.</summary>
    public Memory<byte> Lend(byte* start, int length)
    {
        _start = start;
        _length = length;
        return CreateMemory(length);
    }

    public void TakeBack()
    {
        _start = null;
        _length = 0;
    }

    public override Span<byte> GetSpan() => new(_start, _length);

    public override MemoryHandle Pin(int elementIndex = 0) => new(_start + elementIndex);

    public override void Unpin()
    {
    }

    protected override void Dispose(bool disposing)
    {
    }
}
