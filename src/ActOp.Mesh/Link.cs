using System.Buffers;
using System.Net;
using System.Numerics;
using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <summary>
/// One connection to a peer: frames go in with <see cref="TryAppend"/>, out with <see cref="Flush"/>, and come from the other end to
/// <see cref="MeshEvents.FramesReceived"/>, each direction in order.
/// <para>Who may touch what:</para>
/// <list type="bullet">
/// <item><see cref="LinkSender"/>: pending buffer, queued bytes, scheduled flag, room waiters: under the append gate, held for a copy and
/// never for a system call. Any thread appends.</item>
/// <item><see cref="LinkSender"/>: out buffer and the sending half of the stream: under the flush gate. Any thread flushes. Order: flush
/// gate, then append gate.</item>
/// <item><see cref="LinkReceiver"/>: tail, receive counters, receiving half of the stream: the thread that holds the gate of the poller in
/// <c>Poller</c>.</item>
/// <item>Phase, Session: written by the control thread (Closed: under the poller's gate), read by any.</item>
/// <item>Poller: written by the control thread on opening and by SetPollers, always under the gate of the poller it leaves.</item>
/// </list>
/// Closing has two steps: <see cref="Abort"/> (any thread) marks the link and asks its poller; <see cref="Close"/> (under the poller's
/// gate) frees the stream. So no thread ever uses a stream that another one has freed.
/// </summary>
public sealed class Link
{
    private readonly MeshNode _node;
    private readonly ByteStream _stream;
    private readonly LinkSender _sender;
    private readonly LinkReceiver _receiver;
    private volatile LinkPhase _phase;
    private int _abortReason;
    private int _pauses;

    internal Link(MeshNode node, ByteStream stream, LinkPhase phase, ListenerCount? listener, long sequence)
    {
        _node = node;
        _stream = stream;
        _phase = phase;
        Listener = listener;
        Sequence = sequence;
        Poller = node.ControlPoller;
        _sender = new LinkSender(this, node, stream);
        _receiver = new LinkReceiver(this, node, stream, _sender);
        stream.Owner = this;
    }

    /// <summary>The other end.</summary>
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

    /// <summary>State that the runtime attaches to this link.</summary>
    public object? Tag { get; set; }

    /// <summary>Frames handed to the network so far (counted when their flush starts).</summary>
    public long FramesSent => _sender.FramesSent;

    /// <summary>Bytes taken by the network so far, with length prefixes.</summary>
    public long BytesSent => _sender.BytesSent;

    /// <summary>Sends to the network so far.</summary>
    public long Flushes => _sender.Flushes;

    /// <summary>Bytes accepted and not yet taken by the network.</summary>
    public long QueuedBytes => _sender.QueuedBytes;

    /// <summary>Frames delivered so far.</summary>
    public long FramesReceived => _receiver.FramesReceived;

    /// <summary>Bytes read so far, with length prefixes.</summary>
    public long BytesReceived => _receiver.BytesReceived;

    internal LinkPhase Phase => _phase;

    internal bool IsInHandshake => _phase < LinkPhase.Held;

    internal Session? Session { get; private set; }

    /// <summary>The kind that the other end must have: that of the listener, or silo if this end dialled.</summary>
    internal NodeKind Accepts => Listener?.Accepts ?? NodeKind.Silo;

    /// <summary>The listener that has accepted it; null if this end dialled.</summary>
    internal ListenerCount? Listener { get; }

    /// <summary>What is counted of its frames that have begun to arrive, and of those that a client has not taken.</summary>
    internal long UnfinishedBytes => _receiver.UnfinishedBytes + _sender.CountedBytes;

    /// <summary>Spreads links over pollers; set once.</summary>
    internal long Sequence { get; }

    /// <summary>The one poller whose thread reads this link.</summary>
    internal Poller Poller { get; set; }

    /// <summary>Whether the stream is in its poller's readiness set; guarded by the poller's gate.</summary>
    internal bool IsRegistered { get; set; }

