namespace ActOp.Partitioning;

/// <summary>One tracked edge, seen from one of its ends.</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="Other">The other end.</param>
/// <param name="Silo">Where the other end is, or <see cref="Silo.Unknown"/>.</param>
/// <param name="Epoch">How recent that knowledge is: the other end's count of placements.</param>
/// <param name="Weight">Upper bound of the rate.</param>
/// <param name="Error">Upper bound of the part of <paramref name="Weight"/> that belongs to evicted edges.</param>
public readonly record struct HeavyEdge<TVertex>(TVertex Other, int Silo, long Epoch, double Weight, double Error)
    where TVertex : notnull, IEquatable<TVertex>
{
    /// <summary>Lower bound of the rate: what was certainly seen on this edge. Transfer scores use it, so that an evicted
    /// edge's rate never pulls a vertex.</summary>
    public double Certain => Weight - Error;
}

/// <summary>Receives the edges of an <see cref="EdgeSketch{TVertex}"/> when it is drained.</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
public interface IEdgeSink<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    /// <summary>Receives one edge.</summary>
    /// <param name="other">The other end.</param>
    /// <param name="messages">Messages counted; the true number lies in [messages - error, messages].</param>
    /// <param name="error">How much of <paramref name="messages"/> may belong to other edges.</param>
    /// <param name="bytes">Bytes counted since the edge took its counter.</param>
    void Receive(TVertex other, long messages, long error, long bytes);
}
