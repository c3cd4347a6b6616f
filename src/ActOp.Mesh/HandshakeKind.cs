namespace ActOp.Mesh;

/// <summary>The frames of a handshake in their order: acceptor, dialler, acceptor.</summary>
internal enum HandshakeKind : byte
{
    /// <summary>The acceptor says who it is.</summary>
    Greeting = 1,

    /// <summary>The dialler says who it is and which link of which session this is to be.</summary>
    Hello = 2,

    /// <summary>The acceptor takes the link.</summary>
    Welcome = 3,

    /// <summary>Either end says why not, and closes.</summary>
    Refusal = 4,
}
