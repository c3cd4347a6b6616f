namespace ActOp.Mesh.Transports;

/// <summary>One report of a <see cref="Readiness"/> set.</summary>
/// <param name="Stream">The stream.</param>
/// <param name="Kinds">What it is ready for.</param>
public readonly record struct Ready(ByteStream Stream, ReadyKinds Kinds);
