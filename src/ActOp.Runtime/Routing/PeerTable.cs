using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using System.Net;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Mesh;
using ActOp.Mesh.Transports;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Stages;
using ActOp.Serialization;
using ActOp.Staging;
using ActOp.Staging.Measuring;
using Microsoft.Extensions.Logging;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>The inputs of a node's network.</summary>
/// <param name="Mesh">The options of the mesh.</param>
/// <param name="Transport">What connections are made with.</param>
/// <param name="Driver">Runs the stages in place of threads; null for threads.</param>
/// <param name="Logger">The mesh's log.</param>
/// <param name="EndPointOf">Where this node dials a silo: clients at its gateway, silos at its address. Null if it does not.</param>
/// <param name="Limits">What may wait for other nodes.</param>
/// <param name="Channels">The named channels.</param>
/// <param name="Meter">The meter of the node.</param>
internal sealed record PeerSetup(MeshOptions Mesh, Transport Transport, StageDriver? Driver, ILogger<MeshNode> Logger, Func<SiloAddress,
    EndPoint?> EndPointOf, ConnectionLimitOptions Limits, NodeChannels Channels, Meter Meter)
{
    /// <summary>Maximum time that a stop waits until the links have sent what is queued.</summary>
    internal TimeSpan LongestClose { get; init; }
}

/// <summary>
/// Step 3 of a call's path: which link a frame takes. Knows the peers by their addresses and ties the mesh to the stages.
/// </summary>
/// <remarks>
/// Any thread may send. Frames for a silo that is being dialled wait in its <see cref="PeerEntry"/>. Connects, disconnects and failed dials
/// are reported one at a time by the control thread of the mesh. Owns the mesh node, its threads, and one entry for each connected or
/// addressed node; an entry is removed when its silo is dead or its client gone. Also owns the searched endpoints, until a silo answers
/// there or the search is stopped (<see cref="StopSearching"/>). Frames for a silo that the view does not list yet wait in its entry
/// without a dial: for an address that only a peer has named they are given up after <see cref="LongestUnlistedMs"/>, with the entry.
/// </remarks>
internal sealed class PeerTable : MeshEvents, IDisposable
{
    /// <summary>The versions of the protocol that have <see cref="FrameKind.Fanout"/>, and <see cref="FrameKind.GrainFanout"/>.</summary>
    private const int FanoutVersion = 3;
    private const int GrainFanoutVersion = 4;

    /// <summary>Constructed types that a silo, and the clients of one host, may name.</summary>
    private const int TypesOfSilo = 4_096;
    private const int TypesOfHost = 1_024;

    /// <summary>Hosts whose clients have a share of their own; the clients of all others have one together.</summary>
    private const int MaxShares = 1_024;

    /// <summary>How long frames wait for a silo that the view does not list: several times longer than a view takes to spread.</summary>
    internal const long LongestUnlistedMs = 5_000;

    /// <summary>Time between two looks whether the links are closed.</summary>
    private static readonly TimeSpan ClosePause = TimeSpan.FromMilliseconds(10);

    private readonly LocalNode _local;
    private readonly NodeStages _stages;
    private readonly ClusterView _cluster;
    private readonly CallSender _calls;
    private readonly CallSweep _sweep;
    private readonly Func<SiloAddress, EndPoint?> _endPointOf;
    private readonly PeerEntries _entries;
    private readonly ConcurrentDictionary<EndPoint, EndPointSearch> _searches = new();
    private readonly ConcurrentDictionary<IPAddress, TypeShare> _shares = new();
    private readonly PollStage _receive;

    /// <summary>One thread, which reads large frames: what they hold may take long to read, and other links do not wait for it.</summary>
    private readonly PollStage _receiveLarge;
    private readonly PollStage _control;
    private readonly Sender _self;
    private readonly Lock _sizing = new();

    /// <summary>1 if frames of a newcomer may wait: then each tick looks for them.</summary>
    private int _isHolding;
    private readonly ConnectionLimitOptions _limits;
    private readonly TimeSpan _longestClose;
    private volatile bool _closing;
    private bool _isDisposed;

