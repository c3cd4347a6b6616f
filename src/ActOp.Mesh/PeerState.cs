namespace ActOp.Mesh;

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
