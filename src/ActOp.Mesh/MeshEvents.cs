namespace ActOp.Mesh;

/// <summary>
/// What the mesh tells the runtime.
/// <para>Threads: <see cref="PeerConnected"/>, <see cref="PeerDisconnected"/> and <see cref="DialFailed"/> come one at a time from the
/// thread that drives the control poller. <see cref="FramesReceived"/> comes from the thread that drives the link's poller: control links
/// from the control poller, data links each from one data poller at a time. <see cref="SendPending"/> comes from any thread.</para>
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
    /// The link went from idle to pending, or from blocked to writable: exactly one party now owes it calls of <see cref="Link.Flush"/>
    /// until that returns something else than <see cref="FlushResult.More"/>. Usually: put the link into the send stage's queue.
    /// </summary>
    public abstract void SendPending(Link link);

    /// <summary>A dial came to nothing; it is repeated after the back-off while the peer is kept.</summary>
    /// <param name="peer">The peer dialled.</param>
    /// <param name="reason">Why.</param>
    /// <param name="failures">Dials failed in a row.</param>
    public virtual void DialFailed(Peer peer, DisconnectReason reason, int failures)
    {
    }
}
