using System.Net;
using System.Text;
using ActOp.Mesh;
using ActOp.Mesh.Transports.Tcp;

namespace ActOp.Bench.Attacks;

/// <summary>
/// A node that speaks the real handshake and then whatever it likes: no client library is behind it. One thread of its own.
/// </summary>
internal sealed class RawNode : MeshEvents, IDisposable
{
    internal const string ClientSecret = "the secret of the clients, random";
    internal const string SiloSecret = "the secret of the silos, random";

    private readonly MeshNode _mesh;
    private readonly TaskCompletionSource<Peer> _connected = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly bool _reads;
    private readonly int _waitMs;
    private long _bytes;

    /// <param name="name">The name that it states; null for a random one.</param>
    /// <param name="reads">Whether it reads what arrives.</param>
    /// <param name="waitMs">The longest wait of its thread.</param>
    /// <param name="secret">What it proves to know.</param>
    /// <param name="configure">Further settings.</param>
    internal RawNode(
        string? name = null, bool reads = true, int waitMs = 10, string secret = ClientSecret, Action<MeshOptions>? configure = null)
    {
        (_reads, _waitMs) = (reads, waitMs);
        var options = new MeshOptions
        {
            ClusterId = "dev",
            ServiceId = "dev",
            Spin = TimeSpan.Zero,
            ReceiveBufferBytes = 16 << 10,
            SiloSecrets = [Encoding.UTF8.GetBytes(secret)],
            ClientSecrets = [Encoding.UTF8.GetBytes(secret)],
        };
        configure?.Invoke(options);
        Name = name ?? RandomName();
        _mesh = new MeshNode(
            new NodeId(Name, NodeKind.Client), options, new TcpTransport(new TcpOptions(), TimeProvider.System), this, TimeProvider.System);
        new Thread(Run) { IsBackground = true, Name = "raw node" }.Start();
    }

    /// <summary>Its name in handshakes.</summary>
    internal string Name { get; }

    /// <summary>Bytes that it has given to its links.</summary>
    internal long Bytes => Interlocked.Read(ref _bytes);

    /// <summary>Frames that have arrived.</summary>
    internal long Frames => _mesh.FramesReceived;

    /// <summary>Completes with the first session.</summary>
    internal Task<Peer> Connected => _connected.Task;

    internal static SiloAddress RandomAddress() => SiloAddress.New(
        IPAddress.Loopback, Random.Shared.Next(1, 65536), -Random.Shared.Next(1, int.MaxValue));

    internal static string RandomName() => RandomAddress().ToParsableString();

    /// <summary>Dials; the task ends with the session.</summary>
    internal Task<Peer> ConnectAsync(int port)
    {
        _mesh.Connect(new IPEndPoint(IPAddress.Loopback, port));
        return Connected;
    }

    /// <summary>Sends a frame on a link; false if it has no room.</summary>
    internal bool TrySend(ReadOnlySpan<byte> frame, uint link = 0)
    {
        if (!Connected.IsCompletedSuccessfully || Connected.Result.GetLink(link) is not { } open)
            return false;
        if (open.TryAppend(frame) != SendResult.Accepted)
            return false;
        Interlocked.Add(ref _bytes, frame.Length + 4);
        return true;
    }

    public override void PeerConnected(Peer peer) => _connected.TrySetResult(peer);

    public override void PeerDisconnected(Peer peer, DisconnectReason reason)
    {
    }

    public override void FramesReceived(Link link, FrameBatch frames)
    {
    }

    public override void SendPending(Link link)
    {
        while (link.Flush() == FlushResult.More)
        {
        }
    }

    public void Dispose() => _mesh.Dispose();

    private void Run()
    {
        try
        {
            while (_mesh.ControlPoller.Poll(_reads ? 0 : _waitMs) >= 0 && (!_reads || _mesh.GetPoller(0).Poll(_waitMs) >= 0))
            {
            }
        }
        catch (ObjectDisposedException)
        {
            // Disposed meanwhile.
        }
    }
}
