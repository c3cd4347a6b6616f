namespace ActOp.Partitioning;

/// <summary>
/// The edges of a <see cref="HeavyEdgeTable{TVertex}"/> in parallel arrays. An edge is found by its two ends (open addressing with linear
/// probing), by vertex (an intrusive list per vertex), and by weight (a min-heap of degree 4). Edge e has the halves 2e and 2e + 1, one in
/// the list of each end. Owns these arrays and, in <see cref="VertexSet{TVertex}"/>, the heads of the lists. Weights are not scaled: the
/// table applies its decay factor.
/// </summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
internal sealed class EdgeStore<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    private readonly VertexSet<TVertex> _vertices;
    private readonly int _capacity;

    // By half.
    private int[] _end = [];
    private int[] _next = [];
    private int[] _previous = [];

    // By edge. Free edges are chained through _next of their first half.
    private double[] _weight = [];
    private double[] _error = [];
    private int[] _position = [];
    private int _free = -1;
    private int _used;

    private int[] _buckets = [];
    private int[] _heap = [];

    internal EdgeStore(VertexSet<TVertex> vertices, int capacity)
    {
        _vertices = vertices;
        _capacity = capacity;
        Grow();
    }

    internal int Count { get; private set; }

    /// <summary>The edge of the least weight. There must be an edge.</summary>
    internal int Lightest => _heap[0];

    /// <summary>An edge by its place in the heap, 0 to <see cref="Count"/> - 1, to visit all.</summary>
    internal int At(int index) => _heap[index];

    internal int EndOf(int half) => _end[half];

    internal int OtherEnd(int half) => _end[half ^ 1];

    /// <summary>The next half in the list of the same vertex, or -1.</summary>
    internal int Next(int half) => _next[half];

    internal double WeightOf(int edge) => _weight[edge];

    internal double ErrorOf(int edge) => _error[edge];

    internal void AddWeight(int edge, double weight)
    {
        Invariant.Holds(weight >= 0 && _heap[_position[edge]] == edge);
        _weight[edge] += weight;
        SiftDown(_position[edge]);
        Invariant.Holds(_position[edge] == 0 || _weight[_heap[(_position[edge] - 1) >> 2]] <= _weight[edge]);
    }

    /// <summary>Multiplies all weights and errors. The order of the heap stays.</summary>
    internal void Scale(double factor)
    {
        for (var i = 0; i < Count; i++)
        {
            _weight[_heap[i]] *= factor;
            _error[_heap[i]] *= factor;
        }
    }

    /// <summary>The edge between two vertices, in any order, or -1.</summary>
    internal int FindEdge(int a, int b)
    {
        if (a < 0 || b < 0)
            return -1;
        var mask = _buckets.Length - 1;
        for (var bucket = Home(a, b, mask); ; bucket = (bucket + 1) & mask)
        {
            var edge = _buckets[bucket];
            if (edge < 0)
                return -1;
            int x = _end[2 * edge], y = _end[(2 * edge) + 1];
            if ((x == a && y == b) || (x == b && y == a))
                return edge;
        }
    }

    /// <summary>Adds an edge that is not in the store, with this weight and error. The store must not be full.</summary>
    internal int Insert(int a, int b, double inherited)
    {
        Invariant.Holds(Count < _capacity && a != b);
        if (Invariant.AreChecked)
            Invariant.Holds(FindEdge(a, b) < 0);
        if (_free < 0 && _used == _weight.Length)
            Grow();
        var edge = _free;
        if (edge >= 0)
            _free = _next[2 * edge];
        else
            edge = _used++;
        Link(2 * edge, a);
        Link((2 * edge) + 1, b);
        _weight[edge] = inherited;
        _error[edge] = inherited;
        InsertBucket(edge);
        _heap[Count] = edge;
        _position[edge] = Count++;
        SiftUp(_position[edge]);
        Invariant.Holds(Count <= _used && _heap[_position[edge]] == edge);
        return edge;
    }

    /// <summary>Removes an edge, and each end that has no other edge.</summary>
    internal void Remove(int edge)
    {
        Invariant.Holds(Count > 0 && _position[edge] < Count && _heap[_position[edge]] == edge);
        RemoveBucket(edge);
        Unlink(2 * edge);
        Unlink((2 * edge) + 1);
        var hole = _position[edge];
        var last = _heap[--Count];
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

    private static int Home(int a, int b, int mask)
    {
        // The same for (a, b) and (b, a).
        ulong low = (uint)Math.Min(a, b), high = (uint)Math.Max(a, b);
        return (int)((((high << 32) | low) * 0x9E3779B97F4A7C15ul) >> 33) & mask;
    }

    private void Link(int half, int vertex)
    {
        var head = _vertices.HeadOf(vertex);
        Invariant.Holds(head < 0 || (_previous[head] == -1 && _end[head] == vertex));
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
        Invariant.Holds(previous >= 0 ? _next[previous] == half : _vertices.HeadOf(vertex) == half);
        Invariant.Holds(next < 0 || _previous[next] == half);
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
        var mask = _buckets.Length - 1;
        var bucket = Home(_end[2 * edge], _end[(2 * edge) + 1], mask);
        while (_buckets[bucket] >= 0)
            bucket = (bucket + 1) & mask;
        _buckets[bucket] = edge;
    }

    private void RemoveBucket(int edge)
    {
        var mask = _buckets.Length - 1;
        var hole = Home(_end[2 * edge], _end[(2 * edge) + 1], mask);
        while (_buckets[hole] != edge)
            hole = (hole + 1) & mask;
        for (var next = (hole + 1) & mask; _buckets[next] >= 0; next = (next + 1) & mask)
        {
            var moved = _buckets[next];
            var home = Home(_end[2 * moved], _end[(2 * moved) + 1], mask);
            if (((next - home) & mask) < ((next - hole) & mask))
                continue;
            _buckets[hole] = moved;
            hole = next;
        }

        _buckets[hole] = -1;
    }

    private void SiftUp(int index)
    {
        var edge = _heap[index];
        var weight = _weight[edge];
        while (index > 0)
        {
            var parent = (index - 1) >> 2;
            if (_weight[_heap[parent]] <= weight)
                break;
            SetHeapAt(index, _heap[parent]);
            index = parent;
        }

        Invariant.Holds((index << 2) + 1 >= Count || _weight[_heap[(index << 2) + 1]] >= weight);
        SetHeapAt(index, edge);
    }

    private void SiftDown(int index)
    {
        var edge = _heap[index];
        var weight = _weight[edge];
        while ((index << 2) + 1 < Count)
        {
            var child = LightestChild((index << 2) + 1);
            if (_weight[_heap[child]] >= weight)
                break;
            SetHeapAt(index, _heap[child]);
            index = child;
        }

        Invariant.Holds(index < Count);
        SetHeapAt(index, edge);
    }

    private int LightestChild(int first)
    {
        var lightest = first;
        var end = Math.Min(first + 4, Count);
        for (var i = first + 1; i < end; i++)
        {
            if (_weight[_heap[i]] < _weight[_heap[lightest]])
                lightest = i;
        }

        return lightest;
    }

    private void SetHeapAt(int index, int edge)
    {
        _heap[index] = edge;
        _position[edge] = index;
    }

    private void Grow()
    {
        Invariant.Holds(_weight.Length < _capacity && Count == _weight.Length);
        var size = Math.Min(_capacity, Math.Max(64, _weight.Length * 2));
        Array.Resize(ref _weight, size);
        Array.Resize(ref _error, size);
        Array.Resize(ref _heap, size);
        Array.Resize(ref _position, size);
        Array.Resize(ref _end, size * 2);
        Array.Resize(ref _next, size * 2);
        Array.Resize(ref _previous, size * 2);
        _buckets = new int[System.Numerics.BitOperations.RoundUpToPowerOf2((uint)size * 2)];
        _buckets.AsSpan().Fill(-1);
        for (var i = 0; i < Count; i++)
            InsertBucket(_heap[i]);
    }
}
