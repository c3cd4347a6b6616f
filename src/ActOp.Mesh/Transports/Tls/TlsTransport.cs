using System.Net;
using System.Net.Security;
using Microsoft.Extensions.Logging;

namespace ActOp.Mesh.Transports.Tls;

/// <summary>
/// Byte streams over TLS 1.2 or 1.3, which use the streams of another transport. All ports and dials of a node are encrypted, or none.
/// <para>Holds nothing itself; each stream owns its part (<see cref="TlsStream"/>). An end that does not use TLS is refused, and both ends
/// log the reason.</para>
/// </summary>
public sealed class TlsTransport : Transport
{
    private readonly Transport _inner;
    private readonly TlsSettings _settings;
    private readonly ILogger _log;

    /// <summary>Creates the transport.</summary>
    /// <param name="inner">The transport of the encrypted bytes.</param>
    /// <param name="settings">Certificates and their checks.</param>
    /// <param name="logger">The logger of failed handshakes.</param>
    public TlsTransport(Transport inner, TlsSettings settings, ILogger logger)
    {
        _inner = inner;
        _settings = settings;
        _log = logger;
    }

    /// <inheritdoc/>
    public override ByteStream Dial(EndPoint endPoint)
        => new TlsStream(_inner.Dial(endPoint), new TlsConnection(endPoint, null), _settings, _log);

    /// <inheritdoc/>
    public override Listener Listen(EndPoint endPoint, Action<ByteStream> accepted, Action<Exception> failed)
        => _inner.Listen(
            endPoint,
            stream => accepted(new TlsStream(stream, new TlsConnection(stream.RemoteEndPoint, endPoint), _settings, _log)),
            failed);

    /// <summary>True: <see cref="TlsSettings.Server"/> says whose certificates are accepted, and whether one is required.</summary>
    public override bool IsProtected(EndPoint endPoint) => true;

    /// <inheritdoc/>
    public override Readiness CreateReadiness() => new LayeredReadiness(_inner.CreateReadiness(), typeof(TlsStream));
}

/// <summary>Certificates and their checks, asked for at each handshake, so that a change applies to the next connection.</summary>
public sealed class TlsSettings
{
    /// <summary>Makes the options of an accepted connection. An exception ends that connection.</summary>
    public required Func<TlsConnection, SslServerAuthenticationOptions> Server { get; init; }

    /// <summary>Makes the options of a dialled connection. An exception ends that connection.</summary>
    public required Func<TlsConnection, SslClientAuthenticationOptions> Client { get; init; }

    /// <summary>
    /// Runs a step of a handshake, once and soon, on any thread. A step computes signatures and calls <see cref="Server"/>,
    /// <see cref="Client"/> and the callbacks of their options, which may take long or never return; the handshake limits of the mesh then
    /// close the connection. Null runs the steps on the polling thread, which such a callback would block.
    /// </summary>
    public Action<Action>? Run { get; init; }
}

/// <summary>What is known about a connection at its handshake.</summary>
/// <param name="remoteEndPoint">The other end.</param>
/// <param name="listenEndPoint">The endpoint given to <see cref="Transport.Listen"/>; null for a dialled connection.</param>
public sealed class TlsConnection(EndPoint? remoteEndPoint, EndPoint? listenEndPoint)
{
    /// <summary>The other end; the endpoint that was dialled, or the address of the dialler.</summary>
    public EndPoint? RemoteEndPoint { get; } = remoteEndPoint;

    /// <summary>The endpoint given to <see cref="Transport.Listen"/>; null for a dialled connection.</summary>
    public EndPoint? ListenEndPoint { get; } = listenEndPoint;

    /// <summary>Why the certificate of the other end was refused, for the log; set by the check.</summary>
    public string? Refusal { get; set; }
}

/// <summary>The log lines about TLS. Ids 1030 to 1049.</summary>
internal static partial class TlsLog
{
    [LoggerMessage(1030, LogLevel.Warning, "The TLS handshake with {RemoteEndPoint} failed: {Why}")]
    public static partial void HandshakeFailed(this ILogger logger, Exception? exception, EndPoint? remoteEndPoint, string why);

    [LoggerMessage(1031, LogLevel.Warning,
        "Refused {RemoteEndPoint}: its first bytes are not TLS, which this end requires. Use TLS at both ends or at neither")]
    public static partial void NotTls(this ILogger logger, EndPoint? remoteEndPoint);

    [LoggerMessage(1032, LogLevel.Warning,
        "{RemoteEndPoint} was connected to a port with TLS and sent nothing; a dialler without TLS waits like this")]
    public static partial void SilentWithoutTls(this ILogger logger, EndPoint? remoteEndPoint);

    [LoggerMessage(1033, LogLevel.Warning, "The TLS connection with {RemoteEndPoint} broke: {Why}")]
    public static partial void Broke(this ILogger logger, Exception? exception, EndPoint? remoteEndPoint, string why);

    [LoggerMessage(1034, LogLevel.Warning,
        "{RemoteEndPoint} uses TLS, this end does not, so the connection is refused. Use TLS at both ends or at neither")]
    public static partial void TlsWithoutTls(this ILogger logger, EndPoint? remoteEndPoint);

    [LoggerMessage(1035, LogLevel.Debug, "TLS with {RemoteEndPoint}: {Protocol}, {CipherSuite}")]
    public static partial void Established(
        this ILogger logger, EndPoint? remoteEndPoint, System.Security.Authentication.SslProtocols protocol, TlsCipherSuite cipherSuite);
}
