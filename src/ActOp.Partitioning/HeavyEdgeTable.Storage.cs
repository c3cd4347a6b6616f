namespace ActOp.Partitioning;

/// <content>Storage: edges in parallel arrays, found by open addressing over both ends, in an intrusive list per vertex, in a min-heap by
/// weight. Edge e has the halves 2e and 2e + 1, one in the list of each end.</content>
public sealed partial class HeavyEdgeTable<TVertex>
{
    private int[] _buckets = [];
    private int[] _heap = [];
    private int[] _position = [];
    private int _heapCount;

    private static int Home(int a, int b, int mask)
    {
        // The same for (a, b) and (b, a).
        ulong low = (uint)Math.Min(a, b), high = (uint)Math.Max(a, b);
        return (int)((((high << 32) | low) * 0x9E3779B97F4A7C15ul) >> 33) & mask;
    }

    private int FindEdge(int a, int b)
    {
        if (a < 0 || b < 0)
            return -1;
        int mask = _buckets.Length - 1;
        for (int bucket = Home(a, b, mask); ; bucket = (bucket + 1) & mask)
        {
            int edge = _buckets[bucket];
            if (edge < 0)
                return -1;
            int x = _end[2 * edge], y = _end[(2 * edge) + 1];
            if ((x == a && y == b) || (x == b && y == a))
                return edge;
        }
    }

    private int InsertEdge(int a, int b, double inherited)
    {
        if (_free < 0 && _used == _weight.Length)
            Grow();
        int edge = _free;
        if (edge >= 0)
            _free = _next[2 * edge];
        else
            edge = _used++;
        Link(2 * edge, a);
        Link((2 * edge) + 1, b);
        _weight[edge] = inherited;
        _error[edge] = inherited;
        InsertBucket(edge);
        _heap[_heapCount] = edge;
        _position[edge] = _heapCount++;
        SiftUp(_position[edge]);
        return edge;
    }

    private void RemoveEdge(int edge)
    {
        RemoveBucket(edge);
        Unlink(2 * edge);
        Unlink((2 * edge) + 1);
        int hole = _position[edge];
        int last = _heap[--_heapCount];
        if (last != edge)
        {
            _heap[hole] = last;
            _position[last] = hole;
            SiftDown(hole);
            SiftUp(_position[last]);
        }

        _next[2 * edge] = _free;
        _free = edge;
    }

    // Edges of a vertex that left stay only if their other end is here.
    private void RemoveForeignEdges(int id)
    {
        for (int half = _vertices.HeadOf(id); half >= 0;)
        {
            int next = _next[half];
            if (_vertices.SiloOf(_end[half ^ 1]) != _self)
                RemoveEdge(half >> 1);
            half = next;
        }
    }

    private void Link(int half, int vertex)
    {
        int head = _vertices.HeadOf(vertex);
        _end[half] = vertex;
        _next[half] = head;
        _previous[half] = -1;
        if (head >= 0)
            _previous[head] = half;
        _vertices.SetHead(vertex, half);
    }

    private void Unlink(int half)
    {
        int vertex = _end[half], next = _next[half], previous = _previous[half];
        if (next >= 0)
            _previous[next] = previous;
        if (previous >= 0)
            _next[previous] = next;
        else if (next >= 0)
            _vertices.SetHead(vertex, next);
        else
            _vertices.Remove(vertex);
    }

    private void InsertBucket(int edge)
    {
        int mask = _buckets.Length - 1;
        int bucket = Home(_end[2 * edge], _end[(2 * edge) + 1], mask);
        while (_buckets[bucket] >= 0)
            bucket = (bucket + 1) & mask;
        _buckets[bucket] = edge;
    }

    private void RemoveBucket(int edge)
    {
        int mask = _buckets.Length - 1;
        int hole = Home(_end[2 * edge], _end[(2 * edge) + 1], mask);
        while (_buckets[hole] != edge)
            hole = (hole + 1) & mask;
        for (int next = (hole + 1) & mask; _buckets[next] >= 0; next = (next + 1) & mask)
        {
            int moved = _buckets[next];
            int home = Home(_end[2 * moved], _end[(2 * moved) + 1], mask);
            if (((next - home) & mask) < ((next - hole) & mask))
                continue;
            _buckets[hole] = moved;
            hole = next;
        }

        _buckets[hole] = -1;
    }

    private void SiftUp(int index)
    {
        int edge = _heap[index];
        double weight = _weight[edge];
        while (index > 0)
        {
            int parent = (index - 1) >> 2;
            if (_weight[_heap[parent]] <= weight)
                break;
            Put(index, _heap[parent]);
            index = parent;
        }

        Put(index, edge);
    }

    private void SiftDown(int index)
    {
        int edge = _heap[index];
        double weight = _weight[edge];
        while ((index << 2) + 1 < _heapCount)
        {
            int child = LightestChild((index << 2) + 1);
            if (_weight[_heap[child]] >= weight)
                break;
            Put(index, _heap[child]);
            index = child;
        }

        Put(index, edge);
    }

    private int LightestChild(int first)
    {
        int lightest = first;
        int end = Math.Min(first + 4, _heapCount);
        for (int i = first + 1; i < end; i++)
        {
            if (_weight[_heap[i]] < _weight[_heap[lightest]])
                lightest = i;
        }

        return lightest;
    }

    private void Put(int index, int edge)
    {
        _heap[index] = edge;
        _position[edge] = index;
    }

    private void Grow()
    {
        int size = Math.Min(_capacity, Math.Max(64, _weight.Length * 2));
        Array.Resize(ref _weight, size);
        Array.Resize(ref _error, size);
        Array.Resize(ref _heap, size);
        Array.Resize(ref _position, size);
        Array.Resize(ref _end, size * 2);
        Array.Resize(ref _next, size * 2);
        Array.Resize(ref _previous, size * 2);
        _buckets = new int[System.Numerics.BitOperations.RoundUpToPowerOf2((uint)size * 2)];
        _buckets.AsSpan().Fill(-1);
        for (int i = 0; i < _heapCount; i++)
            InsertBucket(_heap[i]);
    }
}
