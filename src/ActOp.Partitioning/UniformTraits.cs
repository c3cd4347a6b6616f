namespace ActOp.Partitioning;

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
