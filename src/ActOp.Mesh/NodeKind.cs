namespace ActOp.Mesh;

/// <summary>What a member of the mesh is; carried in the handshake.</summary>
public enum NodeKind : byte
{
    /// <summary>A server process: others may dial it and it dials others.</summary>
    Silo = 1,

    /// <summary>A process that only dials.</summary>
    Client = 2,
}
