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

    /// <summary>Bytes accepted but not yet taken by the network, per link, before <see cref="SendResult.Full"/>. One frame always fits an empty link.</summary>
    public int SendQueueBytes { get; set; } = 8 << 20;

    /// <summary>The largest frame body either way; a longer one that arrives closes the link.</summary>
    public int MaxFrameBytes { get; set; } = 100 << 20;

    /// <summary>Size of each poller's receive buffer: the most one read takes.</summary>
    public int ReceiveBufferBytes { get; set; } = 256 << 10;

    /// <summary>A link's buffer that has grown beyond this is given back once it is empty.</summary>
    public int RetainedBufferBytes { get; set; } = 1 << 20;

    /// <summary>Pending bytes of a link beyond which <see cref="Link.TryAppendDeferred"/> asks for a flush like other appends.</summary>
    public int DeferredBytes { get; set; } = 32 << 10;

    /// <summary>From connect to the last welcome; also how long an orderly close waits for the other end.</summary>
    public TimeSpan HandshakeTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Accepted connections that have not finished their handshake; more are closed at once.</summary>
    public int MaxPendingHandshakes { get; set; } = 1024;

    /// <summary>First wait after a failed dial or a lost session; doubled for each failure.</summary>
    public TimeSpan ReconnectMin { get; set; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Longest wait between dials.</summary>
    public TimeSpan ReconnectMax { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Seed of the reconnect jitter (each wait is drawn from [half, whole]).</summary>
    public int Seed { get; set; }

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
        Check(RetainedBufferBytes >= 4096, nameof(RetainedBufferBytes), "must be at least 4 KiB");
        Check(DeferredBytes >= 0, nameof(DeferredBytes), "must not be negative");
        Check(HandshakeTimeout > TimeSpan.Zero, nameof(HandshakeTimeout), "must be positive");
        Check(MaxPendingHandshakes > 0, nameof(MaxPendingHandshakes), "must be positive");
        Check(ReconnectMin > TimeSpan.Zero, nameof(ReconnectMin), "must be positive");
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
