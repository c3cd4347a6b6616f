namespace ActOp.Partitioning;

/// <summary>
/// Jointly picks the vertices that change sides (paper section 4.2, "Determining exchange subsets"): two max-heaps of transfer
/// scores, best top first, the other heap where balance forbids it, all remaining scores updated after each pick.
/// Look-ahead goes on through picks that lose and keeps the best prefix (Kernighan and Lin 1970; Fiduccia and Mattheyses 1982).
/// </summary>
internal sealed class ExchangeSelection(PartitioningOptions options)
{
    public const double Epsilon = 1e-9;

    private readonly IndexedMaxHeap[] _heaps = [new(), new()];
    private readonly List<int> _picks = [];
    private readonly List<int> _aside = [];
    private ExchangeProblem _problem = new();
    private int[] _side = [];
    private double[] _score = [];
    private double _left;
    private double _right;
    private double _overshoot;

    /// <summary>The side of each candidate in the result.</summary>
    public ReadOnlySpan<int> Sides => _side.AsSpan(0, _problem.Count);

    /// <summary>The score of a candidate as kept up to date pick by pick.</summary>
    public ReadOnlySpan<double> Scores => _score.AsSpan(0, _problem.Count);

    /// <summary>The candidates picked in the last pass, in order, before losing picks were taken back.</summary>
    public IReadOnlyList<int> Picks => _picks;

    /// <summary>Decides the sides.</summary>
    /// <param name="problem">A sealed problem.</param>
    /// <param name="overshoot">Whether both loads may leave their bands by the heaviest vertex between picks. The result does not: a prefix
    /// that is worse balanced than the start is never kept.</param>
    /// <returns>By how much the cut falls, less the cost of the moves.</returns>
    public double Run(ExchangeProblem problem, bool overshoot = false)
    {
        _problem = problem;
        // A move takes a load out of one band at its lower end and out of the other at its upper one.
        _overshoot = overshoot && problem.Count > 0 ? 2 * problem.Load.Max() : 0;
        _side = problem.Home.AsSpan().ToArray();
        _score = new double[problem.Count];
        _left = problem.Left.Current;
        _right = problem.Right.Current;
        var lookAhead = options.Algorithm == SelectionAlgorithm.LookAhead;
        double total = 0;
        for (var pass = 0; pass < (lookAhead ? options.LookAheadPasses : 1); pass++)
        {
            var before = Violation(_left, _right);
            var gain = Pass(lookAhead);
            total += gain;
            if (gain <= Epsilon && Violation(_left, _right) >= before - Epsilon)
                break;
        }

        return total;
    }

    private double Violation(double left, double right) => _problem.Left.Violation(left) + _problem.Right.Violation(right);

    private double Pass(bool lookAhead)
    {
        Fill();
        double sum = 0, best = 0, bestViolation = Violation(_left, _right);
        var kept = 0;
        while (TryPick(lookAhead, out var vertex))
        {
            sum += _score[vertex];
            Flip(vertex);
            _picks.Add(vertex);
            Invariant.Holds(_heaps[0].Count + _heaps[1].Count + _picks.Count == _problem.Count);
            var violation = Violation(_left, _right);
            if (violation < bestViolation - Epsilon || (violation <= bestViolation + Epsilon && sum > best + Epsilon))
            {
                best = sum;
                bestViolation = violation;
                kept = _picks.Count;
            }
        }

        for (var i = _picks.Count - 1; i >= kept; i--)
            Flip(_picks[i]);
        return best;
    }

    private void Fill()
    {
        _picks.Clear();
        _heaps[0].Reset(_problem.Count);
        _heaps[1].Reset(_problem.Count);
        for (var i = 0; i < _problem.Count; i++)
        {
            _score[i] = _problem.Score(i, _side);
            _heaps[_side[i]].Add(i, _score[i]);
        }
    }

    private bool TryPick(bool lookAhead, out int vertex)
    {
        var first = PreferredSide();
        if (TryPickFrom(first, lookAhead, out vertex) || TryPickFrom(1 - first, lookAhead, out vertex))
        {
            _heaps[_side[vertex]].Remove(vertex);
            return true;
        }

        return false;
    }

    // The better top; at equal scores the fuller silo gives.
    private int PreferredSide()
    {
        if (_heaps[0].Count == 0 || _heaps[1].Count == 0)
            return _heaps[0].Count == 0 ? 1 : 0;
        double a = _heaps[0].TopKey, b = _heaps[1].TopKey;
        return a != b ? (a > b ? 0 : 1) : (_left >= _right ? 0 : 1);
    }

