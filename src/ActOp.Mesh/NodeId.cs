namespace ActOp.Mesh;

/// <summary>
/// The identity of one run of one process. The mesh treats the name as opaque text (a silo uses "ip:port@generation",
/// a client a guid) and only compares it, by ordinal, to settle who keeps the connection when both ends dial.
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

/// <summary>What a member of the mesh is; carried in the handshake.</summary>
public enum NodeKind : byte
{
    /// <summary>A server process: others may dial it and it dials others.</summary>
    Silo = 1,

    /// <summary>A process that only dials.</summary>
    Client = 2,
}
