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
    /// Bytes accepted but not yet taken by the network, per link, before <see cref="SendResult.Full"/>. One frame always fits an empty
    /// link.
    /// </summary>
    public int SendQueueBytes { get; set; } = 8 << 20;

    /// <summary>The largest frame body either way; a longer one that arrives closes the link.</summary>
    public int MaxFrameBytes { get; set; } = 100 << 20;

    /// <summary>Size of each poller's receive buffer; a longer frame is collected in a buffer of its link.</summary>
    public int ReceiveBufferBytes { get; set; } = 256 << 10;

    /// <summary>
    /// About how many bytes <see cref="Poller.Poll"/> reads and delivers before it returns, so that what they bring about is done while it
    /// is in the processor's caches, and answers leave before more is read. A frame longer than this is read whole. Default 8 KiB: some
    /// hundred small frames.
    /// </summary>
    public int ReadBytes { get; set; } = 8 << 10;

    /// <summary>
    /// For how long a data poller looks for something to read before its thread sleeps, while that pays: when waits are short, one after
    /// the other, and no other thread wants the processor. <see cref="TimeSpan.Zero"/>: never. Default 50 us: about what a sleep and its
    /// end cost.
    /// </summary>
    public TimeSpan Spin { get; set; } = TimeSpan.FromMicroseconds(50);

    /// <summary>A link's buffer that has grown beyond this is given back once it is empty.</summary>
    public int RetainedBufferBytes { get; set; } = 1 << 20;

    /// <summary>Pending bytes of a link beyond which <see cref="Link.TryAppendDeferred"/> asks for a flush like other appends.</summary>
    public int DeferredBytes { get; set; } = 32 << 10;

    /// <summary>From connect to the last welcome; also how long an orderly close waits for the other end.</summary>
    public TimeSpan HandshakeTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// From accepting a connection to the first byte of its dialler, who has only to answer our greeting: one round trip. Default 2 s: far
    /// beyond any, and strangers that say nothing hold a descriptor no longer.
    /// </summary>
    public TimeSpan FirstByteTimeout { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// Accepted connections that have not finished their handshake. One more takes the place of the oldest one that has said nothing yet,
    /// else of the oldest: whoever answers at once gets in.
    /// </summary>
    public int MaxPendingHandshakes { get; set; } = 1024;

    /// <summary>First wait after a failed dial or a lost session; doubled for each failure.</summary>
    public TimeSpan ReconnectMin { get; set; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Longest wait between dials.</summary>
    public TimeSpan ReconnectMax { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Longest wait between dials of an endpoint whose node is not known yet: somebody waits to hear who is there. Default 200 ms: a
    /// process that starts is found at once, and a dial that is refused costs next to nothing.
    /// </summary>
    public TimeSpan SearchMax { get; set; } = TimeSpan.FromMilliseconds(200);

    /// <summary>
    /// How often a node says on each session's control link that it is there, by an empty frame of 4 bytes. <see cref="TimeSpan.Zero"/>:
    /// never. Default 5 s: several within <see cref="KeepAliveTimeout"/>, so that one that is late ends nothing.
    /// </summary>
    public TimeSpan KeepAliveInterval { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// A session from which nothing has come for this long (at least three of the intervals that the other end has announced) is closed: a
    /// host that vanished says no word, and its connections would stay for ever. <see cref="TimeSpan.Zero"/>: never. Default 30 s: longer
    /// than pauses that a process survives, and than a cluster's failure detection takes, which decides about silos itself. Time in which
    /// this process stands still does not count.
    /// </summary>
    public TimeSpan KeepAliveTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Seed of the reconnect jitter (each wait is drawn from [half, whole]).</summary>
    public int Seed { get; set; }

    /// <summary>How often a node looks after its sessions; null if it neither says nor expects anything.</summary>
    internal TimeSpan? KeepAlivePeriod
        => KeepAliveInterval > TimeSpan.Zero ? KeepAliveInterval : KeepAliveTimeout > TimeSpan.Zero ? KeepAliveTimeout / 4 : null;

    /// <summary>Throws <see cref="ArgumentException"/> naming the first option that is out of range.</summary>
    public void Validate()
    {
        Check(WireLimits.IsName(ClusterId, 512), nameof(ClusterId), "must have 1 to 512 bytes");
        Check(WireLimits.IsName(ServiceId, 512), nameof(ServiceId), "must have 1 to 512 bytes");
        Check(LinksPerPeer is >= 1 and <= WireLimits.LinksPerPeer, nameof(LinksPerPeer), "must be 1 to 64");
        Check(SendQueueBytes is >= 1024 and <= 1 << 30, nameof(SendQueueBytes), "must be 1 KiB to 1 GiB");
        Check(MaxFrameBytes is >= 64 and <= 1 << 30, nameof(MaxFrameBytes), "must be 64 bytes to 1 GiB");
        // A handshake frame must fit one read so that it never needs the large-frame path.
        Check(ReceiveBufferBytes is >= 2 * WireLimits.HandshakeBytes and <= 64 << 20, nameof(ReceiveBufferBytes), "must be 8 KiB to 64 MiB");
        Check(Spin >= TimeSpan.Zero && Spin <= TimeSpan.FromMilliseconds(10), nameof(Spin), "must be zero (never) or up to 10 ms");
        Check(ReadBytes >= 1024 && ReadBytes <= ReceiveBufferBytes, nameof(ReadBytes), "must be 1 KiB to ReceiveBufferBytes");
        Check(RetainedBufferBytes >= 4096, nameof(RetainedBufferBytes), "must be at least 4 KiB");
        Check(DeferredBytes >= 0, nameof(DeferredBytes), "must not be negative");
        Check(HandshakeTimeout > TimeSpan.Zero, nameof(HandshakeTimeout), "must be positive");
        Check(FirstByteTimeout > TimeSpan.Zero, nameof(FirstByteTimeout), "must be positive");
        Check(KeepAliveInterval >= TimeSpan.Zero && KeepAliveInterval.TotalMilliseconds <= int.MaxValue, nameof(KeepAliveInterval), "must be zero (never) or up to 24 days");
        Check(KeepAliveTimeout >= TimeSpan.Zero, nameof(KeepAliveTimeout), "must not be negative");
        Check(MaxPendingHandshakes > 0, nameof(MaxPendingHandshakes), "must be positive");
        Check(ReconnectMin > TimeSpan.Zero, nameof(ReconnectMin), "must be positive");
        Check(SearchMax >= ReconnectMin, nameof(SearchMax), "must not be less than ReconnectMin");
        Check(ReconnectMax >= ReconnectMin, nameof(ReconnectMax), "must not be less than ReconnectMin");
    }

    private static void Check(bool valid, string option, string rule)
    {
        if (!valid)
        {
            throw new ArgumentException($"MeshOptions.{option} {rule}.", option);
        }
    }
}