    /// <summary>Whether the link stands in its poller's list of unread links; guarded by the poller's gate.</summary>
    internal bool IsUnread { get; set; }

    /// <summary>
    /// Whether a read that brings less than was asked for does not show that the stream is empty: the end of the stream is still to be
    /// read, which causes no further report. Guarded by the poller's gate.
    /// </summary>
    internal bool ReadsToTheEnd { get; set; }

    /// <summary>Of its handshake; null when that is over. Control thread.</summary>
    internal HandshakeTranscript? Transcript { get; set; } = new();

    /// <summary>The place among the pending handshakes while it has one, and since when; guarded by their gate.</summary>
    internal LinkedListNode<Link>? Handshake { get; set; }

    internal long HandshakeSince { get; set; }

    /// <summary>Where it has this place, and the place's number there.</summary>
    internal HandshakeQuota? HandshakeQuota { get; set; }

    internal int HandshakeIndex { get; set; }

    internal ByteStream Stream => _stream;

    internal bool IsAborted => Volatile.Read(ref _abortReason) != 0;

    /// <summary>Whether what arrives stays in the network for now.</summary>
    internal bool IsPaused => Volatile.Read(ref _pauses) != 0;

    internal DisconnectReason AbortReason => (DisconnectReason)Volatile.Read(ref _abortReason);

    /// <summary>
    /// Copies one frame into the link's buffer; <paramref name="head"/> and <paramref name="rest"/> together are its body. Any thread;
    /// frames leave in the order of acceptance. Raises <see cref="MeshEvents.SendPending"/> if the link was idle.
    /// </summary>
    public SendResult TryAppend(ReadOnlySpan<byte> head, ReadOnlySpan<byte> rest = default) => _sender.Append(head, rest, int.MaxValue);

    /// <summary>
    /// Like <see cref="TryAppend"/>, for a caller that will call <see cref="Flush"/> itself after some more frames (and may ignore that it
    /// returns <see cref="FlushResult.More"/>): raises no event, unless more than <see cref="MeshOptions.DeferredBytes"/> are pending.
    /// </summary>
    public SendResult TryAppendDeferred(ReadOnlySpan<byte> frame) => _sender.Append(frame, default, _node.Options.DeferredBytes);

    /// <summary>
    /// Completes when a frame of <paramref name="bodyBytes"/> may fit again or the link is closed; then try again. Waits until half of the
    /// buffer is free (all of it for a frame longer than half) so that senders do not return for every few bytes. All waiters share one
    /// task.
    /// </summary>
    public Task WaitForRoomAsync(int bodyBytes, CancellationToken cancellationToken = default) =>
        _sender.WaitForRoomAsync(bodyBytes, cancellationToken);

    /// <summary>
    /// Hands everything pending to the network in one non-blocking send. Any thread; concurrent calls wait for each other. A caller that
    /// was not asked by <see cref="MeshEvents.SendPending"/> may ignore <see cref="FlushResult.More"/>: that event was raised by the thread
    /// that appended the rest, or is raised by this call when it replaces the report of the poller.
    /// </summary>
    public FlushResult Flush() => _sender.Flush();

    /// <summary>Joins a session. Control thread.</summary>
    internal void Join(Session session, Channel channel, int index)
    {
        Invariant.Holds(Session is null);
        Session = session;
        Channel = channel;
        Index = index;
    }

    /// <summary>Sets the next phase of the handshake. Control thread.</summary>
    internal void Enter(LinkPhase phase)
    {
        Invariant.Holds(phase > _phase && phase <= LinkPhase.Held);
        _phase = phase;
        Transcript = phase == LinkPhase.Held ? null : Transcript;
    }

    /// <summary>Frames may flow from now on. Control thread; the poller that is to read it is assigned after this.</summary>
    internal void Open()
    {
        // It was closed meanwhile, and the end of its session follows: a stream that was freed must not be used.
        if (_phase == LinkPhase.Closed)
            return;

        Invariant.Holds(_phase == LinkPhase.Held);
        _phase = LinkPhase.Open;
        _sender.Open();
    }

