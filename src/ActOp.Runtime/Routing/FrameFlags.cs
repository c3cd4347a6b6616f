namespace ActOp.Runtime.Routing;

/// <summary>The second byte of a frame: what it has beside its fixed part.</summary>
[Flags]
internal enum FrameFlags : byte
{
    None = 0,

    /// <summary>Request: nobody waits for an answer.</summary>
    OneWay = 1,

    /// <summary>Request: may run beside other read-only requests.</summary>
    ReadOnly = 2,

    /// <summary>Request: may run beside any request.</summary>
    AlwaysInterleave = 4,

    /// <summary>A request context follows.</summary>
    HasContext = 8,

    /// <summary>Type arguments of the method follow.</summary>
    HasTypeArguments = 16,

    /// <summary>The request was sent on: the node that waits for the answer, and the silo that sent it on, follow.</summary>
    HasOrigin = 32,

    /// <summary>Reply: the outcome is an exception.</summary>
    IsError = 64,

    /// <summary>
    /// Request: the milliseconds follow for which somebody waits for the answer. The bit means something else in replies.
    /// </summary>
    HasDeadline = IsError,

    /// <summary>Reply: where the grain is follows; whoever asked elsewhere learns it.</summary>
    HasLocation = 128,

    /// <summary>Request: the trace that it belongs to follows. The bit means something else in replies.</summary>
    HasTrace = HasLocation,
}
