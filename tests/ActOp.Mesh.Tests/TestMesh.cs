using System.Net;
using ActOp.Mesh.Transports;
using ActOp.Mesh.Transports.Memory;
using ActOp.Mesh.Transports.Tcp;
using ActOp.TestClusters;

namespace ActOp.Mesh.Tests;

/// <summary>Some nodes on one wire, pumped by the test's thread.</summary>
internal sealed class TestMesh(Wire wire, int pipeBytes = 64 << 10) : IDisposable
{
    private const int MaxRounds = 3_000;

    /// <summary>The kernel, the thread pool and threads of a test must get their time, too, however fast the rounds are.</summary>
    internal static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly List<TestNode> _nodes = [];
    private MemoryNetwork? _network;
    private int _nextPort = 1;

    public FakeClock Clock { get; } = new();

    public MemoryNetwork Network => _network ??= new MemoryNetwork(Clock, pipeBytes);

    public TestNode Add(
        string name, Action<MeshOptions>? configure = null, bool listen = true, NodeKind kind = NodeKind.Silo,
        Func<Transport, Transport>? wrap = null,
        NodeKind accepts = NodeKind.Silo)
    {
        var local = new IPEndPoint(IPAddress.Loopback, wire.IsMemory ? _nextPort++ : 0);
        var transport = wire.IsMemory
            ? Network.CreateTransport(local)
            : new TcpTransport(new TcpOptions { Portable = wire.IsPortable, SendBufferBytes = Math.Max(pipeBytes, 16 << 10) }, Clock);
        if (wire.IsTls)
        {
            transport = Tls(name, wire == Wire.TlsTcp).Wrap(transport);
        }

        if (wire.IsPiped)
        {
            transport = new TestMiddleware { Run = Bytes.Xored, OnPool = !wire.IsMemory }.Over(transport, Clock);
        }

        var node = new TestNode(name, wrap?.Invoke(transport) ?? transport, Clock, configure, kind) { EndPoint = local };
        if (listen)
        {
            node.EndPoint = node.Mesh.Listen(local, accepts);
        }

        _nodes.Add(node);
        return node;
    }

    /// <summary>Settings under which all nodes trust each other; on request with handshakes on the thread pool.</summary>
    public static TestTls Tls(string name, bool onPool = false) => new()
    {
        Certificate = TestRoot.Default.Issue(name),
        Run = onPool ? static step => ThreadPool.QueueUserWorkItem(_ => step()) : null,
    };

    public void Round()
    {
        foreach (var node in _nodes)
        {
            node.Pump(wire.IsMemory ? 0 : 1);
        }
    }

    public void Rounds(int count)
    {
        for (var i = 0; i < count; i++)
        {
            Round();
        }
    }

    /// <summary>Pumps until it is so; only a defect reaches the limit, which is rounds and time.</summary>
    public void Until(Func<bool> so, string what = "")
    {
        var began = TimeProvider.System.GetTimestamp();
        for (var i = 0; i < MaxRounds || HasTime(began); i++)
        {
            if (so())
            {
                return;
            }

            Round();
        }

        Assert.Fail($"Never came true: {what}\n{string.Join('\n', _nodes.SelectMany(node => node.Log.Concat(node.Events)))}");
    }

    /// <summary>Pumps one node, others having threads of their own, with something to do between the rounds.</summary>
    public void UntilOf(TestNode node, Func<bool> so, Action between)
    {
        var began = TimeProvider.System.GetTimestamp();
        for (var i = 0; (i < 20 * MaxRounds || HasTime(began)) && !so(); i++)
        {
            node.Pump(1);
            between();
        }

        Assert.True(so(), "Never came true.");
    }

    public (TestNode A, TestNode B, Peer Ab, Peer Ba) Pair(Action<MeshOptions>? configure = null)
    {
        var (a, b) = (Add("a", configure), Add("b", configure));
        var peer = a.Mesh.Connect(b.EndPoint);
        Until(() => a.Connected.Count == 1 && b.Connected.Count == 1, "connected");
        // The control pollers still have to hand the data links to the data pollers.
        Rounds(3);
        return (a, b, peer, b.Connected[0]);
    }

    private static bool HasTime(long began) => TimeProvider.System.GetElapsedTime(began) < Patience;

    public void Dispose()
    {
        foreach (var node in _nodes)
        {
            node.Mesh.Dispose();
        }
    }
}
