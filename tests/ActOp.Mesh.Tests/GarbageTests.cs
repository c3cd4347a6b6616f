#pragma warning disable RS0030 // A stray client is a plain socket.
using System.Net;
using System.Net.Sockets;
using System.Text;
using static ActOp.Mesh.Tests.TestNode;

namespace ActOp.Mesh.Tests;

public class GarbageTests
{
    public static TheoryData<string, byte[]> Garbage => new()
    {
        { "http", Encoding.ASCII.GetBytes("GET / HTTP/1.1\r\nHost: x\r\n\r\n") },
        { "2 GiB", [0xff, 0xff, 0xff, 0x7f, 1, 2, 3] },
        { "4 GiB", [0xff, 0xff, 0xff, 0xff] },
        { "half a length", [1, 0] },
        { "half a frame", [100, 0, 0, 0, 65, 66] },
        { "empty frame", [0, 0, 0, 0] },
        { "no magic", [13, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 2, 1, 0, 1, 0] },
        { "field beyond the frame", [18, 0, 0, 0, .. "ActOpM\r\n"u8, 2, 1, 0, 1, 0, 4, 200, 0, 65, 65] },
        { "version", Frame(new HandshakeFrame { Kind = HandshakeKind.Hello, Name = "x", MinVersion = 9, MaxVersion = 12 }) },
        { "greeting by a dialler", Frame(new HandshakeFrame { Kind = HandshakeKind.Greeting, Nonce = new byte[32] }) },
        { "claim without a hello", Frame(new HandshakeFrame { Kind = HandshakeKind.Claim, Token = new byte[16] }) },
        { "hello of another cluster", Frame(Hello()) },
        { "hello without a nonce", Frame(new HandshakeFrame { Kind = HandshakeKind.Hello, Name = "x", NodeKind = NodeKind.Silo }) },
        { "nothing", [] },
    };

    [Theory, MemberData(nameof(Garbage))]
    public void Costs_its_own_link_and_one_log_line(string name, byte[] bytes)
    {
        using var mesh = new TestMesh(Wire.Tcp);
        var (_, b, peer, _) = mesh.Pair();
        var lines = b.Log.Count;
        using (var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp))
        {
            socket.Connect((IPEndPoint)b.EndPoint);
            mesh.Until(() => b.Mesh.LinkCount == 3);
            socket.Send(bytes);
            mesh.Rounds(5);
        }

        mesh.Until(() => b.Mesh.LinkCount == 2 && b.Log.Count > lines, name);
        peer.GetLink(0)!.TryAppend(Number(1));
        mesh.Until(() => b.AllFrames.Any());
        Assert.StartsWith("1003", Assert.Single(b.Log.Skip(lines)));
    }

    [Fact]
    public void A_handshake_frame_survives_its_encoding_and_unknown_fields_are_skipped()
    {
        var hello = Hello();
        var decoded = HandshakeFrame.Decode([.. hello.Encode(), 200, 2, 0, 1, 2])!;
        Assert.Equal((hello.Kind, hello.Node, hello.KeepAlive), (decoded.Kind, decoded.Node, decoded.KeepAlive));
        Assert.Equal([hello.Nonce, hello.Cluster, hello.Service, []], [decoded.Nonce, decoded.Cluster, decoded.Service, decoded.Proof]);
        var claim = new HandshakeFrame
        {
            Kind = HandshakeKind.Claim,
            Session = ulong.MaxValue,
            Channel = Channel.Data,
            Index = 3,
            Links = 4,
            Supersedes = 77,
            Token = Bytes(16, 9),
        };
        decoded = HandshakeFrame.Decode(HandshakeFrame.WithProof(claim.Encode(), Bytes(32, 8)))!;
        Assert.Equal((claim.Session, claim.Channel, claim.Index, claim.Links, claim.Supersedes),
            (decoded.Session, decoded.Channel, decoded.Index, decoded.Links, decoded.Supersedes));
        Assert.Equal([claim.Token, Bytes(32, 8)], [decoded.Token, decoded.Proof]);
    }

    [Fact]
    public void Nothing_may_follow_a_proof_because_it_would_not_be_covered()
    {
        var proven = HandshakeFrame.WithProof(Hello().Encode(), Bytes(32, 8));
        Assert.NotNull(HandshakeFrame.Decode(proven));
        Assert.Null(HandshakeFrame.Decode([.. proven, 200, 0, 0]));
    }

    [Fact]
    public void Random_bytes_behind_a_good_header_never_throw()
    {
        var random = new Random(5);
        var good = Hello().Encode();
        for (var i = 0; i < 20_000; i++)
        {
            var bytes = good.ToArray();
            bytes[random.Next(bytes.Length)] = (byte)random.Next(256);
            HandshakeFrame.Decode(bytes.AsSpan(0, random.Next(bytes.Length + 1)));
        }
    }

    private static HandshakeFrame Hello() => new()
    {
        Kind = HandshakeKind.Hello,
        Nonce = Bytes(32, 1),
        Cluster = Bytes(32, 2),
        Service = Bytes(32, 3),
        NodeKind = NodeKind.Silo,
        Name = "n",
        KeepAlive = 5,
    };

    private static byte[] Bytes(int count, byte value) => [.. Enumerable.Repeat(value, count)];

    private static byte[] Frame(HandshakeFrame frame)
    {
        var body = frame.Encode();
        return [.. BitConverter.GetBytes(body.Length), .. body];
    }
}
