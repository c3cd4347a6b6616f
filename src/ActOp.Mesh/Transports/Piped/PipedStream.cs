using System.IO.Pipelines;

namespace ActOp.Mesh.Transports.Piped;

/// <summary>
/// A byte stream whose bytes pass middleware: <see cref="PipedWire"/> at the network, <see cref="PipedEnd"/> at the link, and between them
/// one task, the middleware, which begins when the inner stream is connected and ends after the link.
/// <para>Threads: as <see cref="ByteStream"/>. Middleware runs on the scheduler of the settings, never on a thread of the mesh;
/// <see cref="CarryAsync"/> and <see cref="Abort"/> by any thread. The life of the stream is in <see cref="_life"/>.</para>
/// <para>Failures. Middleware that throws, or returns while the link is there: logged, and link and stream break. Middleware that never
/// calls on: the link sends and receives nothing, and the handshake limit of the mesh closes it. Middleware that calls on twice: the
/// second call throws. A transport of the middleware that fails: logged, the stream breaks. Middleware that does not read: the network is
/// not read beyond <see cref="PauseBytes"/>; one that does not write holds the sender up. A network that fails: both pipes end.</para>
/// <para>The end. In order: the end of the other end passes the middleware to the link, that of the link passes it to the network, and a
/// link that has received the end is closed when its own was sent. Otherwise, for instance after a refusal: what the link has sent may
/// still pass as far as the network takes it at once, for <see cref="PipedSettings.CloseTimeout"/> at most. The inner stream is closed
/// when the middleware has ended or at that limit, never while a pump uses it; a task of the application that does not end holds only
/// what it holds itself.</para>
/// </summary>
internal sealed class PipedStream : LayeredStream
{
    /// <summary>Bytes that pass at once.</summary>
    internal const int ChunkBytes = 64 << 10;

    /// <summary>Bytes in a pipe beyond which its writer waits: more than a chunk, which the reader takes at once if it can.</summary>
    internal const int PauseBytes = 2 * ChunkBytes;

    /// <summary>Reads for one call of <see cref="Receive"/>; other links of the poller wait meanwhile.</summary>
    private const int Passes = 4;

    private const int New = 0;
    private const int Begun = 1;
    private const int Closed = 2;

    private readonly PipedTransport _transport;
    private readonly Func<PipedConnection, Task> _middleware;
    private readonly PipedWire _wire;
    private readonly PipedEnd _end;
    private readonly PipedConnection _connection;
    private readonly CancellationTokenSource _closed = new();
    private readonly TaskCompletionSource _linkClosed = new();
    private ITimer? _limit;
    private volatile int _life;
    private int _isCarried;
    private int _isCancelled;
    private volatile bool _hasRoom;
    private volatile bool _isBroken;

    public PipedStream(
        PipedTransport transport, ByteStream inner, Func<PipedConnection, Task> middleware, System.Net.EndPoint? listenEndPoint)
        : base(inner)
    {
        _transport = transport;
        _middleware = middleware;
        _wire = new PipedWire(inner, transport.Settings, Report);
        _end = new PipedEnd(transport.Settings, _wire.Middleware, Report, TransportFailed);
        _connection = new PipedConnection(this, listenEndPoint, _wire.Middleware, _closed.Token);
        transport.CountOpen(1);
    }

    public override bool HasHeard => _wire.HasHeard || Inner.HasHeard;

    internal override bool EndsLater => true;

    private string Direction => _connection.ListenEndPoint is null ? "dialled" : "accepted";

