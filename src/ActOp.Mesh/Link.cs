using System.Net;
using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <summary>
/// One connection to a peer: frames go in with <see cref="TryAppend"/>, out with <see cref="Flush"/>, and come from the other end to
/// <see cref="MeshEvents.FramesReceived"/>, each direction in order.
/// <para>Who may touch what:</para>
/// <list type="bullet">
/// <item>Link.Send.cs: pending buffer, queued bytes, scheduled flag, room waiters: under the append gate, held for a copy and never for a
/// system call. Any thread appends.</item>
/// <item>Link.Send.cs: out buffer and the sending half of the stream: under the flush gate. Any thread flushes. Order: flush gate, then
/// append gate.</item>
/// <item>Link.Receive.cs: tail, receive counters, receiving half of the stream: the thread that holds the gate of the poller in
/// <c>Poller</c>.</item>
/// <item>Phase, Session: written by the control thread (Closed: under the poller's gate), read by any.</item>
/// <item>Poller: written by the control thread on opening and by SetPollers, always under the gate of the poller it leaves.</item>
/// </list>
/// Closing has two steps: <see cref="Abort"/> (any thread) marks the link and asks its poller; <see cref="Close"/> (under the poller's
/// gate) frees the stream. So no thread ever uses a stream that another one has freed.
/// </summary>
public sealed partial class Link
{
    private readonly MeshNode _node;
    private readonly ByteStream _stream;
    private volatile LinkPhase _phase;
    private int _abortReason;

    internal Link(MeshNode node, ByteStream stream, LinkPhase phase, long sequence)
    {
        _node = node;
        _stream = stream;
        _phase = phase;
        Sequence = sequence;
        Poller = node.ControlPoller;
        stream.Owner = this;
    }

    /// <summary>Whom the link leads to.</summary>
    public Peer Peer => Session!.Peer;

    /// <summary>The channel it serves.</summary>
    public Channel Channel { get; private set; }

    /// <summary>Its number among the peer's links of the channel.</summary>
    public int Index { get; private set; }

    /// <summary>The protocol version both ends speak.</summary>
    public int ProtocolVersion { get; internal set; }

    /// <summary>The other end's address, for logs.</summary>
    public EndPoint? RemoteEndPoint => _stream.RemoteEndPoint;

    /// <summary>Whether frames can be appended.</summary>
    public bool IsOpen => _phase == LinkPhase.Open && _abortReason == 0;

    /// <summary>A place for the runtime's own state of this link.</summary>
    public object? Tag { get; set; }

    internal LinkPhase Phase => _phase;

    internal Session? Session { get; private set; }

    /// <summary>Spreads links over pollers; set once.</summary>
    internal long Sequence { get; }

    /// <summary>The one poller whose thread reads this link.</summary>
    internal Poller Poller { get; set; }

    /// <summary>Whether the stream is in its poller's readiness set; guarded by the poller's gate.</summary>
    internal bool IsRegistered { get; set; }

    /// <summary>Whether the link stands in its poller's list of unread links; guarded by the poller's gate.</summary>
    internal bool IsUnread { get; set; }

    /// <summary>
    /// Whether a read that brings less than was asked for does not show that the stream is empty: there is an end to be found, which makes
    /// no further report. Guarded by the poller's gate.
    /// </summary>
    internal bool ReadsToTheEnd { get; set; }

    /// <summary>The place among the pending handshakes while it has one, and since when; guarded by their gate.</summary>
    internal LinkedListNode<Link>? Handshake { get; set; }

    internal long HandshakeSince { get; set; }

    internal ByteStream Stream => _stream;

    internal bool IsAborted => Volatile.Read(ref _abortReason) != 0;

    internal DisconnectReason AbortReason => (DisconnectReason)Volatile.Read(ref _abortReason);

    /// <summary>Joins a session. Control thread.</summary>
    internal void Join(Session session, Channel channel, int index)
    {
        Session = session;
        Channel = channel;
        Index = index;
    }

    /// <summary>Goes on to the next phase of the handshake. Control thread.</summary>
    internal void Enter(LinkPhase phase) => _phase = phase;

    /// <summary>Frames may flow from now on. Control thread; the poller that is to read it is assigned after this.</summary>
    internal void Open()
    {
        _phase = LinkPhase.Open;
        lock (_appendGate)
        {
            _appendable = !IsAborted;
        }
    }

    /// <summary>Has the link closed by its poller, at once and whatever is pending. Any thread; the first reason stays.</summary>
    internal void Abort(DisconnectReason reason)
    {
        // The mark must be visible before Poller is read: a move that we do not see hands the link to a poller that sees the mark.
        if (Interlocked.CompareExchange(ref _abortReason, (int)reason, 0) == 0)
        {
            var poller = Poller;
            poller.Post(() => poller.CloseAborted(this), this);
        }
    }

    /// <summary>Frees the stream and everything the link holds. Under the poller's gate, after removal from the readiness set.</summary>
    internal void Close(DisconnectReason reason)
    {
        Interlocked.CompareExchange(ref _abortReason, (int)reason, 0);
        _phase = LinkPhase.Closed;
        CloseSending();
        CloseReceiving();
        _node.LinkClosed(this);
    }
}
