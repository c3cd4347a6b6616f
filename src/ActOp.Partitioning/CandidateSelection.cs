namespace ActOp.Partitioning;

/// <summary>
/// Chooses which vertices a silo would give away (paper section 4.2, "Determining the candidate set"). Keeps its buffers
/// between rounds; not thread safe.
/// </summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="table">The edges of this silo.</param>
/// <param name="traits">What may move, and sizes.</param>
/// <param name="options">The limits.</param>
public sealed class CandidateSelection<TVertex>(HeavyEdgeTable<TVertex> table, IVertexTraits<TVertex> traits, PartitioningOptions options)
    where TVertex : notnull, IEquatable<TVertex>
{
    private readonly IndexedMaxHeap _heap = new();
    private readonly List<PartnerScore> _partners = [];
    private readonly List<int> _touched = [];
    private readonly List<int> _chosen = [];
    private readonly List<int> _untied = [];
    private readonly List<HeavyEdge<TVertex>> _edges = [];
    private TopScores[] _tops = [];
    private double[] _pull = [];
    private double[] _cut = [];
    private double[] _scores = [];

    /// <summary>
    /// The silos worth an offer, best first: by the total transfer score of their candidate sets and then by the weight of the edges to
    /// them. The plain algorithm lists only silos with a positive total. O(E + nV log k).
    /// </summary>
    /// <returns>A list that is valid until the next call.</returns>
    public IReadOnlyList<PartnerScore> RankPartners()
    {
        foreach (var top in _tops)
            top.Clear();
        _cut.AsSpan().Clear();
        for (var vertex = 0; vertex < table.VertexBound; vertex++)
        {
            if (IsMovable(vertex))
                ScoreAgainstAll(vertex);
        }

        _partners.Clear();
        for (var silo = 0; silo < _tops.Length; silo++)
        {
            if (_cut[silo] > 0 && (_tops[silo].Total > 0 || options.Algorithm == SelectionAlgorithm.LookAhead))
                _partners.Add(new(silo, _tops[silo].Total, _cut[silo]));
        }

        _partners.Sort(static (a, b)
            => a.Total != b.Total ? b.Total.CompareTo(a.Total) : b.Cut != a.Cut ? b.Cut.CompareTo(a.Cut) : a.Silo.CompareTo(b.Silo));
        return _partners;
    }

    /// <summary>
    /// The candidates for one silo. Plain: the k best positive scores. Look-ahead: the best vertex, then the best one after its removal,
    /// and so on, so that tightly connected vertices come together even where each alone would not go. First come those that an edge or a
    /// chain of edges ties to the target: only they can lower the cut. The others are counterweights.
    /// </summary>
    /// <param name="target">The silo they would move to.</param>
    /// <param name="counterweights">With look-ahead, the most vertices without a tie to the target; at least as many as there are with
    /// one.</param>
    /// <returns>At most <see cref="PartitioningOptions.CandidateCount"/> vertices with their edges.</returns>
    public CandidateSet<TVertex> Select(int target, int counterweights = int.MaxValue) =>
        Select(target, counterweights, options.CandidateCount);

    /// <summary>As the other one, with another limit on the number of vertices.</summary>
    internal CandidateSet<TVertex> Select(int target, int counterweights, int count)
    {
        Choose(target, counterweights, count);
        return Pack(_chosen, target, options.EdgesPerOffer);
    }

    /// <summary>
    /// The transfer score R of one vertex: its weight to <paramref name="target"/> less its weight inside this silo and the cost of moving
    /// it.
    /// </summary>
    /// <param name="vertex">A vertex of this silo.</param>
    /// <param name="target">A silo.</param>
    /// <returns>The score; 0 if the vertex has no tracked edge.</returns>
    public double TransferScore(TVertex vertex, int target)
    {
        var id = table.FindVertex(vertex);
        return id < 0 ? 0 : Score(id, target);
    }

    /// <summary>The edges that vertices take along when they move without a plan.</summary>
    /// <param name="vertices">Vertices; those without a tracked edge are left out.</param>
    /// <returns>Them with their edges.</returns>
    public CandidateSet<TVertex> Carry(IEnumerable<TVertex> vertices)
    {
        List<int> known = [];
        foreach (var vertex in vertices)
        {
            var id = table.FindVertex(vertex);
            if (id >= 0)
                known.Add(id);
        }

        return Pack(known, SiloNumber.Unknown, int.MaxValue);
    }

    private bool IsMovable(int vertex) =>
        table.IsVertex(vertex) && table.SiloOf(vertex) == table.Self && traits.CanMove(table.KeyOf(vertex));

    private void ScoreAgainstAll(int vertex)
    {
        var inside = options.MigrationCost == 0 ? 0 : options.MigrationCost * traits.SizeOf(table.KeyOf(vertex));
        for (var half = table.FirstHalf(vertex); half >= 0; half = table.NextHalf(half))
        {
            var silo = table.SiloOf(table.OtherEnd(half));
            var weight = table.CertainWeight(half);
            if (silo == table.Self)
                inside += weight;
            else if (silo >= 0 && weight > 0)
                Pull(silo, weight);
        }

        foreach (var silo in _touched)
        {
            if (traits.CanMoveTo(table.KeyOf(vertex), silo))
            {
                _tops[silo].Offer(_pull[silo] - inside);
                _cut[silo] += _pull[silo];
            }

            _pull[silo] = 0;
        }

        _touched.Clear();
    }

    private void Pull(int silo, double weight)
    {
        if (silo >= _tops.Length)
            GrowSilos(silo + 1);
        if (_pull[silo] == 0)
            _touched.Add(silo);
        _pull[silo] += weight;
    }

    private void GrowSilos(int count)
    {
        var old = _tops.Length;
        Array.Resize(ref _tops, count);
        Array.Resize(ref _pull, count);
        Array.Resize(ref _cut, count);
        for (var i = old; i < count; i++)
            _tops[i] = new(options.CandidateCount);
    }

    private double Score(int vertex, int target) => Score(vertex, target, out _);

    private double Score(int vertex, int target, out bool tied)
    {
        var score = options.MigrationCost == 0 ? 0 : -options.MigrationCost * traits.SizeOf(table.KeyOf(vertex));
        tied = false;
        for (var half = table.FirstHalf(vertex); half >= 0; half = table.NextHalf(half))
        {
            var silo = table.SiloOf(table.OtherEnd(half));
            if (silo != target && silo != table.Self)
                continue;
            var weight = table.CertainWeight(half);
            tied |= silo == target && weight > 0;
            score += silo == target ? weight : -weight;
        }

        return score;
    }

    private void Choose(int target, int counterweights, int count)
    {
        var bound = table.VertexBound;
        if (_scores.Length < bound)
            _scores = new double[bound];
        _heap.Reset(bound);
        _chosen.Clear();
        _untied.Clear();
        var grow = options.Algorithm == SelectionAlgorithm.LookAhead;
        for (var vertex = 0; vertex < bound; vertex++)
        {
            // Not a number: no candidate, or chosen.
            _scores[vertex] = double.NaN;
            if (!IsMovable(vertex) || !traits.CanMoveTo(table.KeyOf(vertex), target))
                continue;
            var score = Score(vertex, target, out var tied);
            if (grow || score > 0)
                _scores[vertex] = score;
            if (grow ? tied : score > 0)
                _heap.Add(vertex, score);
            else if (grow)
                _untied.Add(vertex);
        }

        var room = options.CandidateSize;
        ChooseBest(count, grow, ref room);
        if (!grow || _chosen.Count == count)
            return;
        var limit = (int)Math.Min(count, _chosen.Count + (long)Math.Max(counterweights, _chosen.Count));
        foreach (var vertex in _untied)
        {
            if (!double.IsNaN(_scores[vertex]))
                _heap.Add(vertex, _scores[vertex]);
        }

        ChooseBest(limit, grow, ref room);
    }

    private void ChooseBest(int limit, bool grow, ref double room)
    {
        while (_heap.Count > 0 && _chosen.Count < limit)
        {
            var vertex = _heap.Pop();
            _scores[vertex] = double.NaN;
            var size = double.IsPositiveInfinity(room) ? 0 : traits.SizeOf(table.KeyOf(vertex));
            if (size > room)
                continue;
            room -= size;
            _chosen.Add(vertex);
            if (grow)
                RaiseNeighbours(vertex);
        }
    }

    // A neighbour's edge to a vertex that goes turns from -w into +w, and ties it to the target.
    private void RaiseNeighbours(int vertex)
    {
        for (var half = table.FirstHalf(vertex); half >= 0; half = table.NextHalf(half))
        {
            var other = table.OtherEnd(half);
            if (double.IsNaN(_scores[other]))
                continue;
            _scores[other] += 2 * table.CertainWeight(half);
            if (_heap.Contains(other))
                _heap.Change(other, _scores[other]);
            else
                _heap.Add(other, _scores[other]);
        }
    }

    /// <summary>
    /// Copies vertices with their edges: all that touch this silo or the target, since scores depend on them, and the heaviest
    /// of the others, which only help the vertex's next silo.
    /// </summary>
    internal CandidateSet<TVertex> Pack(List<int> chosen, int target, int edgeLimit)
    {
        var starts = new int[chosen.Count + 1];
        _edges.Clear();
        var count = 0;
        while (count < chosen.Count && (count == 0 || _edges.Count < edgeLimit))
        {
            table.CopyEdges(table.KeyOf(chosen[count]), _edges);
            KeepHeaviest(starts[count], target);
            starts[++count] = _edges.Count;
        }

        var vertices = new TVertex[count];
        var sizes = new double[count];
        var epochs = new long[count];
        for (var i = 0; i < count; i++)
        {
            vertices[i] = table.KeyOf(chosen[i]);
            sizes[i] = traits.SizeOf(vertices[i]);
            epochs[i] = table.EpochOf(chosen[i]);
        }

        return new(vertices, sizes, epochs, starts[..(count + 1)], [.. _edges]);
    }

    private void KeepHeaviest(int start, int target)
    {
        var count = _edges.Count - start;
        if (count <= options.EdgesPerCandidate)
            return;
        _edges.Sort(start, count, Comparer<HeavyEdge<TVertex>>.Create((a, b) =>
            Matters(a) != Matters(b) ? (Matters(a) ? -1 : 1) : b.Certain.CompareTo(a.Certain)));
        var end = start + options.EdgesPerCandidate;
        while (end < _edges.Count && Matters(_edges[end]))
            end++;
        _edges.RemoveRange(end, _edges.Count - end);

        bool Matters(HeavyEdge<TVertex> edge) => edge.Silo == table.Self || edge.Silo == target;
    }
}

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
        var index = _count++;
        for (int parent; index > 0 && _heap[parent = (index - 1) >> 1] > score; index = parent)
            _heap[index] = _heap[parent];
        _heap[index] = score;
    }

    private void ReplaceSmallest(double score)
    {
        var index = 0;
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

/// <summary>How promising a silo is as the partner of an exchange.</summary>
/// <param name="Silo">The silo.</param>
/// <param name="Total">The sum of the positive transfer scores of its candidate set: the paper's order.</param>
/// <param name="Cut">The weight of all edges to it.</param>
public readonly record struct PartnerScore(int Silo, double Total, double Cut);
