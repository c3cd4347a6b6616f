namespace ActOp.Partitioning;

/// <summary>
/// Silos are small dense numbers of the caller's choice (0, 1, 2, ...), local to one silo. A codec that sends candidates to another silo
/// translates them to whatever names a silo on the wire.
/// </summary>
public static class Silo
{
    /// <summary>The vertex is nowhere that is known, or on a client: such an end pulls nowhere.</summary>
    public const int Unknown = -1;
}
