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
