#pragma warning disable RS0030 // The sockets themselves are tested.
using System.Net;
using System.Net.Sockets;
using ActOp.Mesh.Transports;
using ActOp.Mesh.Transports.Tcp;
using ActOp.TestClusters;

namespace ActOp.Mesh.Tests;

/// <summary>Accepting while few descriptors are left.</summary>
public sealed class AcceptorTests
{
    [Fact]
    public void While_descriptors_are_scarce_no_connection_is_accepted_after_one_of_the_reserve()
    {
        var time = new FakeClock();
        using var listening = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listening.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listening.Listen(8);
        // A connection is in the backlog when connecting returns.
        using var clients = new Clients(listening.LocalEndPoint!, 3);
        var scarce = true;
        var accepted = 0;

        using var acceptor = new TcpAcceptor(listening, socket => new ReservedStream(socket), stream =>
        {
            accepted++;
            stream.Dispose();
        }, exception => Assert.Fail(exception.ToString()), () => scarce, time);
        Assert.Equal(1, accepted);
        time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(1, accepted);

        scarce = false;
        time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(3, accepted);
    }

    private sealed class Clients : IDisposable
    {
        private readonly List<Socket> _sockets = [];

        public Clients(EndPoint server, int count)
        {
            for (var i = 0; i < count; i++)
            {
                _sockets.Add(new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp));
                _sockets[i].Connect(server);
            }
        }

        public void Dispose() => _sockets.ForEach(socket => socket.Dispose());
    }

    /// <summary>A stream that has one of the last descriptors.</summary>
    private sealed class ReservedStream(Socket socket) : ByteStream
    {
        public override EndPoint? RemoteEndPoint => null;

        public override bool TakesReserve => true;

        public override int Receive(Span<byte> buffer) => WouldBlock;

        public override int Send(ReadOnlySpan<byte> bytes) => WouldBlock;

        public override void FinishSending()
        {
        }

        public override void Dispose() => socket.Dispose();
    }
}
