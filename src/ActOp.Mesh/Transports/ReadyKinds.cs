namespace ActOp.Mesh.Transports;

/// <summary>What a stream is ready for.</summary>
[Flags]
public enum ReadyKinds
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>A receive will not block.</summary>
    Read = 1,

    /// <summary>A send will not block.</summary>
    Write = 2,

    /// <summary>The other end has finished or the stream is broken: read to the end.</summary>
    Hangup = 4,
}
