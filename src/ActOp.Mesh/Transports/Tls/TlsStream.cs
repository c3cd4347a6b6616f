using System.Net.Security;
using System.Security.Authentication;
using Microsoft.Extensions.Logging;

namespace ActOp.Mesh.Transports.Tls;

/// <summary>
/// A byte stream whose bytes pass an <see cref="SslStream"/>, which reads and writes a <see cref="TlsWire"/>. It has no thread: the TLS
/// handshake advances when encrypted bytes are reported (<see cref="Receive"/>), and all continuations of the SslStream run inside of that
/// call, or inside of a step of <see cref="TlsSettings.Run"/>.
/// <para>Reading: between two calls of <see cref="Receive"/> one read of no bytes is pending. It ends when decrypted bytes are there; then
/// a second read takes them, at once. A result shorter than asked for therefore shows that neither decrypted bytes nor complete records are
/// left.</para>
/// <para>Sending: bytes count as taken when their encrypted form was sent. A call that returns <see cref="ByteStream.WouldBlock"/> may have
/// encrypted bytes already; <b>the next call must begin with the same bytes</b> (as the mesh does), and reports them as taken. So bytes are
/// not lost in a buffer when the stream is closed, and that buffer is limited to one chunk.</para>
/// <para>Threads: as <see cref="ByteStream"/>. A step of the handshake may run on another thread; <see cref="_drive"/> ensures that there
/// is one at a time, and that the last of it and <see cref="Dispose"/> releases the SslStream.</para>
/// <para>Failures: a callback that throws, a truncated handshake, bytes that are not TLS and an alert are logged and break the stream. A
/// callback that does not return holds its thread, not the stream: the mesh closes that at the limit of its handshake. An end of the
/// encrypted stream without the message that announces it (close_notify) is a failure, because anybody could have caused it.</para>
/// </summary>
internal sealed class TlsStream : LayeredStream
{
    /// <summary>Bytes that are encrypted at once: four records.</summary>
    internal const int ChunkBytes = 64 << 10;

    private const int Shaking = 0;
    private const int Established = 1;
    private const int Broken = 2;

    private const int Idle = 0;
    private const int Running = 1;
    private const int Again = 2;
    private const int Ended = 3;

    /// <summary>A fatal alert, handshake_failure: what a dialler without TLS recognises.</summary>
    private static ReadOnlySpan<byte> Alert => [0x15, 3, 1, 0, 2, 2, 40];

    private readonly TlsConnection _connection;
    private readonly TlsSettings _settings;
    private readonly ILogger _log;
    private readonly TlsWire _wire;
    private readonly SslStream _ssl;
    private readonly LentMemory _readMemory = new();
    private readonly LentMemory _writeMemory = new();
    private Task? _handshake;
    private ValueTask<int> _peek;
    private bool _isPeeking;
    private bool _hasEnded;
    private bool _hasRead;
    private int _encrypted;
    private bool _isAnnounced;
    private bool _drains;
    private int _finishes;
    private int _stage;
    private int _drive;
    private Refusal? _refusal;

    public TlsStream(ByteStream inner, TlsConnection connection, TlsSettings settings, ILogger log)
        : base(inner)
    {
        _connection = connection;
        _settings = settings;
        _log = log;
        _wire = new TlsWire(inner);
        _ssl = new SslStream(_wire, leaveInnerStreamOpen: true);
    }

    public override bool HasHeard => _wire.HasHeard;

    internal override bool? IsConnected => Volatile.Read(ref _stage) == Established;

    internal override Refusal? Refusal => Volatile.Read(ref _refusal);

    internal override SslStream? Tls => Volatile.Read(ref _stage) == Established ? _ssl : null;

    private bool IsDialled => _connection.ListenEndPoint is null;

    public override int Receive(Span<byte> buffer)
    {
        if (Volatile.Read(ref _stage) == Shaking)
        {
            RequestStep();
            if (Volatile.Read(ref _stage) == Shaking)
                return WouldBlock;
        }

        if (Volatile.Read(ref _drains))
        {
            Volatile.Write(ref _drains, false);
            _wire.Drain();
        }

        if (Volatile.Read(ref _finishes) == 1)
        {
            AnnounceEnd();
            _wire.Finish();
        }

        if (Volatile.Read(ref _stage) == Broken)
            return Failure();

        try
        {
            return _hasEnded ? EndOfStream() : Read(buffer);
        }
        catch (Exception exception)
        {
            return Fail(exception);
        }
    }

