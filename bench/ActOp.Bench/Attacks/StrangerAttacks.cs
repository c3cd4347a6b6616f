using System.Net;
using System.Net.Sockets;

namespace ActOp.Bench.Attacks;

/// <summary>Those who know no secret: connections of another address, without or with the beginning of a handshake.</summary>
internal static class StrangerAttacks
{
    private static readonly IPEndPoint Source = new(IPAddress.Parse("127.0.0.2"), 0);

    internal static IReadOnlyList<Attack> All { get; } =
    [
        new("strangers-300", "Y4", "300 connections/s that say nothing", 16, target => StrangersAsync(target, 300, [])),
        new("strangers-1000", "Y4", "1,000 connections/s, half of them with the first bytes of a handshake", 16,
            target => StrangersAsync(target, 1_000, [40, 0, 0, 0, 1, 2, 3])),
        new("slow-handshakes", "-", "600 connections that send one byte of a handshake in 200 ms", 16, SlowAsync),
    ];

    private static async Task StrangersAsync(AttackTarget target, double perSecond, byte[] first)
    {
        var open = new Queue<Socket>();
        await target.RepeatAsync(perSecond, number =>
        {
            var socket = Dial(target.Gateway);
            open.Enqueue(socket);
            target.Count(64);
            if (number % 2 == 1 && first.Length > 0)
                Send(socket, first);
            // As many as are pending in a silo, and some more.
            if (open.Count > 2_000)
                open.Dequeue().Dispose();
        });
    }

    private static async Task SlowAsync(AttackTarget target)
    {
        var hello = new byte[200];
        hello[0] = 196;
        var open = new (Socket Socket, int Sent)[600];
        for (var i = 0; i < open.Length; i++)
            open[i] = (Dial(target.Gateway), 0);
        await target.RepeatAsync(open.Length * 5, number =>
        {
            ref var one = ref open[number % open.Length];
            if (one.Sent < hello.Length && Send(one.Socket, hello.AsSpan(one.Sent++, 1)))
                target.Count(1);
            else
                one = (Replace(one.Socket, target), 0);
        });
    }

    private static Socket Replace(Socket old, AttackTarget target)
    {
        old.Dispose();
        target.Count(64);
        return Dial(target.Gateway);
    }

    private static Socket Dial(int port)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { Blocking = false };
        try
        {
            socket.Bind(new IPEndPoint(Source.Address.MapToIPv6(), 0));
            socket.Connect(new IPEndPoint(IPAddress.Loopback.MapToIPv6(), port));
        }
        catch (SocketException)
        {
            // Under way, or refused: a stranger does not mind.
        }

        return socket;
    }

    private static bool Send(Socket socket, ReadOnlySpan<byte> bytes)
    {
        try
        {
            socket.Send(bytes, SocketFlags.None, out var error);
            return error is SocketError.Success or SocketError.WouldBlock or SocketError.NotConnected;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
