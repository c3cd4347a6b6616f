using System.Net;

namespace ActOp.Mesh;

/// <summary>
/// Another node, as seen from this one. At most one session is connected and at most one is in its handshake.
/// <para>Threads: the public members may be used from any thread. Sessions, timers and all decisions belong to the control thread.</para>
/// <para><b>When both ends dial.</b> Each end decides about a claim with what it knows then. (1) A dialler commits (sends its first claim,
/// after the answer has told it whom it has reached) only if no session with that identity is connected or arriving. (2) An acceptor that
/// has committed itself refuses the claim if its own name is the smaller one, and else drops its own dial and accepts. So of two crossing
/// dials exactly the one of the smaller name survives. (3) The dropped dial had not been welcomed on any link (by 1 its target would not
/// have committed), so no frame was ever accepted on it: none is lost. (4) A claim that meets a connected session is refused, unless it
/// comes from the dialler of that session with a newer number, or says (Supersedes) that its sender has known that session: then the sender
/// has lost it, and it is replaced. (5) All this is between two processes: a claim without the token of the name's owner is refused before
/// (<see cref="NameOwners"/>).</para>
/// </summary>
public sealed class Peer
{
    private readonly MeshNode _node;
    private volatile Link[]? _data;

    /// <summary>The data links with and without a name.</summary>
    private volatile Link[]? _all;

    /// <summary>The data links for each name of the options.</summary>
    private volatile Link[][]? _named;
    private volatile Link? _control;
    private volatile NodeId? _id;
    private volatile Peer? _mergedInto;
    private volatile bool _closed;
    private volatile DialFailure? _lastFailure;

    internal Peer(MeshNode node, EndPoint? endPoint, NodeId? id, bool identityIsExpected)
    {
        _node = node;
        EndPoint = endPoint;
        IdentityIsExpected = identityIsExpected;
        _id = id;
    }

    /// <summary>The endpoint to dial; null for a peer that only dials this node.</summary>
    public EndPoint? EndPoint { get; internal set; }

    /// <summary>Its identity; null until the first handshake if it was dialled by endpoint only.</summary>
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

    /// <summary>The state of its session.</summary>
    public PeerState State
        => _mergedInto is { } other ? other.State : _closed ? PeerState.Closed : _data is null ? PeerState.Connecting : PeerState.Connected;

    /// <summary>Whether it is dialled again when a dial fails or the session is lost. True for dialled peers until set otherwise.</summary>
    public bool Keep { get; set; } = true;

    /// <summary>State that the runtime attaches to this peer.</summary>
    public object? Tag { get; set; }

    /// <summary>
    /// A random number by which all nodes know the process of a client that has dialled them; 0 if it is another node, or has shown none. A
    /// name may belong to one process here and to another one elsewhere; nodes that trust each other compare this. Clients never get to
    /// know that of another.
    /// </summary>
    public ulong Mark { get; private set; }

    /// <summary>
    /// Connected, and has dialled this node and proved a secret of operators on each link: <see cref="MeshOptions.OperatorSecrets"/>.
    /// </summary>
    public bool IsOperator { get; private set; }

    /// <summary>
    /// Connected, and has dialled this node and proved a secret of this tenant on each link: <see cref="MeshOptions.TenantSecrets"/>. Null:
    /// bound to none.
    /// </summary>
    public string? Tenant { get; private set; }

    /// <summary>The control link; null unless connected.</summary>
    public Link? Control => _mergedInto is { } other ? other.Control : _control;

    /// <summary>The version of the protocol that both ends speak; 0 unless connected.</summary>
    public int ProtocolVersion => Control?.ProtocolVersion ?? 0;

    /// <summary>Number of data links without a name; 0 unless connected.</summary>
    public int DataLinks => Data?.Length ?? 0;

    /// <summary>All data links, also the named ones; empty unless connected.</summary>
    public IReadOnlyList<Link> Links => All ?? [];

    /// <summary>Why the last dial failed; null before the first failure, and after a dial that did not fail.</summary>
    public DialFailure? LastFailure
    {
        get => _mergedInto is { } other ? other.LastFailure : _lastFailure;
        internal set => _lastFailure = value;
    }

    internal bool IdentityIsExpected { get; set; }

    /// <summary>The session that was announced by PeerConnected and whose end has not been announced.</summary>
    internal Session? Current { get; set; }

    /// <summary>The session in its handshake: accepted, or dialled and committed.</summary>
    internal Session? Arriving { get; set; }

    /// <summary>The dial of this node, committed or not.</summary>
    internal Session? Dial { get; set; }

    internal ITimer? Redial { get; set; }

    internal int Failures { get; set; }

    /// <summary>The failed dial that was logged last, and its time stamp.</summary>
    internal (DisconnectReason Reason, long At) Logged { get; set; }

