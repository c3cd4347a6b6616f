namespace ActOp.Mesh;

/// <summary>Why a link, a dial or a session ended.</summary>
public enum DisconnectReason : byte
{
    /// <summary>Not ended.</summary>
    None = 0,

    /// <summary>The other end closed the connection in an orderly way, or its process ended.</summary>
    PeerClosed = 1,

    /// <summary>The network broke the connection.</summary>
    Reset = 2,

    /// <summary>Nobody answered at the endpoint, or this process could not dial; see <see cref="ConnectRefused"/>.</summary>
    ConnectFailed = 3,

    /// <summary>The handshake did not end within <see cref="MeshOptions.HandshakeTimeout"/>.</summary>
    HandshakeTimeout = 4,

    /// <summary>The other end belongs to another cluster.</summary>
    WrongCluster = 5,

    /// <summary>The other end belongs to another service.</summary>
    WrongService = 6,

    /// <summary>The two ends share no protocol version.</summary>
    WrongVersion = 7,

    /// <summary>What arrived is not this protocol.</summary>
    Garbage = 8,

    /// <summary>A frame announced more than <see cref="MeshOptions.MaxFrameBytes"/>.</summary>
    FrameTooLarge = 9,

    /// <summary>The two nodes already have, or are making, another session.</summary>
    Duplicate = 10,

    /// <summary>The other end started a newer session.</summary>
    Superseded = 11,

    /// <summary>Another node than the expected one answers at the endpoint.</summary>
    WrongNode = 12,

    /// <summary>The endpoint is our own.</summary>
    Self = 13,

    /// <summary>This end closed it.</summary>
    ClosedLocally = 14,

    /// <summary>Too many handshakes are in progress (<see cref="MeshOptions.MaxPendingHandshakes"/>).</summary>
    TooManyHandshakes = 15,

    /// <summary>The receiver of the frames threw; the exception is in the log.</summary>
    ReceiverFailed = 16,

    /// <summary>The endpoint's host answered that nobody listens there: no process has it.</summary>
    ConnectRefused = 17,

    /// <summary>Nothing came from the other end for <see cref="MeshOptions.KeepAliveTimeout"/>.</summary>
    Silent = 18,

    /// <summary>This process has too few descriptors left for another connection.</summary>
    OutOfDescriptors = 19,

    /// <summary>Work for the link threw; the exception is in the log.</summary>
    InternalError = 20,
}
