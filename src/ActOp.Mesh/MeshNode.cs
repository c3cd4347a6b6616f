using System.Net;
using ActOp.Mesh.Transports;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace ActOp.Mesh;

/// <summary>
/// The endpoint of one process in the mesh: accepts and dials peers, and holds the pollers that read their links. Has no threads: the
/// runtime calls <see cref="ControlPoller"/>, each of the <see cref="PollerCount"/> data pollers and <see cref="LargeFramePoller"/>, if it
/// has one, from threads of its own, and flushes links when told by <see cref="MeshEvents.SendPending"/>. Composes its parts, which own the
/// state: <see cref="MeshTables"/>, <see cref="MeshPollers"/>,
/// <see cref="Acceptances"/>, <see cref="Handshakes"/>, <see cref="Sessions"/> and <see cref="Dials"/>.
/// <para>Threads: public members may be called from any thread, but <see cref="SetPollers"/> and <see cref="Dispose"/> not from a callback
/// of <see cref="MeshEvents"/>. Handshakes, sessions and dials belong to the control thread; other threads post to it.</para>
/// </summary>
public sealed class MeshNode : IDisposable
{
    private readonly Transport _transport;
    private readonly TimeProvider _time;
    private readonly MeshMetrics _metrics;
    private readonly MeshTables _tables;
    private readonly MeshPollers _pollers;
    private readonly Sessions _sessions;
    private readonly Handshakes _handshakes;
    private readonly Acceptances _acceptances;
    private readonly ConnectionCounts _counts;
    private readonly NameOwners _owners;

    /// <summary>Creates a node that neither listens nor dials yet.</summary>
    /// <param name="id">The identity of this node; another run of the same process needs another name.</param>
    /// <param name="options">Limits and times; must not be changed afterwards.</param>
    /// <param name="transport">The source of byte streams.</param>
    /// <param name="events">Receives the events.</param>
    /// <param name="time">The clock of handshake limits and back-off.</param>
    /// <param name="logger">The logger.</param>
    /// <exception cref="ArgumentException">An option or the name is out of range.</exception>
    public MeshNode(
        NodeId id, MeshOptions options, Transport transport, MeshEvents events, TimeProvider time, ILogger<MeshNode>? logger = null)
    {
        ArgumentNullException.ThrowIfNull(id);
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        if (!WireLimits.IsName(id.Name, NodeId.MaxNameBytes))
            throw new ArgumentException("NodeId.Name must have 1 to 1024 bytes.", nameof(id));

        Id = id;
        Options = options;
        Events = events;
        Log = logger ?? NullLogger<MeshNode>.Instance;
        Unfinished = new UnfinishedFrames(this);
        _transport = transport;
        _time = time;
        _tables = new MeshTables(this);
        _counts = new ConnectionCounts(options);
        _owners = new NameOwners(options, time);
        _pollers = new MeshPollers(index => new Poller(this, transport.CreateReadiness(), index), _tables, options.LargeFrameBytes);
        _metrics = new MeshMetrics(this);
        var reports = new MeshReports(events, _metrics, Log, time);
        _sessions = new Sessions(_tables, _pollers, options, time, reports, transport, _owners);
        var identity = new HandshakeIdentity(id, options, events, new HandshakeKeys(options));
        PendingHandshakes = new PendingHandshakes(options, time);
        _handshakes = new Handshakes(identity, PendingHandshakes, _tables, _pollers.Control, _sessions, reports, _owners);
        _acceptances = new Acceptances(identity, PendingHandshakes, _tables, _pollers.Control, reports, _counts);
    }

    /// <summary>The identity of this node.</summary>
    public NodeId Id { get; }

    /// <summary>Drives handshakes, dials, all control links and the peer events: must be polled all the time.</summary>
    public Poller ControlPoller => _pollers.Control;

    /// <summary>
    /// Reads links while frames of more than <see cref="MeshOptions.LargeFrameBytes"/> arrive. If there is one, it must be polled all the
    /// time.
    /// </summary>
    public Poller? LargeFramePoller => _pollers.Large;

