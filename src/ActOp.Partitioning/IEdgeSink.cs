namespace ActOp.Partitioning;

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
