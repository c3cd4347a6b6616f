using System.Collections.ObjectModel;
using System.Security.Cryptography;

namespace ActOp.Mesh;

/// <summary>Limits and times of one mesh node. Sizes in bytes.</summary>
public sealed class MeshOptions
{
    /// <summary>Both ends must carry the same cluster id; otherwise the handshake is refused. Up to 512 bytes of UTF-8.</summary>
    public string ClusterId { get; set; } = "default";

    /// <summary>Both ends must carry the same service id; otherwise the handshake is refused. Up to 512 bytes of UTF-8.</summary>
    public string ServiceId { get; set; } = "default";

    /// <summary>Parallel data links per peer, decided by the end that dials. 1 to 64.</summary>
    public int LinksPerPeer { get; set; } = 1;

    /// <summary>
    /// Further data links of each peer that carry named frames only (<see cref="Peer.GetLink(uint, int)"/>), decided by the end that
    /// dials. The number of a name is its place in this list, from 1. At most 16 names, and 64 data links in all. Default: none.
    /// </summary>
    public IReadOnlyList<NamedLinks> NamedLinks { get; set; } = [];

    /// <summary>
    /// Bytes accepted but not yet taken by the network, per link, before <see cref="SendResult.Full"/>. One frame always fits an empty
    /// link. The data links of a client's session share it, with 64 KiB each at least.
    /// </summary>
    public int SendQueueBytes { get; set; } = 8 << 20;

    /// <summary>The largest frame body either way; a longer one that arrives closes the link.</summary>
    public int MaxFrameBytes { get; set; } = 100 << 20;

    /// <summary>The largest frame body from a client; a longer one closes its link. Null: <see cref="MaxFrameBytes"/>.</summary>
    public int? MaxClientFrameBytes { get; set; }

    /// <summary>
    /// The memory for frames that have begun to arrive, over all links. Beyond it, the remote address that holds most of it loses the link
    /// that holds most. At least <see cref="MaxFrameBytes"/>. Default 512 MiB.
    /// </summary>
    public long MaxUnfinishedBytes { get; set; } = 512L << 20;

    /// <summary>
    /// The part of <see cref="MaxUnfinishedBytes"/> for links of clients, with what waits for clients that do not read. Default 256 MiB.
    /// </summary>
    public long MaxUnfinishedClientBytes { get; set; } = 256L << 20;

    /// <summary>Open connections of each listener, those in their handshake included; further ones are refused.</summary>
    public int MaxConnections { get; set; } = 16_384;

    /// <summary>Open accepted connections of each remote address; further ones are refused.</summary>
    public int MaxConnectionsPerAddress { get; set; } = 4_096;

    /// <summary>
    /// Dials in a second, each of one session with all its links. Further ones wait. Default 500: a dial costs both ends little, and more
    /// are needed only by mistake.
    /// </summary>
    public int MaxDialsPerSecond { get; set; } = 500;

    /// <summary>Size of each poller's receive buffer; a longer frame is collected in a buffer of its link.</summary>
    public int ReceiveBufferBytes { get; set; } = 256 << 10;

    /// <summary>
    /// While a frame of more than so many bytes arrives, its link is read by <see cref="MeshNode.LargeFramePoller"/>, so that the other
    /// links do not wait for it. More than <see cref="ReadBytes"/>. Default null: the node has no such poller.
    /// </summary>
    public int? LargeFrameBytes { get; set; }

    /// <summary>
    /// The approximate number of bytes that <see cref="Poller.Poll"/> reads and delivers before it returns. The work that they cause then
    /// runs while they are in the processor's caches, and responses are sent before more is read. A longer frame is read completely.
    /// Default 8 KiB: about a hundred small frames.
    /// </summary>
    public int ReadBytes { get; set; } = 8 << 10;

    /// <summary>
    /// How long a data poller polls for data before its thread blocks. It spins only while consecutive waits are short and no other thread
    /// needs the processor. <see cref="TimeSpan.Zero"/> disables spinning. Default 50 us: about the cost of blocking and waking up.
    /// </summary>
    public TimeSpan Spin { get; set; } = TimeSpan.FromMicroseconds(50);

    /// <summary>A link's buffer that has grown beyond this size is released once it is empty.</summary>
    public int RetainedBufferBytes { get; set; } = 1 << 20;

    /// <summary>Pending bytes of a link above which <see cref="Link.TryAppendDeferred"/> requests a flush, as other appends do.</summary>
    public int DeferredBytes { get; set; } = 32 << 10;

