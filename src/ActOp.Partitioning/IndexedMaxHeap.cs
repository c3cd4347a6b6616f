namespace ActOp.Partitioning;

/// <summary>
/// A binary max-heap of dense numbers whose keys can change. At equal keys the smaller number comes first, so that choices are
/// the same on every run.
/// </summary>
internal sealed class IndexedMaxHeap
{
    private int[] _items = [];
    private int[] _position = [];
    private double[] _keys = [];

    public int Count { get; private set; }

    public int Top => _items[0];

    public double TopKey => _keys[_items[0]];

    public void Reset(int bound)
    {
        if (_items.Length < bound)
        {
            _items = new int[bound];
            _position = new int[bound];
            _keys = new double[bound];
        }

        Count = 0;
        _position.AsSpan(0, bound).Fill(-1);
    }

    public bool Contains(int item) => _position[item] >= 0;

    public void Add(int item, double key)
    {
        _keys[item] = key;
        _position[item] = Count;
        _items[Count++] = item;
        Up(Count - 1);
    }

    public void Change(int item, double key)
    {
        double old = _keys[item];
        _keys[item] = key;
        if (key > old)
            Up(_position[item]);
        else
            Down(_position[item]);
    }

    public int Pop()
    {
        int top = _items[0];
        Remove(top);
        return top;
    }

    public void Remove(int item)
    {
        int hole = _position[item];
        _position[item] = -1;
        int last = _items[--Count];
        if (last == item)
            return;
        _items[hole] = last;
        _position[last] = hole;
        Down(hole);
        Up(_position[last]);
    }

    private bool Before(int a, int b) => _keys[a] > _keys[b] || (_keys[a] == _keys[b] && a < b);

    private void Up(int index)
    {
        int item = _items[index];
        while (index > 0)
        {
            int parent = (index - 1) >> 1;
            if (!Before(item, _items[parent]))
                break;
            Put(index, _items[parent]);
            index = parent;
        }

        Put(index, item);
    }

    private void Down(int index)
    {
        int item = _items[index];
        for (int child; (child = (2 * index) + 1) < Count; index = child)
        {
            if (child + 1 < Count && Before(_items[child + 1], _items[child]))
                child++;
            if (!Before(_items[child], item))
                break;
            Put(index, _items[child]);
        }

        Put(index, item);
    }

    private void Put(int index, int item)
    {
        _items[index] = item;
        _position[item] = index;
    }
}
