namespace ActOp.Runtime.Cluster;

/// <summary>What a <see cref="TableRequest"/> asks for.</summary>
internal enum TableOperation : byte
{
    /// <summary>Read all rows.</summary>
    Read = 0,

    /// <summary>Advance the heartbeat of one silo and read all rows.</summary>
    Heartbeat = 1,

    /// <summary>Write and remove rows if the table is still at the expected version.</summary>
    Write = 2,
}
