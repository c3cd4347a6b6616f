namespace ActOp.Partitioning;

/// <summary>
/// The load of a silo and the band it should stay in. A plan never takes a silo further out of its band; a silo above it (or one
/// whose band is [0, 0] because it drains) may give at a loss, a silo below it may take at a loss: joins and drains are ordinary exchanges.
/// </summary>
/// <param name="Current">Vertices or their total size, with what is promised in and out already counted.</param>
/// <param name="Lower">The least load it should keep.</param>
/// <param name="Upper">The most load it should have.</param>
public readonly record struct SiloLoad(double Current, double Lower, double Upper)
{
    /// <summary>
    /// A band relative to the mean load of the cluster: [mean (1 - tolerance), mean (1 + tolerance)], widened to the next whole vertex so
    /// that small silos can trade at all. With every silo inside, no pair differs by more than 2 tolerance mean (the paper's delta).
    /// </summary>
    /// <param name="current">The load now.</param>
    /// <param name="mean">The mean load of all silos that take part.</param>
    /// <param name="tolerance">For instance 0.03.</param>
    /// <returns>The load with its band.</returns>
    public static SiloLoad Around(double current, double mean, double tolerance) =>
        new(current, Math.Min(Math.Floor(mean), mean * (1 - tolerance)), Math.Max(Math.Ceiling(mean), mean * (1 + tolerance)));

    /// <summary>A silo that wants to be empty.</summary>
    /// <param name="current">The load now.</param>
    /// <returns>The load with the band [0, 0].</returns>
    public static SiloLoad Draining(double current) => new(current, 0, 0);

    /// <summary>How far a load is out of the band.</summary>
    /// <param name="load">A load this silo might have.</param>
    /// <returns>0 inside the band.</returns>
    public double Violation(double load) => Math.Max(0, Math.Max(load - Upper, Lower - load));
}

/// <summary>
/// Silos are small dense numbers of the caller's choice (0, 1, 2, ...), local to one silo. A codec that sends candidates to another silo
/// translates them to whatever names a silo on the wire.
/// </summary>
public static class Silo
{
    /// <summary>The vertex is nowhere that is known, or on a client: such an end pulls nowhere.</summary>
    public const int Unknown = -1;
}
