using ActOp.Mesh;
using Orleans.Runtime;

namespace ActOp.Configuration;

/// <summary>
/// What other nodes can make a silo or client hold. Whatever exceeds a limit is refused with a log event and a metric. Configuration
/// section: <c>ActOp:Limits</c>.
/// </summary>
public sealed class ConnectionLimitOptions
{
    /// <summary>Open connections of the silo port, and of the gateway, each; further ones are refused. Default 16,384.</summary>
    public int MaxConnections { get; set; } = 16_384;

    /// <summary>Open connections of one remote address; further ones are refused. Default 4,096.</summary>
    public int MaxConnectionsPerAddress { get; set; } = 4_096;

    /// <summary>
    /// Handshakes under way of strangers, and of nodes that have shown what they know, each; a further one replaces another one by chance,
    /// first of an address that has more than a quarter. Default 1,024.
    /// </summary>
    public int MaxPendingHandshakes { get; set; } = 1024;

    /// <summary>Time from the connection to its first byte. Default 2 s: longer than any round trip.</summary>
    public TimeSpan FirstByteTimeout { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>The longest message from a client. Null (default): <c>MessagingOptions.MaxMessageBodySize</c>.</summary>
    public int? MaxClientMessageBodySize { get; set; }

    /// <summary>
    /// Memory for messages that have begun to arrive, over all connections. Beyond it, the remote address that holds most of it loses a
    /// connection. Null (default): 512 MiB, or four of the longest messages if that is more.
    /// </summary>
    public long? MaxUnfinishedBytes { get; set; }

    /// <summary>
    /// The part of <see cref="MaxUnfinishedBytes"/> for clients, with what waits in links to clients that do not read. Null (default): half
    /// of it.
    /// </summary>
    public long? MaxUnfinishedClientBytes { get; set; }

    /// <summary>Names of other nodes that are remembered; beyond it, a new node is refused. Default 65,536.</summary>
    public int MaxPeers { get; set; } = 65_536;

    /// <summary>
    /// How long the name of a node that is not connected stays reserved for the process that has used it. Default 30 s: longer than a
    /// reconnect takes.
    /// </summary>
    public TimeSpan NameReservation { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Connection attempts of this process in a second, one for each node; further ones wait. Default 500.</summary>
    public int MaxDialsPerSecond { get; set; } = 500;

    /// <summary>
    /// Bytes that may wait for one node beyond the buffers of its links, because it is being connected or receives too slowly; further
    /// calls to it fail. A client for which a quarter of it waits is not read until a sixteenth is left. Default 64 MiB.
    /// </summary>
    public long MaxWaitingBytesPerNode { get; set; } = 64L << 20;

    /// <summary>The same for all nodes together. Default 256 MiB.</summary>
    public long MaxWaitingBytes { get; set; } = 256L << 20;

    internal void Apply(MeshOptions mesh)
    {
        var frame = mesh.MaxFrameBytes;
        mesh.MaxConnections = MaxConnections;
        mesh.MaxConnectionsPerAddress = MaxConnectionsPerAddress;
        mesh.MaxPendingHandshakes = MaxPendingHandshakes;
        mesh.FirstByteTimeout = FirstByteTimeout;
        mesh.MaxClientFrameBytes = MaxClientMessageBodySize;
        mesh.MaxUnfinishedBytes = MaxUnfinishedBytes ?? Math.Max(512L << 20, 4L * frame);
        mesh.MaxUnfinishedClientBytes = MaxUnfinishedClientBytes ?? mesh.MaxUnfinishedBytes / 2;
        mesh.MaxPeers = MaxPeers;
        mesh.NameReservation = NameReservation;
        mesh.MaxDialsPerSecond = MaxDialsPerSecond;
        Check(MaxConnections > 0, nameof(MaxConnections), "be positive", MaxConnections);
        Check(MaxConnectionsPerAddress > 0, nameof(MaxConnectionsPerAddress), "be positive", MaxConnectionsPerAddress);
        Check(MaxPendingHandshakes > 0, nameof(MaxPendingHandshakes), "be positive", MaxPendingHandshakes);
        Check(FirstByteTimeout > TimeSpan.Zero, nameof(FirstByteTimeout), "be positive", FirstByteTimeout);
        var client = MaxClientMessageBodySize;
        Check(client is null || (client >= 1024 && client <= frame), nameof(MaxClientMessageBodySize),
            "be 1,024 to MessagingOptions.MaxMessageBodySize", client);
        Check(mesh.MaxUnfinishedBytes >= frame, nameof(MaxUnfinishedBytes), "be at least MessagingOptions.MaxMessageBodySize",
            MaxUnfinishedBytes);
        Check(mesh.MaxUnfinishedClientBytes >= (client ?? frame), nameof(MaxUnfinishedClientBytes),
            "be at least the longest message of a client", mesh.MaxUnfinishedClientBytes);
        Check(MaxPeers > 0, nameof(MaxPeers), "be positive", MaxPeers);
        Check(NameReservation >= TimeSpan.Zero, nameof(NameReservation), "not be negative", NameReservation);
        Check(MaxDialsPerSecond > 0, nameof(MaxDialsPerSecond), "be positive", MaxDialsPerSecond);
        Check(MaxWaitingBytesPerNode > 0, nameof(MaxWaitingBytesPerNode), "be positive", MaxWaitingBytesPerNode);
        Check(MaxWaitingBytes > 0, nameof(MaxWaitingBytes), "be positive", MaxWaitingBytes);
    }

    private static void Check(bool isValid, string option, string rule, object? value)
    {
        if (!isValid)
            throw new OrleansConfigurationException("ConnectionLimitOptions." + option + " must " + rule + ", but is " + value + ".");
    }
}
