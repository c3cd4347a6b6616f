using System.Buffers.Binary;
using System.Net;
using ActOp.Mesh.Transports;

namespace ActOp.Mesh.Tests;

/// <summary>One end of a connection that speaks frames by hand: a stranger, or a liar.</summary>
internal sealed class RawEnd(ByteStream stream) : IDisposable
{
    private readonly List<byte> _unread = [];
    private readonly byte[] _buffer = new byte[64 << 10];

    /// <summary>Whether the other end has closed the connection.</summary>
    public bool IsOver { get; private set; }

    public static RawEnd Dial(TestMesh mesh, EndPoint target, int port = 7_777) =>
        new(mesh.Network.CreateTransport(new IPEndPoint(IPAddress.Loopback, port)).Dial(target));

    public int Send(ReadOnlySpan<byte> bytes) => stream.Send(bytes);

    public void SendFrame(ReadOnlySpan<byte> body) => Send([.. BitConverter.GetBytes(body.Length), .. body]);

    /// <summary>The next whole frame that has arrived, or null.</summary>
    public byte[]? Next()
    {
        for (int read; !IsOver && (read = stream.Receive(_buffer)) != ByteStream.WouldBlock;)
        {
            IsOver = read <= 0;
            _unread.AddRange(_buffer.AsSpan(0, Math.Max(0, read)));
        }

        if (_unread.Count < 4)
        {
            return null;
        }

        var length = BinaryPrimitives.ReadInt32LittleEndian(_unread.Take(4).ToArray());
        if (_unread.Count < 4 + length)
        {
            return null;
        }

        var frame = _unread.Skip(4).Take(length).ToArray();
        _unread.RemoveRange(0, 4 + length);
        return frame;
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
