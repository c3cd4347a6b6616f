namespace ActOp.Partitioning;

/// <summary>Takes vertices that a plan already moves out of further exchanges.</summary>
internal sealed class PromisedTraits<TVertex>(IVertexTraits<TVertex> inner, Promises<TVertex> promises) : IVertexTraits<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    public bool CanMove(TVertex vertex) => !promises.IsUnderWay(vertex) && inner.CanMove(vertex);

    public double SizeOf(TVertex vertex) => inner.SizeOf(vertex);
}