    /// <summary>The newest session that the peer dialled and that was connected here.</summary>
    internal ulong LastAccepted { get; set; }

    internal bool IsClosed => _closed;

    /// <summary>The data links; null unless connected.</summary>
    private Link[]? Data => _mergedInto is { } other ? other.Data : _data;

    private Link[]? All => _mergedInto is { } other ? other.All : _all;

    private Link[][]? Named => _mergedInto is { } other ? other.Named : _named;

    /// <summary>
    /// The data link for a key: the same key has the same link as long as the session lasts, so its frames stay in order. Null unless
    /// connected.
    /// </summary>
    public Link? GetLink(uint affinityHash)
    {
        var links = Data;
        return links is null ? null : links.Length == 1 ? links[0] : links[affinityHash % (uint)links.Length];
    }

    /// <summary>As <see cref="GetLink(uint)"/>, among the links of a name. Those without a name if the session has none for it.</summary>
    /// <param name="affinityHash">The key.</param>
    /// <param name="name">The number of the name in <see cref="MeshOptions.NamedLinks"/>, from 1; 0 for the links without a name.</param>
    public Link? GetLink(uint affinityHash, int name)
    {
        if (name == 0)
            return GetLink(affinityHash);
        var links = Named?[name - 1];
        return links?[affinityHash % (uint)links.Length];
    }

    /// <summary>
    /// Removes the peer: accepts no more frames, sends what was accepted, delivers what the other end has sent, closes, and does not dial
    /// again. PeerDisconnected follows if it was connected.
    /// </summary>
    public void Close() => _node.Close(this);

    /// <summary>
    /// Leaves what arrives on its data links in the network, so that the other end has to wait; what was read already is still delivered.
    /// The control link is read, so the session stays. Ends by <see cref="ResumeReading"/> for the same reason, or with the session. Calls
    /// of both for one reason must not overlap.
    /// </summary>
    public void PauseReading(ReadPause reason)
    {
        foreach (var link in Links)
            link.PauseReading(reason);
    }

    /// <summary>Reads its data links again if there is no other reason; without effect if they are not paused for this one.</summary>
    public void ResumeReading(ReadPause reason)
    {
        foreach (var link in Links)
            link.ResumeReading(reason);
    }

    internal void MergeInto(Peer other)
    {
        Invariant.Holds(_mergedInto is null && other != this);
        _mergedInto = other;
    }

    internal void MarkClosed() => _closed = true;

    internal void Publish(Session? session)
    {
        Mark = session?.Mark ?? 0;
        IsOperator = session is { IsDialled: false, IsOperator: true };
        Tenant = session is { IsDialled: false } ? session.Tenant : null;
        _control = session?.Control;
        var all = session?.Data();
        _all = all;
        _named = all is null ? null
            : [.. _node.Options.NamedLinks.Select(own => session!.Layout.LinksOf(own.Name, all))];
        _data = all is null ? null : session!.Layout.Unnamed(all);
    }
}

/// <summary>The state of a peer.</summary>
public enum PeerState
{
    /// <summary>No session; one is being dialled, waited for, or due after the back-off.</summary>
    Connecting,

    /// <summary>All links of a session are open.</summary>
    Connected,

    /// <summary>Removed; a new <see cref="MeshNode.Connect"/> creates a new peer.</summary>
    Closed,
}

/// <summary>
/// The identity of one run of one process. The mesh treats the name as opaque text (a silo uses "ip:port@generation",
/// a client a guid) and only compares it, by ordinal, to decide which connection remains when both ends dial.
/// </summary>
/// <param name="Name">Unique per run of a process; 1 to <see cref="MaxNameBytes"/> bytes of UTF-8.</param>
/// <param name="Kind">Silo or client.</param>
public sealed record NodeId(string Name, NodeKind Kind) : IComparable<NodeId>
{
    /// <summary>The longest name, in UTF-8 bytes, that fits a handshake frame.</summary>
    public const int MaxNameBytes = 1024;

    /// <inheritdoc/>
    public int CompareTo(NodeId? other) => other is null ? 1 : string.CompareOrdinal(Name, other.Name);

    /// <inheritdoc/>
    public override string ToString() => Name;
}

/// <summary>The kind of a node; part of the handshake.</summary>
public enum NodeKind : byte
{
    /// <summary>A server process: others may dial it and it dials others.</summary>
    Silo = 1,

    /// <summary>A process that only dials.</summary>
    Client = 2,
}

/// <summary>Why a peer is not read for a while. Each reason pauses and resumes on its own.</summary>
[Flags]
public enum ReadPause
{
    /// <summary>What it has sent cannot be worked on yet.</summary>
    Requests = 1,

    /// <summary>It does not read what is sent to it.</summary>
    Answers = 2,
}
