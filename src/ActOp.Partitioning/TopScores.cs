namespace ActOp.Partitioning;

/// <summary>The sum of the k largest positive scores offered: a bounded min-heap, O(log k) an offer.</summary>
internal sealed class TopScores(int capacity)
{
    private double[] _heap = new double[Math.Min(capacity, 16)];
    private int _count;

    public double Total { get; private set; }

    public void Clear()
    {
        _count = 0;
        Total = 0;
    }

    public void Offer(double score)
    {
        if (score <= 0 || (_count == capacity && score <= _heap[0]))
            return;
        Total += score;
        if (_count < capacity)
        {
            Add(score);
            return;
        }

        Total -= _heap[0];
        ReplaceSmallest(score);
    }

    private void Add(double score)
    {
        if (_count == _heap.Length)
            Array.Resize(ref _heap, Math.Min(capacity, _count * 2));
        int index = _count++;
        for (int parent; index > 0 && _heap[parent = (index - 1) >> 1] > score; index = parent)
            _heap[index] = _heap[parent];
        _heap[index] = score;
    }

    private void ReplaceSmallest(double score)
    {
        int index = 0;
        for (int child; (child = (2 * index) + 1) < _count; index = child)
        {
            if (child + 1 < _count && _heap[child + 1] < _heap[child])
                child++;
            if (_heap[child] >= score)
                break;
            _heap[index] = _heap[child];
        }

        _heap[index] = score;
    }
}