    public override unsafe int Send(ReadOnlySpan<byte> bytes)
    {
        if (Volatile.Read(ref _stage) != Established)
            return Volatile.Read(ref _stage) == Broken ? Failure() : WouldBlock;

        var drained = _wire.Drain();
        if (drained < 0)
            return drained;

        // Of the call before, see above.
        var taken = _encrypted;
        _encrypted = 0;
        fixed (byte* start = bytes)
        {
            while (taken < bytes.Length)
            {
                var chunk = Math.Min(bytes.Length - taken, ChunkBytes);
                if (!Encrypt(start + taken, chunk))
                    return Failed;

                drained = _wire.Drain();
                if (drained < 0)
                {
                    _encrypted = chunk;
                    return taken > 0 ? taken : drained;
                }

                taken += chunk;
            }
        }

        return taken;
    }

    public override void FinishSending()
    {
        if (Volatile.Read(ref _stage) != Established)
        {
            _wire.Finish();
            return;
        }

        // By the receiver, because a shutdown of an SslStream must not run beside a read. With a full fence, see LayeredStream.EnterSet.
        Interlocked.Exchange(ref _finishes, 1);
        Report(ReadyKinds.Read);
    }

    public override void Dispose()
    {
        if (Volatile.Read(ref _stage) == Shaking && !IsDialled && !_wire.HasHeard && _wire.Failure == 0 && !_wire.IsAtEnd)
        {
            Tell(static (stream, _) => stream._log.SilentWithoutTls(stream.RemoteEndPoint));
            _wire.Append(Alert);
        }

        if (Volatile.Read(ref _stage) == Established && !_hasRead)
            ReadAlert();

        AnnounceEnd();
        _wire.Drain();
        _wire.CloseInner();
        if (Interlocked.Exchange(ref _drive, Ended) == Idle)
            _ssl.Dispose();
    }

    internal override ReadyKinds Reported(ReadyKinds kinds)
    {
        if ((kinds & (ReadyKinds.Read | ReadyKinds.Hangup)) != 0)
            _wire.BecameReadable((kinds & ReadyKinds.Hangup) != 0);

        // The rest of a handshake, and the announcement of the end, are sent by Receive.
        if ((kinds & ReadyKinds.Write) == 0 || (!_wire.HasOutput && Volatile.Read(ref _stage) != Shaking))
            return kinds;

        Volatile.Write(ref _drains, true);
        return kinds | ReadyKinds.Read;
    }

    /// <summary>
    /// Logs why the other end refuses this one. It checks the certificate after its part of the handshake, so its alert may be found only
    /// here: sending fails first.
    /// </summary>
    private void ReadAlert()
    {
        Span<byte> one = stackalloc byte[1];
        _wire.BecameReadable(toTheEnd: true);
        if (Receive(one) == WouldBlock)
            Tell(static (stream, _) => stream._log.Broke(null, stream.RemoteEndPoint, "closed before anything was received."));
    }

    private unsafe int Read(Span<byte> buffer)
    {
        var total = 0;
        while (total < buffer.Length)
        {
            if (!_isPeeking)
            {
                _peek = _ssl.ReadAsync(Memory<byte>.Empty);
                _isPeeking = true;
            }

            _wire.Resume();
            if (!_peek.IsCompleted)
                return total > 0 ? total : WouldBlock;

            _isPeeking = false;
            _peek.GetAwaiter().GetResult();
            int read;
            fixed (byte* start = buffer)
            {
                read = Complete(_ssl.ReadAsync(_readMemory.Lend(start + total, buffer.Length - total)));
            }

            if (read == 0)
            {
                _hasEnded = true;
                if (total == 0)
                    return EndOfStream();

                // What was read before is delivered first; the next call returns the end.
                Report(ReadyKinds.Read);
                return total;
            }

            total += read;
            _hasRead = true;
        }

        return total;
    }

    private int Complete(ValueTask<int> read)
    {
        try
        {
            return read.IsCompleted
                ? read.GetAwaiter().GetResult()
                : throw new InvalidOperationException("A read of decrypted bytes did not complete at once.");
        }
        finally
        {
            _readMemory.TakeBack();
        }
    }

    private int EndOfStream()
    {
        if (_wire.IsAtEnd)
            throw new IOException("The other end closed the connection without announcing it.");

        return 0;
    }

    private unsafe bool Encrypt(byte* start, int length)
    {
        try
        {
            var write = _ssl.WriteAsync(_writeMemory.Lend(start, length));
            if (!write.IsCompleted)
                throw new InvalidOperationException("A write to memory did not complete at once.");

            write.GetAwaiter().GetResult();
            return true;
        }
        catch (Exception exception)
        {
            Fail(exception);
            return false;
        }
        finally
        {
            _writeMemory.TakeBack();
        }
    }

