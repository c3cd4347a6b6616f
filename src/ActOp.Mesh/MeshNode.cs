using System.Net;
using ActOp.Mesh.Transports;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace ActOp.Mesh;

/// <summary>
/// One process's place in the mesh: accepts and dials peers, and holds the pollers that read their links. Has no threads: the runtime
/// drives <see cref="ControlPoller"/> and each of the <see cref="PollerCount"/> data pollers from threads of its own, and flushes links
/// when told by <see cref="MeshEvents.SendPending"/>.
/// <para>Threads: public members may be called from any thread, but <see cref="SetPollers"/> and <see cref="Dispose"/> not from a callback
/// of <see cref="MeshEvents"/>. Sessions and dials (the other parts of this class) belong to the control thread; other threads post to
/// it.</para>
/// </summary>
public sealed partial class MeshNode : IDisposable
{
    private readonly Transport _transport;
    private readonly TimeProvider _time;
    private readonly Random _jitter;
    private readonly MeshMetrics _metrics;
    private readonly Lock _pollersGate = new();   // taken before any poller's gate
    private readonly Lock _tablesGate = new();    // taken last
    private readonly HashSet<Link> _links = [];
    private readonly Dictionary<NodeId, Peer> _peers = [];
    private readonly List<Peer> _unnamed = [];    // dialled by endpoint only, identity not known yet
    private readonly List<Listener> _listeners = [];
    private volatile Poller[] _pollers = [];
    private volatile int _pollerCount;
    private readonly ITimer? _keepAlive;
    private volatile bool _stopping;
    private int _isKeepAliveDue;
    private bool _disposed;
    private long _linkSequence;
    private ulong _lastSession;

    /// <summary>Creates a node that neither listens nor dials yet.</summary>
    /// <param name="id">Who this node is; another run of the same process needs another name.</param>
    /// <param name="options">Limits and times; not to be changed afterwards.</param>
    /// <param name="transport">Where byte streams come from.</param>
    /// <param name="events">Who is told.</param>
    /// <param name="time">The clock of handshake limits and back-off.</param>
    /// <param name="logger">Where log lines go.</param>
    /// <exception cref="ArgumentException">An option or the name is out of range.</exception>
    public MeshNode(NodeId id, MeshOptions options, Transport transport, MeshEvents events, TimeProvider time, ILogger<MeshNode>? logger = null)
    {
        ArgumentNullException.ThrowIfNull(id);
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        if (!WireLimits.IsName(id.Name, NodeId.MaxNameBytes))
        {
            throw new ArgumentException("NodeId.Name must have 1 to 1024 bytes.", nameof(id));
        }

        Id = id;
        Options = options;
        Events = events;
        Log = logger ?? NullLogger<MeshNode>.Instance;
        _transport = transport;
        _time = time;
        _jitter = new Random(options.Seed);
        // Numbers rise over restarts too, as far as the clock does.
        _lastSession = (ulong)time.GetUtcNow().UtcTicks;
        _metrics = new MeshMetrics(this);
        PendingHandshakes = new PendingHandshakes(options, time);
        ControlPoller = new Poller(this, transport.CreateReadiness(), -1);
        SetPollers(1);
        if (options.KeepAlivePeriod is { } period)
        {
            _keepAlive = time.CreateTimer(_ => PostKeepAlives(), null, period, period);
        }
    }

    /// <summary>Who this node is.</summary>
    public NodeId Id { get; }

    /// <summary>Drives handshakes, dials, all control links and the peer events: must be polled all the time.</summary>
    public Poller ControlPoller { get; }

    /// <summary>Data pollers in use.</summary>
    public int PollerCount => _pollerCount;

    /// <summary>Open connections, those in their handshake included.</summary>
    public int LinkCount
    {
        get
        {
            lock (_tablesGate)
            {
                return _links.Count;
            }
        }
    }

    internal PendingHandshakes PendingHandshakes { get; }

    internal IReadOnlyList<Poller> Pollers => _pollers;

    internal MeshOptions Options { get; }

    internal TimeProvider Time => _time;

    internal MeshEvents Events { get; }

    internal ILogger Log { get; }

    /// <summary>A data poller, to be polled by one thread.</summary>
    /// <param name="index">0 to <see cref="PollerCount"/> - 1.</param>
    public Poller GetPoller(int index) => _pollers[index];

    /// <summary>
    /// Changes the number of data pollers and deals the links out anew, each between two of its reads: no frame is lost or overtaken. New
    /// pollers must be polled soon; removed ones (<see cref="Poller.IsActive"/> false, woken) need no more polling.
    /// Does nothing after <see cref="Dispose"/>.
    /// </summary>
    /// <param name="count">1 to 64.</param>
    /// <exception cref="InvalidOperationException">Called from a callback of a poller.</exception>
    public void SetPollers(int count)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(count, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, WireLimits.Pollers);
        if (ControlPoller.IsHeldByCaller || _pollers.Any(poller => poller.IsHeldByCaller))
        {
            throw new InvalidOperationException("SetPollers must not be called from a callback of the mesh.");
        }

