#pragma warning disable RS0030 // This folder is the transport that the rest reaches sockets through.
using System.Net;
using System.Net.Sockets;

namespace ActOp.Mesh.Transports.Tcp;

/// <summary>
/// Byte streams over TCP (<see cref="IPEndPoint"/>; names are resolved by the caller). On Linux plain system calls and epoll; elsewhere
/// non-blocking sockets and select.
/// </summary>
public sealed class TcpTransport : Transport
{
    private readonly TcpOptions _options;
    private readonly TimeProvider _time;

    /// <summary>Creates the transport.</summary>
    /// <param name="options">Settings of the sockets.</param>
    /// <param name="time">The clock of the pause after a failed accept.</param>
    public TcpTransport(TcpOptions options, TimeProvider time)
    {
        _options = options;
        _time = time;
    }

    /// <inheritdoc/>
    public override Readiness CreateReadiness() => _options.Portable ? new SelectReadiness() : new EpollReadiness();

    /// <inheritdoc/>
    public override Listener Listen(EndPoint endPoint, Action<ByteStream> accepted, Action<Exception> failed)
    {
        var socket = new Socket(Require(endPoint).AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.Bind(endPoint);
            socket.Listen(_options.Backlog);
        }
        catch
        {
            socket.Dispose();
            throw;
        }

        return new TcpAcceptor(socket, connection => Wrap(connection, connection.RemoteEndPoint), accepted, failed,
            Descriptors.AreScarce, _time);
    }

    /// <inheritdoc/>
    public override ByteStream Dial(EndPoint endPoint)
    {
        var socket = new Socket(Require(endPoint).AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            var stream = Wrap(socket, endPoint);
            stream.BeginConnect(endPoint);
            return stream;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private static IPEndPoint Require(EndPoint endPoint)
        => endPoint as IPEndPoint ?? throw new ArgumentException($"TCP needs an IPEndPoint, not {endPoint}.", nameof(endPoint));

    private TcpStream Wrap(Socket socket, EndPoint? remote)
    {
        socket.Blocking = false;
        socket.NoDelay = _options.NoDelay;
        if (_options.KeepAlive)
        {
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, _options.KeepAliveSeconds);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, _options.KeepAliveIntervalSeconds);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, _options.KeepAliveRetries);
        }

        // Setting a size switches the kernel's tuning off, so only on demand.
        if (_options.SendBufferBytes is { } sendBytes)
            socket.SendBufferSize = sendBytes;

        if (_options.ReceiveBufferBytes is { } receiveBytes)
            socket.ReceiveBufferSize = receiveBytes;

        return _options.Portable ? new PortableTcpStream(socket, remote) : new LinuxTcpStream(socket, remote);
    }
}

/// <summary>Settings of the sockets.</summary>
public sealed class TcpOptions
{
    /// <summary>Bytes of the kernel's send buffer; null leaves it to the kernel's tuning.</summary>
    public int? SendBufferBytes { get; set; }

    /// <summary>Bytes of the kernel's receive buffer; null leaves it to the kernel's tuning.</summary>
    public int? ReceiveBufferBytes { get; set; }

    /// <summary>Connections that wait to be accepted.</summary>
    public int Backlog { get; set; } = 512;

    /// <summary>Whether small sends leave at once. Default true: a link sends whole batches.</summary>
    public bool NoDelay { get; set; } = true;

    /// <summary>
    /// Whether the system looks after idle connections. Default true: keep-alives of a session detect a lost peer, but not a single lost
    /// connection (dropped by an address translator, for example).
    /// </summary>
    public bool KeepAlive { get; set; } = true;

    /// <summary>Seconds that a connection is idle before the system asks the other end. Default 30.</summary>
    public int KeepAliveSeconds { get; set; } = 30;

    /// <summary>Seconds between two questions without an answer. Default 10.</summary>
    public int KeepAliveIntervalSeconds { get; set; } = 10;

    /// <summary>Questions without an answer before the connection is lost. Default 3.</summary>
    public int KeepAliveRetries { get; set; } = 3;

    /// <summary>Uses only what every operating system has (select) even on Linux.</summary>
    public bool Portable { get; set; } = !OperatingSystem.IsLinux();
}