    internal PeerTable(
        LocalNode local, NodeStages stages, ClusterView cluster, CallSender calls, CallSweep sweep, PeerSetup setup)
    {
        _local = local;
        _stages = stages;
        _cluster = cluster;
        _calls = calls;
        _sweep = sweep;
        _endPointOf = setup.EndPointOf;
        _self = NewSender(local.Address);
        _limits = setup.Limits;
        Channels = setup.Channels;
        _entries = new PeerEntries(address => new PeerEntry(this, address, NewSender(address)));
        Waiting = new WaitingBytes(local, setup.Limits, setup.Meter, () => _entries.All);
        _longestClose = setup.LongestClose;
        Mesh = new MeshNode(IdOf(local.Address), setup.Mesh, setup.Transport, this, local.Time.ForPosting(), setup.Logger);
        Action woken = () => _receive!.EndWait();
        _receive = new PollStage("receive", index => Receive(Mesh.GetPoller(index), woken), index => Mesh.GetPoller(index).Wake(),
            exception => local.Log.StageFailed("receive", exception))
        {
            IsMeasured = stages.AreMeasured,
            Driver = setup.Driver,
        };
        _receiveLarge = new PollStage("large", _ => Receive(Mesh.LargeFramePoller!, null), _ => Mesh.LargeFramePoller!.Wake(),
            exception => local.Log.StageFailed("large", exception))
        { IsMeasured = false, Driver = setup.Driver };
        _control = new PollStage("mesh", _ => Mesh.ControlPoller.Poll(-1) >= 0, _ => Mesh.ControlPoller.Wake(), exception =>
            local.Log.StageFailed("mesh", exception))
        { Driver = setup.Driver };
    }

    internal MeshNode Mesh { get; }

    /// <summary>
    /// Gets the frames that arrive. It sends answers through this table, so it is set after both exist, before the start.
    /// </summary>
    internal FrameReader Reader { get; set; } = null!;

    internal int ReceiveThreads => _receive.Threads;

    internal StageUsage ReceiveUsage => _receive.Usage;

    /// <inheritdoc cref="PollStage.Probe"/>
    internal int ProbeReceiving() => Math.Max(Math.Max(_receive.Probe(), _receiveLarge.Probe()), _control.Probe());

    /// <summary>
    /// Raised when the link to a silo is lost (false), or when its process is proven to be gone (true): its host refused a dial, or another
    /// process has its endpoint.
    /// </summary>
    internal event Action<SiloAddress, bool>? LinkLost;

    /// <summary>Raised with the reason when a dial of a silo has failed. Control thread of the mesh.</summary>
    internal event Action<SiloAddress, DialFailure>? SiloNotReached;

    internal void Start(int receiveThreads)
    {
        SetReceiveThreads(receiveThreads);
        _receiveLarge.SetThreads(1);
        _control.SetThreads(1);
    }

    /// <summary>Any thread. A controller may call it while the node ends; then no thread is started.</summary>
    internal void SetReceiveThreads(int threads)
    {
        lock (_sizing)
        {
            if (_isDisposed)
                return;
            if (threads > _receive.Threads)
            {
                Mesh.SetPollers(threads);
                _receive.SetThreads(threads);
            }
            else
            {
                _receive.SetThreads(threads);
                Mesh.SetPollers(threads);
            }
        }
    }

    /// <summary>
    /// The silo that is connected at an endpoint now, or else the next one that answers there; never one that has answered before and is
    /// gone.
    /// </summary>
    /// <param name="endPoint">The endpoint.</param>
    /// <param name="refused">Set when a dial finds out that settings do not fit (<see cref="DialFailure.IsPermanent"/>).</param>
    internal Task<SiloAddress> FindAsync(EndPoint endPoint, TaskCompletionSource? refused = null) =>
        ConnectedAt(endPoint) is { } present ? Task.FromResult(present) : Search(endPoint, refused).Task;

    /// <summary>Why the last dial of a search failed; null if none has, or if the endpoint is not searched.</summary>
    internal DialFailure? LastFailureAt(EndPoint endPoint) =>
        _searches.TryGetValue(endPoint, out var search) ? search.Dial?.LastFailure : null;