    /// <summary>The limit from connect to the last welcome, and of an orderly close.</summary>
    public TimeSpan HandshakeTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// The limit from accepting a connection to the first byte of its dialler, which normally arrives after one round trip. Default 2 s:
    /// longer than any round trip; connections that send nothing do not hold a descriptor for longer.
    /// </summary>
    public TimeSpan FirstByteTimeout { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// Limit of the accepted connections that have not shown yet what they know, and of those that have and are not done. Beyond it, a new
    /// connection replaces another one by chance, first of an address that has more than a quarter: a flood gains nothing by being fast.
    /// </summary>
    public int MaxPendingHandshakes { get; set; } = 1024;

    /// <summary>First wait after a failed dial or a lost session; doubled for each failure.</summary>
    public TimeSpan ReconnectMin { get; set; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Longest wait between dials.</summary>
    public TimeSpan ReconnectMax { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Longest wait between dials of an endpoint whose node is not known yet. Default 200 ms: a process that starts is found quickly, and a
    /// refused dial costs little. A node whose settings do not fit is dialled again after <see cref="ReconnectMax"/>.
    /// </summary>
    public TimeSpan SearchMax { get; set; } = TimeSpan.FromMilliseconds(200);

    /// <summary>
    /// How often a node sends a keep-alive, an empty frame of 4 bytes, on the control link of each session. <see cref="TimeSpan.Zero"/>
    /// disables it. Default 5 s: several within <see cref="KeepAliveTimeout"/>, so that one late keep-alive does not end a session.
    /// </summary>
    public TimeSpan KeepAliveInterval { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// A session that has received nothing for this long is closed, or for three of the intervals that the other end has announced, up to
    /// three times this long, which is also the limit for one that announces none.
    /// Without it, the connections of a host that has disappeared would remain open. <see cref="TimeSpan.Zero"/> disables it. Default 30 s:
    /// longer than pauses that a process survives and longer than the cluster's failure detection, which decides about silos itself. Time
    /// in which this process is suspended does not count.
    /// </summary>
    public TimeSpan KeepAliveTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// The secrets of silos: both ends of a connection between silos prove in the handshake that they know one. The first one is used to
    /// dial, all are accepted, so that a secret can be replaced without a stop. Each at least 16 bytes. Empty: none is asked for.
    /// </summary>
    public IReadOnlyList<byte[]> SiloSecrets { get; set; } = [];

    /// <summary>
    /// The secrets of clients, as <see cref="SiloSecrets"/>. They prove nothing at a listener for silos, even if they have the same bytes.
    /// </summary>
    public IReadOnlyList<byte[]> ClientSecrets { get; set; } = [];

    /// <summary>
    /// The secrets of operators, as <see cref="SiloSecrets"/>. A client that has one dials with the first; at a listener for clients they
    /// are accepted beside <see cref="ClientSecrets"/>, and mark the peer (<see cref="Peer.IsOperator"/>). Empty: there are no operators.
    /// </summary>
    public IReadOnlyList<byte[]> OperatorSecrets { get; set; } = [];

    /// <summary>
    /// The secrets of clients that are bound to a tenant, by its name: as <see cref="SiloSecrets"/>, for each of them. A client that has
    /// proved one is marked (<see cref="Peer.Tenant"/>). On a client: the secrets of its own <see cref="Tenant"/>.
    /// </summary>
    public IReadOnlyDictionary<string, IReadOnlyList<byte[]>> TenantSecrets { get; set; } =
        ReadOnlyDictionary<string, IReadOnlyList<byte[]>>.Empty;

    /// <summary>The tenant that this client is bound to; it dials with the first of its <see cref="TenantSecrets"/>. Null: none.</summary>
    public string? Tenant { get; set; }

    /// <summary>The source of nonces and tokens. Any thread. Default: the random numbers of the operating system.</summary>
    public RandomBytes Random { get; set; } = RandomNumberGenerator.Fill;

    /// <summary>
    /// Names of other nodes that are remembered: those with a session, and those whose session ended within
    /// <see cref="NameReservation"/>. Beyond it, a new node is refused.
    /// </summary>
    public int MaxPeers { get; set; } = 65_536;

    /// <summary>
    /// How long a name without a session stays reserved for the process that has used it. Default 30 s: longer than a reconnect takes.
    /// </summary>
    public TimeSpan NameReservation { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Seed of the reconnect jitter (each wait is drawn from [half, whole]).</summary>
    public int Seed { get; set; }

    /// <summary>The highest version of the protocol that the node speaks. For tests: with a lower one, it is of an earlier build.</summary>
    internal ushort HighestVersion { get; set; } = HandshakeFrame.HighestVersion;

    /// <summary>The data links of a session that this node dials.</summary>
    internal int AllLinks => LinksPerPeer + NamedLinks.Sum(static one => one.Links);

    /// <summary>How often a node sends and checks keep-alives; null if both are disabled.</summary>
    internal TimeSpan? KeepAlivePeriod
        => KeepAliveInterval > TimeSpan.Zero ? KeepAliveInterval : KeepAliveTimeout > TimeSpan.Zero ? KeepAliveTimeout / 4 : null;

    /// <summary>Throws <see cref="ArgumentException"/> naming the first option that is out of range.</summary>
    public void Validate()
    {
        Check(WireLimits.IsName(ClusterId, 512), nameof(ClusterId), "must have 1 to 512 bytes");
        Check(WireLimits.IsName(ServiceId, 512), nameof(ServiceId), "must have 1 to 512 bytes");
        Check(LinksPerPeer is >= 1 and <= WireLimits.LinksPerPeer, nameof(LinksPerPeer), "must be 1 to 64");
        Check(NamedLinks.Count <= LinkLayout.MaxNames && NamedLinks.DistinctBy(static one => one.Name).Count() == NamedLinks.Count
            && NamedLinks.All(static one => WireLimits.IsName(one.Name, LinkLayout.MaxNameBytes)),
            nameof(NamedLinks), "must have 16 different names at most, of 1 to 64 bytes");
        Check(NamedLinks.All(static one => one.Links >= 1) && AllLinks <= WireLimits.LinksPerPeer, nameof(NamedLinks),
            "must have 1 link or more for each name, and 64 in all with LinksPerPeer");
        Check(SendQueueBytes is >= 1024 and <= 1 << 30, nameof(SendQueueBytes), "must be 1 KiB to 1 GiB");
        Check(MaxFrameBytes is >= 64 and <= 1 << 30, nameof(MaxFrameBytes), "must be 64 bytes to 1 GiB");
        var clientFrame = MaxClientFrameBytes ?? MaxFrameBytes;
        var isClientFrame = clientFrame >= 64 && clientFrame <= MaxFrameBytes;
        Check(isClientFrame, nameof(MaxClientFrameBytes), "must be 64 bytes to MaxFrameBytes");
        Check(MaxUnfinishedBytes >= MaxFrameBytes, nameof(MaxUnfinishedBytes), "must be at least MaxFrameBytes");
        Check(MaxUnfinishedClientBytes >= clientFrame, nameof(MaxUnfinishedClientBytes), "must be at least MaxClientFrameBytes");
        Check(MaxConnections > 0, nameof(MaxConnections), "must be positive");
        Check(MaxConnectionsPerAddress > 0, nameof(MaxConnectionsPerAddress), "must be positive");
        Check(MaxDialsPerSecond > 0, nameof(MaxDialsPerSecond), "must be positive");
        // A handshake frame must fit one read so that it never needs the large-frame path.
        var isBuffer = ReceiveBufferBytes is >= 2 * WireLimits.HandshakeBytes and <= 64 << 20;
        Check(isBuffer, nameof(ReceiveBufferBytes), "must be 8 KiB to 64 MiB");
        Check(Spin >= TimeSpan.Zero && Spin <= TimeSpan.FromMilliseconds(10), nameof(Spin), "must be zero (never) or up to 10 ms");
        Check(ReadBytes >= 1024 && ReadBytes <= ReceiveBufferBytes, nameof(ReadBytes), "must be 1 KiB to ReceiveBufferBytes");
        Check(LargeFrameBytes is null || LargeFrameBytes > ReadBytes, nameof(LargeFrameBytes), "must be null or more than ReadBytes");
        Check(RetainedBufferBytes >= 4096, nameof(RetainedBufferBytes), "must be at least 4 KiB");
        Check(DeferredBytes >= 0, nameof(DeferredBytes), "must not be negative");
        Check(HandshakeTimeout > TimeSpan.Zero, nameof(HandshakeTimeout), "must be positive");
        Check(FirstByteTimeout > TimeSpan.Zero, nameof(FirstByteTimeout), "must be positive");
        var isInterval = KeepAliveInterval >= TimeSpan.Zero && KeepAliveInterval.TotalMilliseconds <= int.MaxValue;
        Check(isInterval, nameof(KeepAliveInterval), "must be zero (never) or up to 24 days");
        Check(KeepAliveTimeout >= TimeSpan.Zero, nameof(KeepAliveTimeout), "must not be negative");
        Check(SiloSecrets.All(IsLong), nameof(SiloSecrets), "must have at least 16 bytes each");
        Check(ClientSecrets.All(IsLong), nameof(ClientSecrets), "must have at least 16 bytes each");
        Check(OperatorSecrets.All(IsLong), nameof(OperatorSecrets), "must have at least 16 bytes each");
        Check(TenantSecrets.Keys.All(static name => WireLimits.IsName(name, WireLimits.TenantBytes)), nameof(TenantSecrets),
            "must have names of 1 to 800 bytes");
        Check(TenantSecrets.Values.All(static secrets => secrets.Count > 0 && secrets.All(IsLong)), nameof(TenantSecrets),
            "must have a secret for each tenant, of at least 16 bytes");
        Check(Tenant is null || TenantSecrets.ContainsKey(Tenant), nameof(Tenant), "must have a secret in TenantSecrets");
        Check(MaxPeers > 0, nameof(MaxPeers), "must be positive");
        Check(NameReservation >= TimeSpan.Zero, nameof(NameReservation), "must not be negative");
        Check(MaxPendingHandshakes > 0, nameof(MaxPendingHandshakes), "must be positive");
        Check(ReconnectMin > TimeSpan.Zero, nameof(ReconnectMin), "must be positive");
        Check(SearchMax >= ReconnectMin, nameof(SearchMax), "must not be less than ReconnectMin");
        Check(ReconnectMax >= ReconnectMin, nameof(ReconnectMax), "must not be less than ReconnectMin");
    }

    private static bool IsLong(byte[] secret) => secret.Length >= 16;

    private static void Check(bool valid, string option, string rule)
    {
        if (!valid)
            throw new ArgumentException($"MeshOptions.{option} {rule}.", option);
    }
}
