namespace ActOp.Mesh;

/// <summary>
/// The events of the mesh for the runtime.
/// <para>Threads: <see cref="PeerConnected"/>, <see cref="PeerDisconnected"/> and <see cref="DialFailed"/> come one at a time from the
/// thread that drives the control poller. <see cref="FramesReceived"/> comes from the thread that drives the link's poller: control links
/// from the control poller, data links each from one data poller at a time, and both from that of large frames while such a frame arrives.
/// <see cref="SendPending"/> comes from any thread.</para>
/// <para>Order: a peer's frames arrive only after its PeerConnected, and none after its PeerDisconnected.</para>
/// None of them may block or call <see cref="MeshNode.SetPollers"/>.
/// </summary>
public abstract class MeshEvents
{
    /// <summary>All links of a session with the peer are open; frames can be sent.</summary>
    public abstract void PeerConnected(Peer peer);

    /// <summary>The session is over and all its links are closed. A peer that is kept is dialled again.</summary>
    public abstract void PeerDisconnected(Peer peer, DisconnectReason reason);

    /// <summary>Complete frames in the order sent. The bytes are valid only during the call. A throw closes the link.</summary>
    public abstract void FramesReceived(Link link, FrameBatch frames);

    /// <summary>
    /// The link went from idle to pending, or from blocked to writable. The receiver of the event must call <see cref="Link.Flush"/> until
    /// that returns something else than <see cref="FlushResult.More"/>, usually by a post to the send stage.
    /// </summary>
    public abstract void SendPending(Link link);

    /// <summary>
    /// Whether a node may have this identity. Asked in the handshake, before anything is kept for the node; false refuses it
    /// (<see cref="DisconnectReason.WrongName"/>). Control thread.
    /// </summary>
    /// <param name="id">The identity that the other end states. Its kind fits the listener that it has reached.</param>
    public virtual bool AcceptsName(NodeId id) => true;

    /// <summary>A dial has failed; it is repeated after the back-off while the peer is kept.</summary>
    /// <param name="peer">The peer dialled.</param>
    /// <param name="reason">The reason.</param>
    /// <param name="failures">Consecutive failed dials.</param>
    public virtual void DialFailed(Peer peer, DisconnectReason reason, int failures)
    {
    }
}

/// <summary>Why a link, a dial or a session ended.</summary>
public enum DisconnectReason : byte
{
    /// <summary>Not ended.</summary>
    None = 0,

    /// <summary>The other end closed the connection in an orderly way, or its process ended.</summary>
    PeerClosed = 1,

    /// <summary>The network broke the connection.</summary>
    Reset = 2,

    /// <summary>The endpoint did not answer, or this process could not dial; see <see cref="ConnectRefused"/>.</summary>
    ConnectFailed = 3,

    /// <summary>The handshake did not end within <see cref="MeshOptions.HandshakeTimeout"/>.</summary>
    HandshakeTimeout = 4,

    /// <summary>The other end belongs to another cluster.</summary>
    WrongCluster = 5,

    /// <summary>The other end belongs to another service.</summary>
    WrongService = 6,

    /// <summary>The two ends share no protocol version.</summary>
    WrongVersion = 7,

    /// <summary>The bytes received do not belong to this protocol.</summary>
    Garbage = 8,

    /// <summary>A frame announced more than <see cref="MeshOptions.MaxFrameBytes"/>, or
    /// <see cref="MeshOptions.MaxClientFrameBytes"/> from a client.</summary>
    FrameTooLarge = 9,

    /// <summary>The two nodes already have, or are making, another session.</summary>
    Duplicate = 10,

    /// <summary>The other end started a newer session.</summary>
    Superseded = 11,

    /// <summary>Another node than the expected one answers at the endpoint.</summary>
    WrongNode = 12,

    /// <summary>The endpoint belongs to this node.</summary>
    Self = 13,

    /// <summary>This end closed it.</summary>
    ClosedLocally = 14,

    /// <summary>Too many handshakes are in progress (<see cref="MeshOptions.MaxPendingHandshakes"/>).</summary>
    TooManyHandshakes = 15,

    /// <summary>The receiver of the frames threw; the exception is in the log.</summary>
    ReceiverFailed = 16,

    /// <summary>The endpoint's host refused the connection: no process listens there.</summary>
    ConnectRefused = 17,

    /// <summary>Nothing was received from the other end for <see cref="MeshOptions.KeepAliveTimeout"/>.</summary>
    Silent = 18,

    /// <summary>This process has too few descriptors left for another connection.</summary>
    OutOfDescriptors = 19,

    /// <summary>Work for the link threw; the exception is in the log.</summary>
    InternalError = 20,

    /// <summary>The listener does not accept nodes of this kind, or a client answered where a silo was dialled.</summary>
    WrongRole = 21,

    /// <summary>The name of the node cannot belong to a node of its kind (<see cref="MeshEvents.AcceptsName"/>).</summary>
    WrongName = 22,

    /// <summary>One end did not prove that it knows the secret, or only one end has one.</summary>
    NotAuthenticated = 23,

    /// <summary>The name belongs to another process, which has used it before.</summary>
    NameTaken = 24,

    /// <summary>Too many nodes are known (<see cref="MeshOptions.MaxPeers"/>).</summary>
    TooManyPeers = 25,

    /// <summary>The listener has too many connections (<see cref="MeshOptions.MaxConnections"/>).</summary>
    TooManyConnections = 26,

    /// <summary>The remote address has too many connections (<see cref="MeshOptions.MaxConnectionsPerAddress"/>).</summary>
    TooManyConnectionsOfAddress = 27,

    /// <summary>
    /// Frames that have begun to arrive take too much memory, and the address of this link holds most of it
    /// (<see cref="MeshOptions.MaxUnfinishedBytes"/>, <see cref="MeshOptions.MaxUnfinishedClientBytes"/>).
    /// </summary>
    TooManyUnfinishedBytes = 28,

    /// <summary>TLS could not be agreed on: one end refuses the other's certificate, or does not use TLS.</summary>
    TlsFailed = 29,
}

/// <summary>Why a dial failed.</summary>
/// <param name="Reason">The reason.</param>
/// <param name="Why">What the transport knows more; null if it knows no more.</param>
public sealed record DialFailure(DisconnectReason Reason, string? Why)
{
    /// <summary>
    /// Whether the other end was reached, and the two do not fit: another dial ends in the same way until the settings of one of them are
    /// changed.
    /// </summary>
    public bool IsPermanent => Reason is DisconnectReason.WrongCluster or DisconnectReason.WrongService or DisconnectReason.WrongVersion
        or DisconnectReason.WrongRole or DisconnectReason.NotAuthenticated or DisconnectReason.Garbage or DisconnectReason.TlsFailed;
}