    /// <summary>Dials an endpoint until a silo answers there.</summary>
    internal TaskCompletionSource<SiloAddress> Search(EndPoint endPoint, TaskCompletionSource? refused = null)
    {
        var search = _searches.GetOrAdd(endPoint, static _ => new EndPointSearch());
        search.Refused = refused ?? search.Refused;
        search.Dial = Mesh.Connect(endPoint);
        // It may have connected meanwhile, and there would be no further event.
        if (ConnectedAt(endPoint) is { } come)
            EndSearch(endPoint, come);
        return search.Found;
    }

    /// <summary>Stops all searches: their endpoints are no longer dialled.</summary>
    internal void StopSearching()
    {
        foreach (var (endPoint, search) in _searches)
        {
            if (_searches.TryRemove(new(endPoint, search)) && search.Dial is { } dial)
                Mesh.StopSearching(dial);
        }
    }

    /// <summary>The silos that are connected now.</summary>
    internal IEnumerable<SiloAddress> ConnectedSilos =>
        _entries.All.Where(static entry => !entry.Address.IsClient && entry.IsConnected).Select(static entry => entry.Address);

    /// <summary>Dials a silo unless it is connected, so that the first call need not wait.</summary>
    internal void Connect(SiloAddress silo) => EntryOf(silo)?.EnsureDialled();

    /// <summary>The bytes that a node has sent over its present links.</summary>
    internal long BytesFrom(SiloAddress address) => _entries.FindEntry(address)?.BytesReceived ?? 0;

    internal bool IsConnected(SiloAddress address) => _entries.FindEntry(address) is { IsConnected: true };

    internal bool IsKnown(SiloAddress address) => IsConnected(address) || _cluster.View.FindMember(address) is not null;

    /// <summary>
    /// The first of the silos that is connected, beginning with the one at <paramref name="first"/> modulo their number; null if none is.
    /// </summary>
    internal SiloAddress? FindConnected(SiloAddress[] silos, int first)
    {
        for (var i = 0; i < silos.Length; i++)
        {
            var silo = silos[(first + i) % silos.Length];
            if (IsConnected(silo))
                return silo;
        }

        return null;
    }

    /// <summary>A known node as the sender of frames, or null. For tests and diagnosis.</summary>
    internal Sender? FindSender(SiloAddress address) => _entries.FindEntry(address)?.Sender;

    /// <summary>Connected nodes that are clients, or silos.</summary>
    internal int Count(bool clients) => _entries.All.Count(entry => entry.Address.IsClient == clients && entry.IsConnected);

    /// <summary>
    /// Hands a frame to the link of <paramref name="target"/>, if that is the client's process with this <see cref="Peer.Mark"/> (0: any).
    /// Returns why not when it can't.
    /// </summary>
    internal Exception? Send(SiloAddress target, GrainId affinity, ReadOnlySpan<byte> frame, ulong mark = 0, int channel = 0)
    {
        if (target.Equals(_local.Address))
        {
            // The reply to a call of this silo that was forwarded back, because the grain has moved here meanwhile.
            Reader.Read(_self, PeerRole.Member, frame.ToArray());
            return null;
        }

        if (EntryOf(target) is not { } entry || (mark != 0 && entry.Sender.Mark != mark))
            return NoEntry(target);
        var control = SystemGrainIds.IsControl(affinity);
        return entry.Send(affinity.IsDefault ? 0 : affinity.GetUniformHashCode(), control, frame, channel);
    }

    /// <summary>
    /// The data links of a node that knows the frame for many receivers; 0 if it is not connected, or is of a build that does not know it.
    /// </summary>
    internal int LinksForMany(SiloAddress target, bool areGrains) => !IsPlayedOld && _entries.FindEntry(target)?.Connection is { } peer
        && peer.ProtocolVersion >= (areGrains ? GrainFanoutVersion : FanoutVersion) ? peer.DataLinks : 0;

    /// <summary>As <see cref="Send"/>, for a frame to many receivers that are reached over the same link.</summary>
    internal Exception? SendToMany(SiloAddress target, uint link, ReadOnlySpan<byte> frame) =>
        EntryOf(target) is { } entry ? entry.Send(link, control: false, frame) : NoEntry(target);

    /// <summary>For tests: the other nodes count as those of an earlier build.</summary>
    internal bool IsPlayedOld { get; set; }

