namespace ActOp.Partitioning;

/// <summary>How the vertices of an exchange are chosen.</summary>
public enum SelectionAlgorithm
{
    /// <summary>
    /// Kernighan-Lin / Fiduccia-Mattheyses style: candidates grow around the best vertex, the choice goes on through picks with a
    /// negative score and keeps the best prefix, and groups that are tied to each other are picked as one. Every exchange still lowers
    /// the cut.
    /// </summary>
    LookAhead,

    /// <summary>The paper's Algorithm 1: positive candidates only, stop at the first pick without gain.</summary>
    Plain,

    /// <summary>The paper's weaker baseline: a silo moves its own best candidates and asks nobody.</summary>
    OneSided,
}
