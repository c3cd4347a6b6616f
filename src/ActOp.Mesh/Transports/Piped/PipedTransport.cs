using System.Buffers;
using System.IO.Pipelines;
using System.Net;
using System.Net.Security;
using Microsoft.Extensions.Logging;

namespace ActOp.Mesh.Transports.Piped;

/// <summary>
/// Byte streams that pass middleware of the application, on the streams of another transport: the middleware sees a connection as two
/// pipes, may read, write and replace them, and then lets the link use what it left (<see cref="PipedConnection.CarryAsync"/>).
/// Connections for which the settings give no middleware are those of the inner transport.
/// <para>Holds nothing itself; each <see cref="PipedStream"/> owns its part.</para>
/// </summary>
public sealed class PipedTransport : Transport
{
    private readonly Transport _inner;
    private int _running;
    private int _open;

    /// <summary>Creates the transport.</summary>
    /// <param name="inner">The transport below the middleware.</param>
    /// <param name="settings">The middleware.</param>
    /// <param name="logger">The logger of middleware that fails.</param>
    public PipedTransport(Transport inner, PipedSettings settings, ILogger logger)
    {
        _inner = inner;
        Settings = settings;
        Log = logger;
    }

    internal PipedSettings Settings { get; }

    internal ILogger Log { get; }

    /// <summary>Connections whose middleware runs.</summary>
    internal int Running => Volatile.Read(ref _running);

    /// <summary>Connections whose inner stream is not closed.</summary>
    internal int Open => Volatile.Read(ref _open);

    /// <inheritdoc/>
    public override ByteStream Dial(EndPoint endPoint)
        => Settings.Dialled is { } middleware
            ? new PipedStream(this, _inner.Dial(endPoint), middleware, null)
            : _inner.Dial(endPoint);

    /// <inheritdoc/>
    public override Listener Listen(EndPoint endPoint, Action<ByteStream> accepted, Action<Exception> failed)
        => Settings.Accepted(endPoint) is { } middleware
            ? _inner.Listen(endPoint, stream => accepted(new PipedStream(this, stream, middleware, endPoint)), failed)
            : _inner.Listen(endPoint, accepted, failed);

    /// <inheritdoc/>
    public override bool IsProtected(EndPoint endPoint) => _inner.IsProtected(endPoint);

    /// <inheritdoc/>
    public override Readiness CreateReadiness() => new LayeredReadiness(_inner.CreateReadiness(), typeof(PipedStream));

    internal void CountRunning(int more) => Interlocked.Add(ref _running, more);

    internal void CountOpen(int more) => Interlocked.Add(ref _open, more);
}

/// <summary>The middleware of a node's connections, and where it runs.</summary>
public sealed class PipedSettings
{
    /// <summary>The middleware of the connections accepted at an endpoint as given to <see cref="Transport.Listen"/>, or null.</summary>
    public required Func<EndPoint, Func<PipedConnection, Task>?> Accepted { get; init; }

    /// <summary>The middleware of dialled connections, or null.</summary>
    public required Func<PipedConnection, Task>? Dialled { get; init; }

    /// <summary>
    /// Where middleware begins and continues. It is code of the application and may block, so this must not be a thread of the mesh;
    /// <see cref="PipeScheduler.Inline"/> is for runs with one thread.
    /// </summary>
    public required PipeScheduler Scheduler { get; init; }

    /// <summary>The clock of <see cref="CloseTimeout"/>.</summary>
    public required TimeProvider Time { get; init; }

    /// <summary>
    /// How long middleware may still send what the link has sent, after the link was closed. Default 1 s: usually it needs no time; a
    /// stranger must not hold a connection for long.
    /// </summary>
    public TimeSpan CloseTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>The memory of the pipes; null for the shared pool.</summary>
    internal MemoryPool<byte>? Pool { get; init; }
}

/// <summary>
/// A connection as its middleware sees it. Members may be used from any thread; a pipe has one reader and one writer at a time.
/// </summary>
public sealed class PipedConnection
{
    private readonly PipedStream _stream;

    internal PipedConnection(PipedStream stream, EndPoint? listenEndPoint, IDuplexPipe transport, CancellationToken closed)
    {
        _stream = stream;
        ListenEndPoint = listenEndPoint;
        Transport = transport;
        Closed = closed;
    }

    /// <summary>The endpoint given to <see cref="Transport.Listen"/>; null for a dialled connection.</summary>
    public EndPoint? ListenEndPoint { get; }

    /// <summary>This end, if it is known.</summary>
    public EndPoint? LocalEndPoint => _stream.LocalEndPoint ?? ListenEndPoint;

    /// <summary>The other end.</summary>
    public EndPoint? RemoteEndPoint => _stream.RemoteEndPoint;

    /// <summary>
    /// The bytes of the connection. The end of the input is that of the other end; to complete the output tells it the end.
    /// </summary>
    public IDuplexPipe Transport { get; }

    /// <summary>Cancelled when the connection is closed and nothing can be sent any more.</summary>
    public CancellationToken Closed { get; }

    /// <summary>The TLS below the middleware, for what is known about the other end; null without.</summary>
    public SslStream? Tls => _stream.Inner.Tls;

    /// <summary>
    /// The end of the chain: lets the link use the bytes of <paramref name="transport"/>, and completes when the link is closed. At most
    /// once for a connection. Whoever puts a transport of his own over <see cref="Transport"/> passes on the completion of its output,
    /// as a pipe does; otherwise an orderly close waits for its limit.
    /// </summary>
    /// <exception cref="InvalidOperationException">It was called before.</exception>
    public Task CarryAsync(IDuplexPipe transport) => _stream.CarryAsync(transport);

    /// <summary>Closes the connection at once.</summary>
    /// <param name="reason">For the log.</param>
    public void Abort(Exception? reason = null) => _stream.Abort(reason);
}

/// <summary>The log lines about middleware of connections. Ids 1330 to 1339.</summary>
internal static partial class PipedLog
{
    [LoggerMessage(1330, LogLevel.Warning, "Middleware of the {Direction} connection with {RemoteEndPoint} threw, so it is closed")]
    public static partial void MiddlewareThrew(
        this ILogger logger, Exception exception, string direction, EndPoint? remoteEndPoint);

    [LoggerMessage(1331, LogLevel.Warning,
        "Middleware of the {Direction} connection with {RemoteEndPoint} {What} before the connection had ended, so it is closed")]
    public static partial void MiddlewareReturned(this ILogger logger, string direction, EndPoint? remoteEndPoint, string what);

    [LoggerMessage(1332, LogLevel.Warning,
        "The transport that middleware has put over the {Direction} connection with {RemoteEndPoint} failed, so it is closed")]
    public static partial void TransportFailed(
        this ILogger logger, Exception exception, string direction, EndPoint? remoteEndPoint);

    [LoggerMessage(1333, LogLevel.Information, "Middleware has aborted the {Direction} connection with {RemoteEndPoint}: {Why}")]
    public static partial void Aborted(this ILogger logger, string direction, EndPoint? remoteEndPoint, string why);

    [LoggerMessage(1334, LogLevel.Warning, "A callback of ConnectionClosed of the {Direction} connection with {RemoteEndPoint} threw")]
    public static partial void ClosedCallbackThrew(
        this ILogger logger, Exception exception, string direction, EndPoint? remoteEndPoint);

    [LoggerMessage(1335, LogLevel.Warning,
        "Middleware of the {Direction} connection with {RemoteEndPoint} has not ended within {Limit} after its link, so it is cut off")]
    public static partial void CutOff(this ILogger logger, string direction, EndPoint? remoteEndPoint, TimeSpan limit);
}