    /// <summary>Data pollers in use.</summary>
    public int PollerCount => _pollers.Count;

    /// <summary>Open connections, those in their handshake included.</summary>
    public int LinkCount => _tables.LinkCount;

    /// <summary>Frames that were handed to the network so far, on all links. Added up when it is read.</summary>
    public long FramesSent => _metrics.FramesSent;

    /// <summary>Frames that have arrived so far, on all links. Added up when it is read.</summary>
    public long FramesReceived => _metrics.FramesReceived;

    /// <summary>Bytes that were handed to the network so far, on all links. Added up when it is read.</summary>
    public long BytesSent => _metrics.BytesSent;

    /// <summary>Bytes that have arrived so far, on all links. Added up when it is read.</summary>
    public long BytesReceived => _metrics.BytesReceived;

    /// <summary>Connections that were open and are closed.</summary>
    public long LinksClosed => _metrics.LinksClosed;

    internal PendingHandshakes PendingHandshakes { get; }

    internal IReadOnlyList<Poller> Pollers => _pollers.Data;

    /// <inheritdoc cref="MeshPollers.Reassign"/>
    internal bool Reassign(Link link, int frame) => _pollers.Reassign(link, frame);

    internal int NamesKnown => _owners.Count;

    internal int ConnectionsOf(NodeKind kind) => _counts.CountOf(kind);

    /// <summary>The memory of frames that have begun to arrive.</summary>
    internal UnfinishedFrames Unfinished { get; }

    internal MeshOptions Options { get; }

    internal TimeProvider Time => _time;

    internal MeshEvents Events { get; }

    internal ILogger Log { get; }

    /// <summary>A data poller, to be polled by one thread.</summary>
    /// <param name="index">0 to <see cref="PollerCount"/> - 1.</param>
    public Poller GetPoller(int index) => _pollers.Data[index];

    /// <summary>
    /// Changes the number of data pollers and distributes the links anew, each between two of its reads: no frame is lost or overtaken. New
    /// pollers must be polled soon; removed ones (<see cref="Poller.IsActive"/> false, woken) need no more polling.
    /// Does nothing after <see cref="Dispose"/>.
    /// </summary>
    /// <param name="count">1 to 64.</param>
    /// <exception cref="InvalidOperationException">Called from a callback of a poller.</exception>
    public void SetPollers(int count) => _pollers.Set(count);

    /// <summary>Accepts peers of one kind at an endpoint; may be called for several. Any other node is refused there.</summary>
    /// <param name="endPoint">The endpoint; port 0 selects a free port.</param>
    /// <param name="accepts">The kind of the nodes: so <see cref="NodeId.Kind"/> of an accepted peer follows from its listener.</param>
    /// <returns>The endpoint with the port that was picked.</returns>
    /// <exception cref="InvalidOperationException">This node is a client: clients only dial.</exception>
    /// <exception cref="System.Net.Sockets.SocketException">It cannot be bound.</exception>
    /// <exception cref="ObjectDisposedException">The node has begun to stop.</exception>
    public EndPoint Listen(EndPoint endPoint, NodeKind accepts)
    {
        if (Id.Kind != NodeKind.Silo)
            throw new InvalidOperationException("A client does not listen.");

        var secrets = accepts == NodeKind.Silo ? Options.SiloSecrets : Options.ClientSecrets;
        if (endPoint is IPEndPoint ip && !IPAddress.IsLoopback(ip.Address) && secrets.Count == 0 && !_transport.IsProtected(endPoint))
            Log.Unprotected(endPoint, accepts);

        var count = _counts.Add(accepts);
        var listener = _transport.Listen(
            endPoint, stream => _acceptances.Accepted(stream, count), exception => Log.AcceptFailed(exception, endPoint));
        if (_tables.TryAdd(listener))
            return listener.EndPoint;

        listener.Dispose();
        throw new ObjectDisposedException(nameof(MeshNode));
    }

