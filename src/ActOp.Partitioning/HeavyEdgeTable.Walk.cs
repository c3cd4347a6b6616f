namespace ActOp.Partitioning;

/// <content>How selection and decision walk the graph by number instead of by key.</content>
public sealed partial class HeavyEdgeTable<TVertex>
{
    internal int VertexBound => _vertices.Bound;

    internal bool IsVertex(int id) => _vertices.HeadOf(id) >= 0;

    internal int FindVertex(TVertex vertex) => _vertices.Find(vertex);

    internal TVertex KeyOf(int id) => _vertices.KeyOf(id);

    internal int SiloOf(int id) => _vertices.SiloOf(id);

    internal long EpochOf(int id) => _vertices.EpochOf(id);

    internal int FirstHalf(int id) => _vertices.HeadOf(id);

    internal int NextHalf(int half) => _next[half];

    internal int OtherEnd(int half) => _end[half ^ 1];

    internal double CertainWeight(int half) => (_weight[half >> 1] - _error[half >> 1]) * _scale;

    internal double CertainWeight(int a, int b)
    {
        int edge = FindEdge(a, b);
        return edge < 0 ? 0 : (_weight[edge] - _error[edge]) * _scale;
    }

    /// <summary>The sum of the certain weights of all edges, and of those with an end on another silo.</summary>
    /// <param name="remote">Receives the remote part.</param>
    /// <returns>The sum over all tracked edges.</returns>
    public double TotalWeight(out double remote)
    {
        double total = 0;
        remote = 0;
        for (int i = 0; i < _heapCount; i++)
        {
            int half = 2 * _heap[i];
            double weight = CertainWeight(half);
            total += weight;
            if (_vertices.SiloOf(_end[half]) != _self || _vertices.SiloOf(_end[half + 1]) != _self)
                remote += weight;
        }

        return total;
    }
}