    /// <summary>Writes the message that announces the end, once.</summary>
    private void AnnounceEnd()
    {
        if (_isAnnounced || Volatile.Read(ref _stage) != Established)
            return;

        _isAnnounced = true;
        try
        {
            var shutdown = _ssl.ShutdownAsync();
            if (shutdown.IsCompleted)
                shutdown.GetAwaiter().GetResult();
        }
        catch (Exception exception)
        {
            Fail(exception);
        }
    }

    /// <summary>Has a step of the handshake run: now on this thread, soon on another, or after the one that is running.</summary>
    private void RequestStep()
    {
        while (true)
        {
            var was = Volatile.Read(ref _drive);
            if (was is Again or Ended)
                return;

            if (Interlocked.CompareExchange(ref _drive, was == Idle ? Running : Again, was) == was)
            {
                if (was == Idle)
                {
                    if (_settings.Run is { } run)
                        run(RunSteps);
                    else
                        RunSteps();
                }

                return;
            }
        }
    }

    private void RunSteps()
    {
        while (true)
        {
            Step();
            switch (Interlocked.CompareExchange(ref _drive, Idle, Running))
            {
                case Running:
                    return;
                case Ended:
                    _ssl.Dispose();
                    return;
                default:
                    Interlocked.CompareExchange(ref _drive, Running, Again);
                    break;
            }
        }
    }

    private void Step()
    {
        if (Volatile.Read(ref _stage) != Shaking)
            return;

        try
        {
            _handshake ??= Begin();
            _wire.Resume();
            _wire.Drain();
            if (_handshake.IsCompleted)
            {
                _handshake.GetAwaiter().GetResult();
                _log.Established(RemoteEndPoint, _ssl.SslProtocol, _ssl.NegotiatedCipherSuite);
                Settle(Established, ReadyKinds.Read | ReadyKinds.Write);
            }
        }
        catch (Exception exception)
        {
            // The alert, as far as there is one.
            _wire.Drain();
            if (_wire.IsNotTls)
                _refusal = new Refusal("its first bytes are not TLS, which this end requires", IsCertain: true);
            else if (_connection.Refusal is not null || exception is AuthenticationException)
                _refusal = new Refusal(_connection.Refusal ?? Text(exception), IsCertain: true);

            if (Volatile.Read(ref _drive) != Ended)
                Tell(static (stream, exception) => stream.LogHandshake(exception!), exception);

            Settle(Broken, ReadyKinds.Read | ReadyKinds.Hangup);
        }
    }

    private Task Begin() => IsDialled
        ? _ssl.AuthenticateAsClientAsync(_settings.Client(_connection))
        : _ssl.AuthenticateAsServerAsync(_settings.Server(_connection));

    private void Settle(int stage, ReadyKinds kinds)
    {
        // With a full fence, see LayeredStream.EnterSet.
        Interlocked.Exchange(ref _stage, stage);
        Report(kinds);
    }

    private int Fail(Exception exception)
    {
        _wire.Drain();
        // What the network breaks is logged by the mesh. Without a byte of it, the other end may have refused the certificate.
        if (Interlocked.Exchange(ref _stage, Broken) != Broken && (_wire.Failure == 0 || !_hasRead))
        {
            // In place of the first byte: an alert, or an end without one, after which the certificate of this end is suspected.
            if (!_hasRead)
            {
                _refusal = exception.InnerException is not (null or System.Net.Sockets.SocketException)
                    ? new Refusal(Text(exception), IsCertain: true)
                    : new Refusal("it ended the connection after the TLS handshake; it may refuse the certificate of this end", false);
            }

            Tell(
                static (stream, exception) => stream._log.Broke(Unexpected(exception!), stream.RemoteEndPoint, Text(exception!)),
                exception);
        }

        return Failure();
    }

    /// <summary>Logs. A log that throws must not end a thread of the pool or a sender, nor keep a stream open.</summary>
    private void Tell(Action<TlsStream, Exception?> log, Exception? exception = null)
    {
        try
        {
            log(this, exception);
        }
        catch (Exception failure)
        {
            _ = failure;
        }
    }

    private int Failure() => _wire.Failure != 0 ? _wire.Failure : Failed;

    private void LogHandshake(Exception exception)
    {
        if (_wire.IsNotTls)
        {
            _log.NotTls(RemoteEndPoint);
        }
        else if (_wire.Failure == 0 || _wire.HasHeard)
        {
            // Otherwise it is a dial that nobody answered.
            _log.HandshakeFailed(Unexpected(exception), RemoteEndPoint, _connection.Refusal ?? Text(exception));
        }
    }

    /// <summary>The exception itself, unless its text says all.</summary>
    private static Exception? Unexpected(Exception exception) => exception is AuthenticationException or IOException ? null : exception;

    private static string Text(Exception exception)
        => exception.InnerException is { } inner ? exception.Message + " " + Text(inner) : exception.Message;
}
