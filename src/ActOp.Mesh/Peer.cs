using System.Net;

namespace ActOp.Mesh;

/// <summary>
/// Another node, as seen from this one. At most one session is connected and at most one is in its handshake.
/// <para>Threads: the public members may be used from any thread. Sessions, timers and all decisions belong to the control thread.</para>
/// <para><b>When both ends dial.</b> Each end decides about a hello with what it knows then. (1) A dialler commits (sends its first hello)
/// only if no session with that identity is connected or arriving. (2) An acceptor that has committed itself refuses the hello if its own
/// name is the smaller one, and else drops its own dial and accepts. So of two crossing dials exactly the one of the smaller name survives.
/// (3) The dropped dial had not been welcomed on any link (by 1 its target would not have committed), so no frame was ever accepted on it:
/// none is lost. (4) A hello that meets a connected session is refused, unless it comes from the dialler of that session with a newer
/// number, or says (Supersedes) that its sender has known that session: then the sender has lost it, and it is replaced.</para>
/// </summary>
public sealed class Peer
{
    private readonly MeshNode _node;
    private volatile Link[]? _data;
    private volatile Link? _control;
    private volatile NodeId? _id;
    private volatile Peer? _mergedInto;
    private volatile bool _closed;

    internal Peer(MeshNode node, EndPoint? endPoint, NodeId? id, bool identityIsExpected)
    {
        _node = node;
        EndPoint = endPoint;
        IdentityIsExpected = identityIsExpected;
        _id = id;
    }

    /// <summary>Where we dial it; null for a peer that only dials us.</summary>
    public EndPoint? EndPoint { get; internal set; }

    /// <summary>Who it is; null until the first handshake when it was dialled by endpoint only.</summary>
    public NodeId? Id
    {
        get => _mergedInto is { } other ? other.Id : _id;
        internal set => _id = value;
    }

    /// <summary>The identity if known, else the endpoint: for logs.</summary>
    public string Name => Id?.Name ?? EndPoint?.ToString() ?? "?";

    /// <summary>
    /// The peer that this one turned out to be: it was dialled by endpoint only and the node behind was known already. Events name that
    /// one; the links are the same.
    /// </summary>
    public Peer? MergedInto => _mergedInto;

    /// <summary>Where it stands.</summary>
    public PeerState State
        => _mergedInto is { } other ? other.State : _closed ? PeerState.Closed : _data is null ? PeerState.Connecting : PeerState.Connected;

    /// <summary>Whether it is dialled again when a dial fails or the session is lost. True for dialled peers until set otherwise.</summary>
    public bool Keep { get; set; } = true;

    /// <summary>A place for the runtime's own state of this peer.</summary>
    public object? Tag { get; set; }

    /// <summary>The control link; null unless connected.</summary>
    public Link? Control => _mergedInto is { } other ? other.Control : _control;

    /// <summary>Number of data links; 0 unless connected.</summary>
    public int DataLinks => _mergedInto is { } other ? other.DataLinks : _data?.Length ?? 0;

    internal bool IdentityIsExpected { get; set; }

    /// <summary>The session that was announced by PeerConnected and whose end has not been announced.</summary>
    internal Session? Current { get; set; }

    /// <summary>The session in its handshake: accepted, or dialled and committed.</summary>
    internal Session? Arriving { get; set; }

    /// <summary>Our dial, committed or not.</summary>
    internal Session? Dial { get; set; }

    internal ITimer? Redial { get; set; }

    internal int Failures { get; set; }

    /// <summary>The newest session that the peer dialled and we knew connected.</summary>
    internal ulong LastAccepted { get; set; }

    internal bool IsClosed => _closed;

    /// <summary>
    /// The data link for a key: the same key has the same link as long as the session lasts, so its frames stay in order. Null unless
    /// connected.
    /// </summary>
    public Link? GetLink(uint affinityHash)
    {
        if (_mergedInto is { } other)
        {
            return other.GetLink(affinityHash);
        }

        var links = _data;
        return links is null ? null : links.Length == 1 ? links[0] : links[affinityHash % (uint)links.Length];
    }

    /// <summary>
    /// Removes the peer: accepts no more frames, sends what was accepted, delivers what the other end has sent, closes, and dials no more.
    /// PeerDisconnected follows if it was connected.
    /// </summary>
    public void Close() => _node.Close(this);

    internal void MergeInto(Peer other) => _mergedInto = other;

    internal void MarkClosed() => _closed = true;

    internal void Publish(Session? session)
    {
        _control = session?.Control;
        _data = session?.Data();
    }
}

/// <summary>Where a peer stands.</summary>
public enum PeerState
{
    /// <summary>No session; one is being dialled, waited for, or due after the back-off.</summary>
    Connecting,

    /// <summary>All links of a session are open.</summary>
    Connected,

    /// <summary>Removed; a new <see cref="MeshNode.Connect"/> makes a new peer.</summary>
    Closed,
}