    /// <summary>
    /// Leaves what a node has sent in the network, or reads it again. Two parts use it: <see cref="Activations.StartShares"/> for clients,
    /// <see cref="FanoutDelivery"/> for silos.
    /// </summary>
    internal void Pause(SiloAddress node, bool isPaused) => _entries.FindEntry(node)?.PauseRequests(isPaused);

    /// <summary>The bytes that wait for a node beyond its links.</summary>
    internal long WaitingBytesOf(SiloAddress address) => _entries.FindEntry(address)?.WaitingBytes ?? 0;

    /// <summary>The silo is dead, or the client gone: nothing more is sent to it.</summary>
    internal void Remove(SiloAddress address) => _entries.Remove(address);

    /// <summary>A name must be the address of a node of its kind, as this code writes it: one node has one name.</summary>
    public override bool AcceptsName(NodeId id) => SiloAddress.TryParse(id.Name, out var address) && IdOf(address) == id;

    public override void PeerConnected(Peer peer)
    {
        var address = SiloAddress.Parse(peer.Id!.Name);
        if (address.IsClient != (peer.Id.Kind == NodeKind.Client))
        {
            // It came as a client with the name of a silo, or the other way round: its rights would not be those of its port.
            peer.Close();
            return;
        }

        // A silo that was declared dead may not know it yet, and learns it from an answer. It is not dialled when it has gone.
        peer.Keep = !address.IsClient && !_cluster.IsDead(address);
        foreach (var link in peer.Links)
            link.Tag = new LinkFlusher(link, address.IsClient ? _stages.ClientSend : _stages.SiloSend, _local.Time);

        peer.Control!.Tag = new LinkFlusher(peer.Control, _stages.Control, _local.Time);
        _entries.Connect(address, peer, Prepare);
        _local.Log.PeerConnected(address);
        EndSearches();
    }

    private void Prepare(PeerEntry entry, Peer peer)
    {
        entry.Sender.Types ??= ShareOf(peer, entry.Address.IsClient);
        entry.Sender.Mark = peer.Mark;
        entry.Sender.IsOperator = peer.IsOperator;
        entry.Sender.TenantCaller = peer.Tenant is null ? null : new TenantCaller(SystemGrainIds.Client(entry.Address, peer.Tenant));
        peer.Tag = entry;
    }

    public override void PeerDisconnected(Peer peer, DisconnectReason reason)
    {
        if (peer.Tag is not PeerEntry entry)
            return;
        _entries.Disconnect(entry, peer, entry.Address.IsClient || _cluster.IsDead(entry.Address));
        _sweep.CancelCallsOf(entry.Address);
        if (!_closing)
            _local.Log.PeerDisconnected(entry.Address, reason.ToString());
        _sweep.EndCallsTo(entry.Address, "its link was lost");
        LinkLost?.Invoke(entry.Address, false);
    }

    public override void DialFailed(Peer peer, DisconnectReason reason, int failures)
    {
        if (peer is { LastFailure.IsPermanent: true, EndPoint: { } endPoint } && _searches.TryGetValue(endPoint, out var search))
            search.Refused?.TrySetResult();
        if (peer.Id is not { } id || !SiloAddress.TryParse(id.Name, out var address) || _entries.FindEntry(address) is not { } entry)
            return;
        entry.DialFailed();
        SiloNotReached?.Invoke(address, peer.LastFailure ?? new DialFailure(reason, null));
        _sweep.EndCallsTo(address, "it cannot be reached");
        // Other reasons, such as silence, prove nothing about the process: it may be paused, or the network may be broken.
        if (reason is DisconnectReason.ConnectRefused or DisconnectReason.WrongNode)
            LinkLost?.Invoke(address, true);
    }

    public override void FramesReceived(Link link, FrameBatch frames)
    {
        var entry = (PeerEntry)link.Peer.Tag!;
        // The turns of the received requests run on this thread, unless a running thread of the work stage can take them without a wake-up.
        if (link.Channel == Channel.Data)
            PollStage.BorrowUntilStepEnds(_stages.Work);
        if (Invariant.AreChecked)
            Invariant.Holds(TypeShare.Current is null);
        PollStage.CountItems(frames.Count);
        PoolBatches.BeginRead();
        TypeShare.Current = entry.Sender.Types;
        // Once per batch: the view changes rarely.
        var role = entry.Sender.Role;
        try
        {
            foreach (var frame in frames)
            {
                if (Volatile.Read(ref entry.Sender.Delivery) is { } before && link.Channel == Channel.Data && before.TryQueue(role, frame))
                    continue;
                Reader.Read(entry.Sender, role, frame);
            }
        }
        finally
        {
            TypeShare.Current = null;
            _calls.Batches.EndRead();
        }
    }