    /// <inheritdoc cref="LinkReceiver.Receive"/>
    internal bool Receive(Poller poller) => _receiver.Receive(poller);

    /// <inheritdoc cref="LinkReceiver.DeliverTail"/>
    internal void DeliverTail(Poller poller) => _receiver.DeliverTail(poller);

    /// <inheritdoc cref="LinkSender.BecameWritable"/>
    internal void BecameWritable() => _sender.BecameWritable();

    /// <inheritdoc cref="LinkSender.SendKeepAlive"/>
    internal void SendKeepAlive() => _sender.SendKeepAlive();

    /// <inheritdoc cref="LinkSender.SendHandshake"/>
    internal void SendHandshake(ReadOnlySpan<byte> body) => _sender.SendHandshake(body);

    /// <inheritdoc cref="LinkSender.FinishSending"/>
    internal void FinishSending() => _sender.FinishSending();

    /// <summary>Tells the poller to close the link at once; pending frames are lost. Any thread; the first reason stays.</summary>
    internal void Abort(DisconnectReason reason)
    {
        // The mark must be visible before Poller is read: a move that is not seen here hands the link to a poller that sees the mark.
        if (Interlocked.CompareExchange(ref _abortReason, (int)reason, 0) == 0)
        {
            var poller = Poller;
            poller.Post(() => poller.CloseAborted(this), this);
        }
    }

    /// <summary>Reads no more until <see cref="ResumeReading"/> for the same reason. Any thread.</summary>
    internal void PauseReading(ReadPause reason) => Interlocked.Or(ref _pauses, (int)reason);

    /// <summary>Reads again, if it was paused for this reason and is for no other one. Any thread.</summary>
    internal void ResumeReading(ReadPause reason)
    {
        // The mark must be gone before Poller is read: a move that is not seen here hands the link to a poller that reads it.
        if (Interlocked.And(ref _pauses, ~(int)reason) == (int)reason)
        {
            var poller = Poller;
            poller.Post(() => poller.ReadAgain(this), this);
        }
    }

    /// <summary>Releases the stream and the buffers of the link.</summary>
    internal void Close(DisconnectReason reason)
    {
        Invariant.Holds(_phase != LinkPhase.Closed && !IsRegistered && !IsUnread);
        if (Invariant.AreChecked)
            Invariant.Holds(Poller.IsHeldByCaller);
        Interlocked.CompareExchange(ref _abortReason, (int)reason, 0);
        _phase = LinkPhase.Closed;
        _sender.Close();
        _receiver.Close();
        _node.LinkClosed(this);
    }
}

/// <summary>The phase of a link: one of the first five, then Held, Open, Closed. Any phase may be followed by Closed.</summary>
internal enum LinkPhase
{
    /// <summary>This end dialled and waits for the other end's greeting.</summary>
    AwaitGreeting,

    /// <summary>This end dialled, sent its hello and waits for the answer.</summary>
    AwaitAnswer,

    /// <summary>This end accepted and waits for the dialler's hello.</summary>
    AwaitHello,

    /// <summary>This end accepted, has sent its answer and waits for the dialler's claim.</summary>
    AwaitClaim,

    /// <summary>This end dialled, sent its claim and waits for the welcome.</summary>
    AwaitWelcome,

    /// <summary>The handshake is over; waits for the other links of its session. Nothing is read.</summary>
    Held,

    /// <summary>Frames flow.</summary>
    Open,

    /// <summary>The stream is closed.</summary>
    Closed,
}

/// <summary>A named class of traffic between two nodes; each has its own links so that none waits behind another.</summary>
public enum Channel : byte
{
    /// <summary>Probes, votes, directory hand-over: one link, read by the control poller but for large frames.</summary>
    Control = 1,

