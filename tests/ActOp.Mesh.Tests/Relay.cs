using System.Buffers.Binary;
using System.Net;
using System.Runtime.InteropServices;
using ActOp.Mesh.Transports;

namespace ActOp.Mesh.Tests;

/// <summary>One end of a connection that speaks frames by hand: a stranger, or a liar.</summary>
internal sealed class RawEnd(ByteStream stream) : IDisposable
{
    private readonly List<byte> _unread = [];

    [ThreadStatic]
    private static byte[]? t_buffer;

    /// <summary>Whether the other end has closed the connection.</summary>
    public bool IsOver { get; private set; }

    public static RawEnd Dial(TestMesh mesh, EndPoint target, int port = 7_777) =>
        new(mesh.Network.CreateTransport(new IPEndPoint(IPAddress.Loopback, port)).Dial(target));

    public int Send(ReadOnlySpan<byte> bytes) => stream.Send(bytes);

    public void SendFrame(ReadOnlySpan<byte> body) => Send([.. BitConverter.GetBytes(body.Length), .. body]);

    /// <summary>The next whole frame that has arrived, or null.</summary>
    public byte[]? Next()
    {
        for (int read; !IsOver && (read = stream.Receive(t_buffer ??= new byte[64 << 10])) != ByteStream.WouldBlock;)
        {
            IsOver = read <= 0;
            _unread.AddRange(t_buffer.AsSpan(0, Math.Max(0, read)));
        }

        while (_unread.Count >= 4)
        {
            var head = BinaryPrimitives.ReadUInt32LittleEndian(CollectionsMarshal.AsSpan(_unread));
            if (head == WireLimits.KeepAliveMark)
            {
                _unread.RemoveRange(0, 4);
                continue;
            }

            var length = (int)head;
            if (_unread.Count < 4 + length)
            {
                return null;
            }

            var frame = CollectionsMarshal.AsSpan(_unread).Slice(4, length).ToArray();
            _unread.RemoveRange(0, 4 + length);
            return frame;
        }

        return null;
    }

    public void Dispose() => stream.Dispose();
}

/// <summary>Stands between two nodes, passes their frames on, and may keep or change them.</summary>
internal sealed class Relay
{
    private readonly List<(RawEnd Dialler, RawEnd Acceptor)> _pairs = [];

    public Relay(TestMesh mesh, EndPoint target)
    {
        EndPoint = new IPEndPoint(IPAddress.Loopback, 6_666);
        var transport = mesh.Network.CreateTransport(EndPoint);
        transport.Listen(
            EndPoint, stream => _pairs.Add((new RawEnd(stream), new RawEnd(transport.Dial(target)))), static error => throw error);
    }

    public EndPoint EndPoint { get; }

    /// <summary>All frames so far, and whether they came from the dialler.</summary>
    public List<(bool FromDialler, byte[] Frame)> Frames { get; } = [];

    /// <summary>What becomes of a frame.</summary>
    public Func<bool, byte[], byte[]> Change { get; set; } = static (_, frame) => frame;

    public void Pump()
    {
        foreach (var (dialler, acceptor) in _pairs.ToArray())
        {
            Pass(dialler, acceptor, fromDialler: true);
            Pass(acceptor, dialler, fromDialler: false);
        }
    }

    private void Pass(RawEnd from, RawEnd to, bool fromDialler)
    {
        while (from.Next() is { } frame)
        {
            frame = Change(fromDialler, frame);
            Frames.Add((fromDialler, frame));
            to.SendFrame(frame);
        }
    }
}

/// <summary>A client that does the handshake by hand, and then what it likes. It knows the ids.</summary>
internal sealed class Liar : IDisposable
{
    private readonly RawEnd[] _ends;

    private Liar(RawEnd[] ends) => _ends = ends;

    /// <summary>The data link.</summary>
    public RawEnd Data => _ends[1];

    public static Liar Connect(TestMesh mesh, TestNode node, string name, IPAddress from, int? keepAlive = null)
    {
        var transport = mesh.Network.CreateTransport(new IPEndPoint(from, 9));
        var liar = new Liar([new RawEnd(transport.Dial(node.EndPoint)), new RawEnd(transport.Dial(node.EndPoint))]);
        node.Pump(0);
        var transcripts = liar._ends.Select(end => Hello(end, name, keepAlive: keepAlive)).ToArray();
        node.Pump(0);
        for (ushort i = 0; i < 2; i++)
        {
            transcripts[i].Add(liar._ends[i].Next()!);
            liar._ends[i].SendFrame(transcripts[i].Seal(new HandshakeFrame
            {
                Kind = HandshakeKind.Claim,
                Session = 1,
                Channel = i == 0 ? Channel.Control : Channel.Data,
                Token = new byte[16],
            }));
        }

        for (var i = 0; i < 4; i++)
        {
            node.Pump(0);
        }

        return liar;
    }

    public static HandshakeTranscript Hello(RawEnd end, string name, NodeKind kind = NodeKind.Client, int? keepAlive = null)
    {
        var transcript = new HandshakeTranscript();
        transcript.Add(end.Next()!);
        var nonce = new byte[32];
        var hello = transcript.Seal(new HandshakeFrame
        {
            Kind = HandshakeKind.Hello,
            Nonce = nonce,
            Cluster = transcript.Mark("cluster", "default", nonce),
            Service = transcript.Mark("service", "default", nonce),
            NodeKind = kind,
            Name = name,
            KeepAlive = keepAlive,
        });
        transcript.Add(hello);
        end.SendFrame(hello);
        return transcript;
    }

    /// <summary>Announces a frame on the data link, and sends a part of it.</summary>
    public void Begin(int length, int sent)
    {
        Data.Send(BitConverter.GetBytes(length));
        Data.Send(new byte[sent]);
    }

    public void Dispose() => Array.ForEach(_ends, end => end.Dispose());
}
