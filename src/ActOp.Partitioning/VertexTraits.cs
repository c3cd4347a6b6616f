namespace ActOp.Partitioning;

/// <summary>What the selection asks about the vertices of this silo. Called once per vertex and round, so it must be cheap.</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
public interface IVertexTraits<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    /// <summary>False for what must stay: pinned, stateless, busy migrating, not here any more.</summary>
    /// <param name="vertex">A vertex that the table places on this silo.</param>
    /// <returns>Whether the vertex may move.</returns>
    bool CanMove(TVertex vertex);

    /// <summary>The size that counts for the candidate set's size limit, the migration cost and, if so chosen, the balance.</summary>
    /// <param name="vertex">A vertex that the table places on this silo.</param>
    /// <returns>A size above zero in any unit, for instance bytes of state; 1 where all are alike.</returns>
    double SizeOf(TVertex vertex);
}

/// <summary>Every vertex may move and has size 1: the paper's assumption (section 4.1).</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
public sealed class UniformTraits<TVertex> : IVertexTraits<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    /// <summary>The only instance needed.</summary>
    public static UniformTraits<TVertex> Instance { get; } = new();

    /// <inheritdoc/>
    public bool CanMove(TVertex vertex) => true;

    /// <inheritdoc/>
    public double SizeOf(TVertex vertex) => 1;
}