    /// <summary>Keeps a frame of a newcomer until <see cref="ReadHeld()"/>; see <see cref="HeldFrames"/>. Any thread.</summary>
    internal bool TryHold(Sender sender, ReadOnlySpan<byte> frame, out bool isFirst)
    {
        var isHeld = sender.Held.TryAdd(frame, _local.Clock.Now, out isFirst);
        Volatile.Write(ref _isHolding, 1);
        return isHeld;
    }

    /// <summary>
    /// Reads the frames of silos that the view lists now, and refuses those that have waited for too long. On the control stage, at each
    /// view and each tick.
    /// </summary>
    internal void ReadHeld()
    {
        if (Interlocked.Exchange(ref _isHolding, 0) == 0)
            return;
        foreach (var entry in _entries.All)
        {
            if (!entry.Sender.Held.IsWaiting)
                continue;
            var role = entry.Sender.RoleByView;
            if (role == PeerRole.Newcomer && _local.Clock.Now - entry.Sender.Held.Since < HeldFrames.LongestMs)
                Volatile.Write(ref _isHolding, 1);
            else
                ReadHeld(entry, role == PeerRole.Newcomer ? PeerRole.Stranger : role);
        }
    }

    private void ReadHeld(PeerEntry entry, PeerRole role)
    {
        TypeShare.Current = entry.Sender.Types;
        try
        {
            while (entry.Sender.Held.TakeFrame(Now) is { } frame)
                Reader.Read(entry.Sender, role, frame);
        }
        catch (Exception exception)
        {
            // As for frames that do not wait: what follows a malformed one is not read.
            entry.Sender.Held.Clear();
            Break(entry.Address, exception);
        }
        finally
        {
            TypeShare.Current = null;
        }
    }

    /// <summary>Ends the session of a node that has sent what is no frame.</summary>
    internal void Break(SiloAddress address, Exception exception)
    {
        _local.Log.StageFailed("control", exception);
        _entries.FindEntry(address)?.Break();
    }

    /// <summary>Writes frames whose thread is delayed by a long turn.</summary>
    internal void FlushLate()
    {
        foreach (var entry in _entries.All)
            entry.FlushLate();
    }

    public override void SendPending(Link link)
    {
        if (link.Tag is LinkFlusher sender)
            sender.Schedule();
        else
            link.Flush();
    }

    internal async Task StopAsync()
    {
        _closing = true;
        Mesh.Stop();
        for (var waited = TimeSpan.Zero; Mesh.LinkCount > 0 && waited < _longestClose; waited += ClosePause)
            await Task.Delay(ClosePause, _local.TaskTime).ConfigureAwait(false);
        Dispose();
    }

    public void Dispose()
    {
        lock (_sizing)
            _isDisposed = true;
        Mesh.Dispose();
        _receive.Dispose();
        _receiveLarge.Dispose();
        _control.Dispose();
    }

    private static Exception NoEntry(SiloAddress target) => target.IsClient
        ? new ClientNotAvailableException(SystemGrainIds.Client(target))
        : new SiloUnavailableException("The silo " + target + " is no longer a member of the cluster, or has no gateway.");

    /// <summary>Starts to dial a silo, or finds the dial that is under way. Null if the silo has no endpoint for this node.</summary>
    internal Peer? Dial(SiloAddress silo) => _endPointOf(silo) is { } endPoint ? Mesh.Connect(endPoint, IdOf(silo)) : null;

    /// <summary>
    /// Whether a silo answers at the address under which it lets itself be reached, over a connection of its own. The reason why not, or
    /// null, comes once on the control stage; never if this node is closed before.
    /// </summary>
    internal void Ask(SiloAddress silo, Action<DialFailure?> done)
    {
        if (_endPointOf(silo) is { } endPoint)
            Mesh.Ask(endPoint, IdOf(silo), failure => Post(() => done(failure)));
        else
            Post(() => done(new DialFailure(DisconnectReason.ConnectFailed, null)));
    }