    public override int Receive(Span<byte> buffer)
    {
        var total = 0;
        for (var pass = 0; pass < Passes; pass++)
        {
            var rest = buffer[total..];
            var mayBeMore = _wire.Fill(rest);
            if (Broken() is not 0 and var broken)
            {
                if (total == 0)
                    return broken;

                break;
            }

            if (_life == New && (Inner.IsConnected ?? (_hasRoom || _wire.HasHeard)))
                Begin();

            var taken = ReadEnd(rest);
            if (taken == Failed)
                return Failed;

            total += Math.Max(0, taken);
            if (_end.HasEnded)
            {
                if (total == 0)
                    return EndOfStream();

                break;
            }

            if (!mayBeMore || total == buffer.Length)
                return total > 0 ? total : WouldBlock;
        }

        // There is more, or an end that comes after the bytes; nothing else reports it.
        Report(ReadyKinds.Read);
        return total > 0 ? total : WouldBlock;
    }

    public override int Send(ReadOnlySpan<byte> bytes)
    {
        if (Broken() is not 0 and var broken)
            return broken;

        try
        {
            return _end.WriteAvailable(bytes);
        }
        catch (InvalidOperationException exception)
        {
            TransportFailed(exception);
            return Failed;
        }
    }

    public override void FinishSending() => _end.Finish();

    public override void Dispose()
    {
        var was = _life;
        _life = Closed;
        if (was != Begun)
        {
            CloseWire();
            return;
        }

        _wire.EndInput();
        _end.Close();
        _wire.EndReports();
        if (!_end.IsOpen || Broken() != 0 || _wire.IsOutputOver)
        {
            CutOff();
        }
        else
        {
            var limit = _transport.Settings.CloseTimeout;
            _limit = _transport.Settings.Time.CreateTimer(static stream => ((PipedStream)stream!).Late(), this, limit,
                Timeout.InfiniteTimeSpan);
        }

        // Last: the middleware may now give everything back.
        Schedule(static stream =>
        {
            stream.Guard(stream._end.CancelReceiving);
            stream._linkClosed.TrySetResult();
        });
    }

    /// <summary>The options of a pipe: bounded, and without a synchronization context.</summary>
    internal static PipeOptions Options(PipedSettings settings, PipeScheduler reader, PipeScheduler writer)
        => new(settings.Pool, reader, writer, PauseBytes, PauseBytes / 2, useSynchronizationContext: false);

    internal override ReadyKinds Reported(ReadyKinds kinds)
    {
        if ((kinds & (ReadyKinds.Read | ReadyKinds.Hangup)) != 0)
            _wire.BecameReadable((kinds & ReadyKinds.Hangup) != 0);

        if ((kinds & ReadyKinds.Write) != 0)
        {
            _wire.Drain();
            if (!_hasRoom)
            {
                // Connected: the middleware begins with the next receive.
                _hasRoom = true;
                kinds |= ReadyKinds.Read;
            }
        }

        return kinds;
    }

    /// <inheritdoc cref="PipedConnection.CarryAsync"/>
    internal Task CarryAsync(IDuplexPipe transport)
    {
        ArgumentNullException.ThrowIfNull(transport);
        if (Interlocked.Exchange(ref _isCarried, 1) != 0)
            throw new InvalidOperationException("The end of the middleware of a connection was reached for the second time.");

        return _end.Open(transport) ? CarriedAsync() : _end.RefuseAsync(transport);
    }

    /// <inheritdoc cref="PipedConnection.Abort"/>
    internal void Abort(Exception? reason)
    {
        Fail(static (stream, reason) => stream._transport.Log.Aborted(
            stream.Direction, stream.RemoteEndPoint, reason?.Message ?? "no reason given"), reason);
        Cancel();
    }

    protected override void Entered() => Report(ReadyKinds.Read | ReadyKinds.Write);

    private async Task CarriedAsync()
    {
        await _linkClosed.Task.ConfigureAwait(false);
        await _end.Pumps.ConfigureAwait(false);
    }

    private int Broken() => _wire.Failure != 0 ? _wire.Failure : _isBroken ? Failed : 0;

    /// <summary>The end of the other end counts when what this end has sent is sent.</summary>
    private int EndOfStream()
        => Broken() is not 0 and var broken ? broken
            : _end.IsFinished && !_wire.IsOutputOver ? WouldBlock
            : 0;

