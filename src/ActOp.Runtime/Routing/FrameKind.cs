namespace ActOp.Runtime.Routing;

/// <summary>The first byte of a frame.</summary>
internal enum FrameKind : byte
{
    /// <summary>A call of a grain.</summary>
    Request = 1,

    /// <summary>The answer to one.</summary>
    Reply = 2,

    /// <summary>An answer on its way through a silo to a client that the answering silo has no link to.</summary>
    RelayedReply = 3,

    /// <summary>
    /// A request was sent on: whoever waits for the answer learns which silo owes it now, and need not wait for a timeout when that one
    /// dies.
    /// </summary>
    Forwarded = 4,
}