    /// <summary>Drops a waiting frame and informs the caller, on the control stage.</summary>
    internal void GiveUp(SiloAddress silo, byte[] frame) => _stages.Control.Post(new StageAction(() => Reader.Dropped(silo, frame)));

    /// <summary>Runs a step of an entry on the control stage.</summary>
    internal void Post(Action step) => _stages.Control.Post(new StageAction(step));

    /// <summary>The named channels of this node.</summary>
    internal NodeChannels Channels { get; }

    /// <summary>Coarse time in ms.</summary>
    internal long Now => _local.Clock.Now;

    /// <summary>The bytes of frames that wait for all nodes.</summary>
    internal WaitingBytes Waiting { get; }

    /// <summary>
    /// Dials the silos that the view lists now and for which frames wait, and gives up what waits for others for too long. Control stage.
    /// </summary>
    internal void TendWaiting(long now)
    {
        foreach (var entry in _entries.All)
        {
            if (!entry.IsForsaken(now))
                continue;
            Remove(entry.Address);
            _sweep.EndCallsTo(entry.Address, "the view does not list it");
        }
    }

    internal static NodeId IdOf(SiloAddress address) => new(address.ToParsableString(), address.IsClient ? NodeKind.Client : NodeKind.Silo);

    private bool Receive(Poller poller, Action? woken)
    {
        var goesOn = poller.Poll(_calls.Batches.Patience, woken) >= 0;
        _calls.Batches.CheckOpen();
        return goesOn;
    }

    private SiloAddress? ConnectedAt(EndPoint endPoint)
    {
        if (_searches.TryGetValue(endPoint, out var search)
            && search.Dial is { State: PeerState.Connected, Id: { Kind: NodeKind.Silo } id }
            && SiloAddress.TryParse(id.Name, out var dialled)
            && IsConnected(dialled))
        {
            return dialled;
        }

        foreach (var entry in _entries.All)
        {
            if (!entry.Address.IsClient && entry.IsConnectedAt(endPoint))
                return entry.Address;
        }

        return null;
    }

    /// <summary>
    /// Also called periodically: a dial may reach a silo that is already connected by another endpoint, for which there is no event.
    /// </summary>
    internal void EndSearches()
    {
        foreach (var (endPoint, _) in _searches)
        {
            if (ConnectedAt(endPoint) is { } found)
                EndSearch(endPoint, found);
        }
    }

    private void EndSearch(EndPoint endPoint, SiloAddress found)
    {
        if (_searches.TryRemove(endPoint, out var search))
            search.Found.TrySetResult(found);
    }

    private PeerEntry? EntryOf(SiloAddress address)
    {
        if (_entries.FindEntry(address) is { } entry)
            return entry;
        // To a silo without a gateway a client has no link, and will have none.
        if (address.IsClient || _closing || _cluster.IsDead(address) || (!_local.IsSilo && _endPointOf(address) is null)
            || _entries.Count >= _limits.MaxPeers)
        {
            return null;
        }

        return _entries.GetOrAdd(address);
    }

    /// <summary>
    /// A silo has a share of its own. The clients of a host share one, or a client could have another one by connecting again. On the
    /// control thread of the mesh.
    /// </summary>
    private TypeShare ShareOf(Peer peer, bool isClient)
    {
        if (!isClient)
            return new TypeShare(TypesOfSilo, isClient: false);
        if (peer.Control?.RemoteEndPoint is not IPEndPoint { Address: var host })
            host = IPAddress.None;
        if (_shares.TryGetValue(host, out var share))
            return share;
        if (_shares.Count >= MaxShares)
            host = IPAddress.None;
        return _shares.GetOrAdd(host, static _ => new TypeShare(TypesOfHost, isClient: true));
    }

    private Sender NewSender(SiloAddress address) => new(address, _cluster, _local.IsSilo);

    /// <summary>A pending search for the silo at an endpoint.</summary>
    private sealed class EndPointSearch
    {
        internal readonly TaskCompletionSource<SiloAddress> Found = new(TaskCreationOptions.RunContinuationsAsynchronously);

        internal volatile Peer? Dial;

        /// <summary>Told when a dial shows that settings do not fit.</summary>
        internal volatile TaskCompletionSource? Refused;
    }
}
