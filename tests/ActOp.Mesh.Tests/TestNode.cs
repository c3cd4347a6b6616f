using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Net;
using ActOp.Mesh.Transports;
using Microsoft.Extensions.Logging;

namespace ActOp.Mesh.Tests;

/// <summary>A node that records what it is told, and is pumped by the test.</summary>
internal sealed class TestNode : MeshEvents, ILogger<MeshNode>
{
    private readonly ConcurrentQueue<Link> _pending = new();

    public TestNode(
        string name, Transport transport, TimeProvider time, Action<MeshOptions>? configure = null, NodeKind kind = NodeKind.Silo)
    {
        var options = new MeshOptions();
        configure?.Invoke(options);
        Mesh = new MeshNode(new NodeId(name, kind), options, transport, this, time, this);
    }

    public MeshNode Mesh { get; }

    public EndPoint EndPoint { get; set; } = null!;

    public List<string> Log { get; } = [];

    public List<string> Events { get; } = [];

    public List<Peer> Connected { get; } = [];

    public Dictionary<Link, List<byte[]>> Frames { get; } = [];

    public int Batches { get; private set; }

    /// <summary>What to do with frames instead of recording them.</summary>
    public Action<Link, FrameBatch>? Receiver { get; set; }

    /// <summary>What else to do when a peer has come (true) or gone.</summary>
    public Action<Peer, bool>? OnPeer { get; set; }

    /// <summary>Which names this node accepts; null for all.</summary>
    public Func<NodeId, bool>? Names { get; set; }

    public bool HoldFlushes { get; set; }

    public IEnumerable<byte[]> AllFrames => Frames.Values.SelectMany(frames => frames);

    public override bool AcceptsName(NodeId id) => Names?.Invoke(id) ?? true;

    public override void PeerConnected(Peer peer)
    {
        Connected.Add(peer);
        Events.Add($"+{peer.Id}");
        OnPeer?.Invoke(peer, true);
    }

    public override void PeerDisconnected(Peer peer, DisconnectReason reason)
    {
        Connected.Remove(peer);
        Events.Add($"-{peer.Id}:{reason}");
        OnPeer?.Invoke(peer, false);
    }

    public override void DialFailed(Peer peer, DisconnectReason reason, int failures) => Events.Add($"!{reason}");

    public override void FramesReceived(Link link, FrameBatch frames)
    {
        if (Receiver is not null)
        {
            Receiver(link, frames);
            return;
        }

        Batches++;
        if (!Frames.TryGetValue(link, out var list))
        {
            Frames.Add(link, list = []);
        }

        foreach (var body in frames)
        {
            list.Add(body.ToArray());
        }
    }

    public override void SendPending(Link link) => _pending.Enqueue(link);

    public void FlushPending()
    {
        for (var count = _pending.Count; count > 0 && !HoldFlushes && _pending.TryDequeue(out var link); count--)
        {
            while (link.Flush() == FlushResult.More)
            {
            }
        }
    }

    public void Pump(int timeoutMs)
    {
        Mesh.ControlPoller.Poll(timeoutMs);
        for (var i = 0; i < Mesh.PollerCount; i++)
        {
            Mesh.GetPoller(i).Poll(0);
        }

        Mesh.LargeFramePoller?.Poll(0);
        FlushPending();
    }

    IDisposable? ILogger.BeginScope<TState>(TState state) => null;

    bool ILogger.IsEnabled(LogLevel logLevel) => true;

    void ILogger.Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        lock (Log)
        {
            Log.Add($"{eventId.Id}: {formatter(state, exception)}");
        }
    }

    public static byte[] Number(int number, int length = 4)
    {
        var body = new byte[length];
        BinaryPrimitives.WriteInt32LittleEndian(body, number);
        return body;
    }

    public static int Number(ReadOnlySpan<byte> body) => BinaryPrimitives.ReadInt32LittleEndian(body);
}
