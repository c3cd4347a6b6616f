namespace ActOp.Calls;

/// <summary>Where the answer of a call goes.</summary>
internal enum CallOrigin : byte
{
    /// <summary>A caller in this process waits for it.</summary>
    Local,

    /// <summary>A caller in another process waits for it: the answer goes over the wire.</summary>
    Remote,

    /// <summary>Nobody waits: one-way.</summary>
    Nobody,
}