    /// <summary>Calls and replies: <see cref="MeshOptions.LinksPerPeer"/> links, read by the data pollers.</summary>
    Data = 2,
}

/// <summary>The result of appending a frame to a link.</summary>
public enum SendResult
{
    /// <summary>Copied into the link's buffer; it will be sent in order unless the link breaks.</summary>
    Accepted,

    /// <summary>The link's buffer holds <see cref="MeshOptions.SendQueueBytes"/>; see <see cref="Link.WaitForRoomAsync"/>.</summary>
    Full,

    /// <summary>The link is closed or closing; it will never accept a frame again.</summary>
    Closed,

    /// <summary>The frame exceeds <see cref="MeshOptions.MaxFrameBytes"/>; no link will ever accept it.</summary>
    TooLarge,
}

/// <summary>The result of a flush.</summary>
public enum FlushResult
{
    /// <summary>Nothing is pending. The next accepted frame raises <see cref="MeshEvents.SendPending"/>.</summary>
    Idle,

    /// <summary>Frames were appended during the flush; the caller must flush again.</summary>
    More,

    /// <summary>The network does not take more bytes now. <see cref="MeshEvents.SendPending"/> is raised when it does again.</summary>
    Blocked,

    /// <summary>The link is closed; nothing will be sent.</summary>
    Closed,
}

/// <summary>Buffers of links. An empty one belongs to nobody.</summary>
/// <remarks>
/// The shared pool keeps what it gets for minutes, and clients decide how many links have large buffers at once. So larger ones are kept
/// here, some of them, and only until the collector needs their memory. Any thread.
/// </remarks>
internal static class PooledBuffer
{
    /// <summary>Larger buffers are not from the shared pool.</summary>
    internal const int MostShared = 1 << 20;

    private static readonly WeakReference<byte[]>?[] Large = new WeakReference<byte[]>?[16];

    /// <summary>Replaces a buffer by a larger one with the same content.</summary>
    public static void Grow(ref byte[] buffer, int used, int need)
    {
        var larger = Rent((int)Math.Min(Math.Max(Math.Max(need, 4096), 2L * buffer.Length), Array.MaxLength));
        Invariant.Holds(used <= buffer.Length && larger.Length >= need);
        buffer.AsSpan(0, used).CopyTo(larger);
        GiveBack(ref buffer);
        buffer = larger;
    }

    public static void GiveBackIfLarge(ref byte[] buffer, int retained)
    {
        if (buffer.Length > retained)
            GiveBack(ref buffer);
    }

    public static void GiveBack(ref byte[] buffer)
    {
        if (buffer.Length > MostShared)
            Keep(buffer);
        else if (buffer.Length > 0)
            ArrayPool<byte>.Shared.Return(buffer);

        buffer = [];
    }

    private static byte[] Rent(int length)
    {
        if (length <= MostShared)
            return ArrayPool<byte>.Shared.Rent(length);

        // A power of two would be nearly twice a frame of 4 MiB, and what waits in links is limited by what was sent, not by its buffers.
        var eighth = 1L << (BitOperations.Log2((uint)length) - 3);
        var rounded = (int)Math.Min((length + eighth - 1) & -eighth, Array.MaxLength);
        foreach (ref var entry in Large.AsSpan())
        {
            // Of exactly this length, as from the shared pool: how much is read at once depends on it.
            if (Volatile.Read(ref entry) is { } kept && kept.TryGetTarget(out var buffer) && buffer.Length == rounded
                && Interlocked.CompareExchange(ref entry, null, kept) == kept)
            {
                return buffer;
            }
        }

        return GC.AllocateUninitializedArray<byte>(rounded);
    }

    private static void Keep(byte[] buffer)
    {
        foreach (ref var entry in Large.AsSpan())
        {
            if (Volatile.Read(ref entry) is not { } other || !other.TryGetTarget(out _))
            {
                Volatile.Write(ref entry, new WeakReference<byte[]>(buffer));
                return;
            }
        }
    }
}
