#pragma warning disable RS0030 // The sockets themselves are tested.
using System.Net;
using System.Net.Sockets;
using ActOp.Mesh.Transports.Tcp;
using ActOp.TestClusters;

namespace ActOp.Mesh.Tests;

public class SocketTests
{
    [Theory, InlineData(true), InlineData(false)]
    public void A_socket_has_the_options_of_its_transport(bool portable)
    {
        var usual = Dialled(new TcpOptions { Portable = portable });
        Assert.Equal((true, 1, 30, 10, 3), usual);
        var other = Dialled(new TcpOptions
        {
            Portable = portable,
            NoDelay = false,
            KeepAliveSeconds = 7,
            KeepAliveIntervalSeconds = 5,
            KeepAliveRetries = 2,
        });
        Assert.Equal((false, 1, 7, 5, 2), other);
        Assert.Equal(0, Dialled(new TcpOptions { Portable = portable, KeepAlive = false }).KeepAlive);
    }

    private static (bool NoDelay, int KeepAlive, int Seconds, int Interval, int Retries) Dialled(TcpOptions options)
    {
        var transport = new TcpTransport(options, new FakeClock());
        using var listener = transport.Listen(new IPEndPoint(IPAddress.Loopback, 0), static stream => stream.Dispose(), static _ => { });
        using var stream = transport.Dial(listener.EndPoint);
        var socket = ((TcpStream)stream).Socket;
        int Of(SocketOptionName name) => (int)socket.GetSocketOption(SocketOptionLevel.Tcp, name)!;
        var keeps = (int)socket.GetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive)! == 0 ? 0 : 1;
        return (socket.NoDelay, keeps, Of(SocketOptionName.TcpKeepAliveTime), Of(SocketOptionName.TcpKeepAliveInterval),
            Of(SocketOptionName.TcpKeepAliveRetryCount));
    }
}