    private void Begin()
    {
        _life = Begun;
        _transport.CountRunning(1);
        _wire.Drain();
        Schedule(static stream => _ = stream.RunAsync());
    }

    /// <summary>The middleware, from its begin until everything is given back. Does not throw.</summary>
    private async Task RunAsync()
    {
        try
        {
            await _middleware(_connection).ConfigureAwait(false);
            Fail(static (stream, _) => stream._transport.Log.MiddlewareReturned(
                stream.Direction, stream.RemoteEndPoint, stream._end.IsOpen ? "returned" : "returned without calling on"));
        }
        catch (Exception exception)
        {
            Fail(static (stream, exception) =>
                stream._transport.Log.MiddlewareThrew(exception!, stream.Direction, stream.RemoteEndPoint), exception);
        }

        // A link that is still there closes, because the stream is broken.
        await _linkClosed.Task.ConfigureAwait(false);
        await _end.Pumps.ConfigureAwait(false);
        // Fails if a pipe is still in use, by a task that the middleware did not wait for.
        Guard(_wire.MiddlewareEnded);
        _limit?.Dispose();
        CloseWire();
        Cancel();
        _transport.CountRunning(-1);
    }

    private int ReadEnd(Span<byte> buffer)
    {
        try
        {
            return _end.ReadAvailable(buffer);
        }
        catch (InvalidOperationException exception)
        {
            // Somebody else reads the pipe at the same time.
            TransportFailed(exception);
            return Failed;
        }
    }

    private void TransportFailed(Exception exception) => Fail(static (stream, exception) =>
        stream._transport.Log.TransportFailed(exception!, stream.Direction, stream.RemoteEndPoint), exception);

    /// <summary>Breaks the stream. What the end of a link or of the network causes is not told.</summary>
    private void Fail(Action<PipedStream, Exception?> log, Exception? exception = null)
    {
        if (_life != Closed && Broken() == 0)
            Tell(log, exception);

        Break();
    }

    /// <summary>Logs. A log that throws must end neither a thread of the pool nor a task that gives something back.</summary>
    private void Tell(Action<PipedStream, Exception?> log, Exception? exception = null)
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

    /// <summary>Calls a pipe of the application.</summary>
    private void Guard(Action action)
    {
        try
        {
            action();
        }
        catch (Exception exception)
        {
            TransportFailed(exception);
        }
    }

    private void Break()
    {
        _isBroken = true;
        Report(ReadyKinds.Read | ReadyKinds.Hangup);
    }

    /// <summary>The limit after the link's end: from a timer.</summary>
    private void Late()
    {
        Tell(static (stream, _) => stream._transport.Log.CutOff(
            stream.Direction, stream.RemoteEndPoint, stream._transport.Settings.CloseTimeout));
        CutOff();
    }

    /// <summary>Closes the inner stream, whatever the middleware does.</summary>
    private void CutOff()
    {
        CloseWire();
        Schedule(static stream => stream.Guard(stream._end.CancelSending));
        Cancel();
    }

    private void CloseWire()
    {
        if (_wire.Close())
            _transport.CountOpen(-1);
    }

    /// <summary>Cancels <see cref="PipedConnection.Closed"/>, whose callbacks are code of the application.</summary>
    private void Cancel()
    {
        if (Interlocked.Exchange(ref _isCancelled, 1) != 0)
            return;

        Schedule(static stream =>
        {
            try
            {
                stream._closed.Cancel();
            }
            catch (Exception exception)
            {
                stream.Tell(static (stream, exception) => stream._transport.Log.ClosedCallbackThrew(
                    exception!, stream.Direction, stream.RemoteEndPoint), exception);
            }
        });
    }

    private void Schedule(Action<PipedStream> action)
        => _transport.Settings.Scheduler.Schedule(static work => ((Work)work!).Do(), new Work(this, action));

    private sealed class Work(PipedStream stream, Action<PipedStream> action)
    {
        public void Do() => action(stream);
    }
}