        lock (_pollersGate)
        {
            // Nothing begins after the end: nobody would free a poller that is made now.
            if (_disposed)
            {
                return;
            }

            while (_pollers.Length < count)
            {
                _pollers = [.. _pollers, new Poller(this, _transport.CreateReadiness(), _pollers.Length)];
            }

            _pollerCount = count;
            foreach (var link in Links())
            {
                var poller = link.Poller;
                while (poller != ControlPoller && poller != PollerOf(link) && !poller.TryMove(link, PollerOf(link)))
                {
                    poller = link.Poller;
                }
            }

            foreach (var poller in _pollers.Skip(count))
            {
                poller.Wake();
            }
        }
    }

    /// <summary>Accepts peers at an endpoint; may be called for several.</summary>
    /// <returns>The endpoint with the port that was picked.</returns>
    /// <exception cref="System.Net.Sockets.SocketException">It cannot be bound.</exception>
    /// <exception cref="ObjectDisposedException">The node has begun to stop.</exception>
    public EndPoint Listen(EndPoint endPoint)
    {
        var listener = _transport.Listen(endPoint, Accepted, exception => Log.AcceptFailed(exception, endPoint));
        lock (_tablesGate)
        {
            if (!_stopping)
            {
                _listeners.Add(listener);
                return listener.EndPoint;
            }
        }

        listener.Dispose();
        throw new ObjectDisposedException(nameof(MeshNode));
    }

    /// <summary>
    /// The peer at an endpoint, dialled at once and again whenever it is lost, until closed. With <paramref name="expected"/> the peer of
    /// that identity, known or new; whoever else answers there is refused (<see cref="DisconnectReason.WrongNode"/>).
    /// </summary>
    public Peer Connect(EndPoint endPoint, NodeId? expected = null)
    {
        ArgumentNullException.ThrowIfNull(endPoint);
        Peer? peer = null;
        lock (_tablesGate)
        {
            if (_stopping)
            {
                peer = new Peer(this, endPoint, expected, expected is not null);
                peer.MarkClosed();
                return peer;
            }

            if (expected is null)
            {
                // One dial is enough, however often it is asked who is there.
                peer = _unnamed.Find(other => endPoint.Equals(other.EndPoint));
                if (peer is null)
                {
                    peer = new Peer(this, endPoint, null, false);
                    _unnamed.Add(peer);
                }

                peer.Keep = true;
            }
            else if (!_peers.TryGetValue(expected, out peer))
            {
                peer = new Peer(this, endPoint, expected, true);
                _peers.Add(expected, peer);
            }

            peer.EndPoint ??= endPoint;
        }

        ControlPoller.Post(() =>
        {
            peer.IdentityIsExpected |= expected is not null;
            StartDial(peer);
        });
        return peer;
    }

    /// <summary>The peer of an identity, if there is one.</summary>
    public Peer? FindPeer(NodeId id)
    {
        lock (_tablesGate)
        {
            return _peers.GetValueOrDefault(id);
        }
    }

    /// <summary>All peers now.</summary>
    public IReadOnlyList<Peer> Peers()
    {
        lock (_tablesGate)
        {
            return [.. _peers.Values, .. _unnamed];
        }
    }

    /// <summary>
    /// Stops listening and closes every peer in order (<see cref="Peer.Close"/>). Go on polling and flushing until <see cref="LinkCount"/>
    /// is 0 or patience ends, then dispose.
    /// </summary>
    public void Stop()
    {
        Mark();
        StopListening();
        foreach (var peer in Peers())
        {
            Close(peer);
        }
    }

    /// <summary>Closes everything at once. Threads in Poll leave it with -1.</summary>
    public void Dispose()
    {
        Mark();
        StopListening();
        _keepAlive?.Dispose();
        PendingHandshakes.Dispose();
        lock (_pollersGate)
        {
            _disposed = true;
        }

        foreach (var poller in _pollers)
        {
            poller.Dispose();
        }

        ControlPoller.Dispose();
        foreach (var peer in Peers())
        {
            peer.Redial?.Dispose();
            peer.MarkClosed();
        }

        _metrics.Dispose();
    }

    internal Link[] Links()
    {
        lock (_tablesGate)
        {
            return [.. _links];
        }
    }

    internal void Close(Peer peer) => ControlPoller.Post(() => ClosePeer(peer));

    /// <summary>From now on no link is added and none is dialled: under the gate, so that whoever closes all of them misses none.</summary>
    private void Mark()
    {
        lock (_tablesGate)
        {
            _stopping = true;
        }
    }

    /// <summary>
    /// From the timer. One at a time: after a pause of this process what has come meanwhile is read before the next look.
    /// </summary>
    private void PostKeepAlives()
    {
        if (Interlocked.Exchange(ref _isKeepAliveDue, 1) == 0)
        {
            ControlPoller.Post(() =>
            {
                Volatile.Write(ref _isKeepAliveDue, 0);
                KeepAlive();
            });
        }
    }

    private Poller PollerOf(Link link) => _pollers[(int)(link.Sequence % _pollerCount)];

    private void StopListening()
    {
        Listener[] listeners;
        lock (_tablesGate)
        {
            listeners = [.. _listeners];
            _listeners.Clear();
        }

        foreach (var listener in listeners)
        {
            listener.Dispose();
        }
    }
}