    /// <summary>
    /// The peer at an endpoint, dialled at once and again whenever it is lost, until closed. With <paramref name="expected"/> the peer of
    /// that identity, known or new; any other node there is refused (<see cref="DisconnectReason.WrongNode"/>).
    /// </summary>
    public Peer Connect(EndPoint endPoint, NodeId? expected = null)
    {
        ArgumentNullException.ThrowIfNull(endPoint);
        if (_tables.PeerAt(endPoint, expected) is not { } peer)
        {
            peer = new Peer(this, endPoint, expected, expected is not null);
            peer.MarkClosed();
            return peer;
        }

        ControlPoller.Post(() =>
        {
            peer.IdentityIsExpected |= expected is not null;
            _sessions.Dials.Start(peer);
        });
        return peer;
    }

    /// <summary>
    /// Dials a peer of <see cref="Connect"/> no more when its present dial fails, unless it is known by now which node it is: then others
    /// may have connected it by its identity.
    /// </summary>
    public void StopSearching(Peer peer)
    {
        ArgumentNullException.ThrowIfNull(peer);
        _tables.StopSearching(peer);
    }

    /// <summary>
    /// Dials an endpoint once, over a connection of its own, to see whether a node answers there that can be connected and has this
    /// identity. Sessions with that node are not touched.
    /// </summary>
    /// <param name="endPoint">The endpoint.</param>
    /// <param name="expected">The identity.</param>
    /// <param name="done">
    /// Gets null, or why not, on the control thread. Called once, within <see cref="MeshOptions.HandshakeTimeout"/>; not if the node is
    /// disposed before.
    /// </param>
    public void Ask(EndPoint endPoint, NodeId expected, Action<DialFailure?> done)
    {
        var stranger = new Peer(this, endPoint, expected, identityIsExpected: true) { Keep = false };
        ControlPoller.Post(() => _sessions.Dials.Ask(stranger, done));
    }

    /// <summary>The peer of an identity, if there is one.</summary>
    public Peer? FindPeer(NodeId id) => _tables.FindPeer(id);

    /// <summary>All peers now.</summary>
    public IReadOnlyList<Peer> Peers() => _tables.Peers();

    /// <summary>
    /// Stops listening and closes every peer in order (<see cref="Peer.Close"/>). Continue polling and flushing until <see
    /// cref="LinkCount"/> is 0 or until a time limit, then dispose.
    /// </summary>
    public void Stop()
    {
        _tables.BeginStop();
        StopListening();
        foreach (var peer in Peers())
            Close(peer);
    }

    /// <summary>Closes everything at once. Threads in Poll leave it with -1.</summary>
    public void Dispose()
    {
        _tables.BeginStop();
        StopListening();
        _sessions.Dispose();
        PendingHandshakes.Dispose();
        _pollers.Dispose();
        foreach (var peer in Peers())
        {
            peer.Redial?.Dispose();
            peer.MarkClosed();
        }

        _metrics.Dispose();
    }

    internal Link[] Links() => _tables.Links();

    internal void Close(Peer peer) => ControlPoller.Post(() => _sessions.Close(peer));

    internal void HandshakeReceived(Link link, ReadOnlySpan<byte> body) => _handshakes.Received(link, body);

    internal void RefuseGarbage(Link link) => _handshakes.RefuseGarbage(link);

    /// <summary>A link is closed. Called last, by its poller.</summary>
    internal void LinkClosed(Link link)
    {
        if (_tables.Remove(link))
        {
            if (link.Listener is { } listener)
                _counts.Leave(listener, link.Stream);

            _metrics.Fold(link);
            ControlPoller.Post(() =>
            {
                if (link.Session is { } session)
                    _sessions.Closed(link, session);
                else
                    _handshakes.Closed(link);
            });
        }
    }

    private void StopListening()
    {
        foreach (var listener in _tables.TakeListeners())
            listener.Dispose();
    }
}