    // The best vertex of a side that balance admits. With equal loads no further vertex fits either.
    private bool TryPickFrom(int side, bool lookAhead, out int vertex)
    {
        var heap = _heaps[side];
        vertex = -1;
        Invariant.Holds(_aside.Count == 0);
        var refused = double.PositiveInfinity;
        while (heap.Count > 0)
        {
            var top = heap.Top;
            var load = _problem.Load[top];
            if (load < refused && Admits(side, load, out var relief))
            {
                if (lookAhead || heap.TopKey > Epsilon || relief > Epsilon)
                    vertex = top;
                break;
            }

            refused = Math.Min(refused, load);
            _aside.Add(heap.Pop());
            if (options.Balance == BalanceMeasure.Count)
                break;
        }

        foreach (var back in _aside)
            heap.Add(back, _score[back]);
        _aside.Clear();
        return vertex >= 0;
    }

    private bool Admits(int side, double load, out double relief)
    {
        var left = side == 0 ? _left - load : _left + load;
        var right = side == 0 ? _right + load : _right - load;
        var violation = Violation(left, right);
        relief = Violation(_left, _right) - violation;
        return relief >= -Epsilon || violation <= _overshoot + Epsilon;
    }

    private void Flip(int vertex)
    {
        var from = _side[vertex];
        Invariant.Holds(from is 0 or 1);
        var load = from == 0 ? -_problem.Load[vertex] : _problem.Load[vertex];
        _left += load;
        _right -= load;
        _side[vertex] = 1 - from;
        for (var i = _problem.Starts[vertex]; i < _problem.Starts[vertex + 1]; i++)
        {
            var other = _problem.Others[i];
            // The edge was inside and is cut now, or the other way round: 2w for whoever remains.
            var change = _side[other] == from ? 2 * _problem.Weights[i] : -2 * _problem.Weights[i];
            _score[other] += change;
            if (_heaps[_side[other]].Contains(other))
                _heaps[_side[other]].Change(other, _score[other]);
        }

        _score[vertex] = -_score[vertex];
    }
}

/// <summary>How the vertices of an exchange are chosen.</summary>
public enum SelectionAlgorithm
{
    /// <summary>
    /// Kernighan-Lin / Fiduccia-Mattheyses style: candidates grow around the best vertex, the choice goes on through picks with a
    /// negative score and keeps the best prefix, and groups that are tied to each other are picked as one. Every exchange still lowers
    /// the cut.
    /// </summary>
    LookAhead,

    /// <summary>The paper's Algorithm 1: positive candidates only, stop at the first pick without gain.</summary>
    Plain,

    /// <summary>The paper's weaker baseline: a silo moves its own best candidates without an offer.</summary>
    OneSided,
}

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
        Invariant.Holds(_position[item] < 0);
        _keys[item] = key;
        _position[item] = Count;
        _items[Count++] = item;
        Up(Count - 1);
    }

    public void Change(int item, double key)
    {
        Invariant.Holds(_position[item] >= 0 && _items[_position[item]] == item);
        var old = _keys[item];
        _keys[item] = key;
        if (key > old)
            Up(_position[item]);
        else
            Down(_position[item]);
    }

    public int Pop()
    {
        var top = _items[0];
        Remove(top);
        return top;
    }

    public void Remove(int item)
    {
        Invariant.Holds(_position[item] >= 0 && _items[_position[item]] == item);
        var hole = _position[item];
        _position[item] = -1;
        var last = _items[--Count];
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
        var item = _items[index];
        while (index > 0)
        {
            var parent = (index - 1) >> 1;
            if (!Before(item, _items[parent]))
                break;
            SetAt(index, _items[parent]);
            index = parent;
        }

        Invariant.Holds((2 * index) + 1 >= Count || !Before(_items[(2 * index) + 1], item));
        SetAt(index, item);
    }

    private void Down(int index)
    {
        var item = _items[index];
        for (int child; (child = (2 * index) + 1) < Count; index = child)
        {
            if (child + 1 < Count && Before(_items[child + 1], _items[child]))
                child++;
            if (!Before(_items[child], item))
                break;
            SetAt(index, _items[child]);
        }

        Invariant.Holds(index < Count);
        SetAt(index, item);
    }

    private void SetAt(int index, int item)
    {
        _items[index] = item;
        _position[item] = index;
    }
}
