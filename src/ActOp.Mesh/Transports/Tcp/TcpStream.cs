#pragma warning disable RS0030 // This folder is the transport that the rest reaches sockets through.
using System.Net;
using System.Net.Sockets;

namespace ActOp.Mesh.Transports.Tcp;

/// <summary>What both kinds of TCP stream have in common: the socket's ownership and its end.</summary>
internal abstract class TcpStream : ByteStream
{
    protected TcpStream(Socket socket, EndPoint? remote)
    {
        Socket = socket;
        RemoteEndPoint = remote;
    }

    public override EndPoint? RemoteEndPoint { get; }

    internal override EndPoint? LocalEndPoint => Socket.LocalEndPoint;

    internal Socket Socket { get; }

    public abstract void BeginConnect(EndPoint endPoint);

    public override void FinishSending()
    {
        try
        {
            Socket.Shutdown(SocketShutdown.Send);
        }
        catch (SocketException)
        {
            // Broken already: the receiving side reports it.
        }
    }

    public override void Dispose() => Socket.Dispose();
}

/// <summary>A TCP stream on the framework's non-blocking socket calls; every operating system.</summary>
internal sealed class PortableTcpStream(Socket socket, EndPoint? remote) : TcpStream(socket, remote)
{
    private volatile int _connectError;

    // Select reports room only to who has found none.
    internal override bool? IsConnected => true;

    /// <summary>A send found the kernel's buffer full: the next select asks for room too.</summary>
    internal bool WantsRoom { get; set; }

    public override void BeginConnect(EndPoint endPoint)
    {
        try
        {
            Socket.Connect(endPoint);
        }
        catch (SocketException exception) when (
            exception.SocketErrorCode is SocketError.WouldBlock or SocketError.InProgress or SocketError.AlreadyInProgress)
        {
        }
        catch (SocketException exception)
        {
            _connectError = Result(0, exception.SocketErrorCode);
        }
    }

    public override int Receive(Span<byte> buffer)
    {
        if (_connectError != 0)
            return _connectError;

        var read = Socket.Receive(buffer, SocketFlags.None, out var error);
        return Result(read, error);
    }

    public override int Send(ReadOnlySpan<byte> bytes)
    {
        var sent = Socket.Send(bytes, SocketFlags.None, out var error);
        var result = Result(sent, error);
        WantsRoom = result == WouldBlock;
        return result;
    }

    private static int Result(int count, SocketError error) => error switch
    {
        SocketError.Success => count,
        SocketError.WouldBlock or SocketError.Interrupted => WouldBlock,
        SocketError.ConnectionRefused => Refused,
        _ => Failed,
    };
}
