namespace ActOp.Partitioning;

/// <summary>
/// The heavy edges of one silo: a Space-Saving table of constant size (paper section 4.3; Metwally et al. 2005) whose weights are
/// exponentially decayed rates, so that an edge without traffic loses its weight. The silo of a vertex is stored once per vertex, so an
/// update applies to every edge with that end. Owns the decay, the eviction and the rule that each edge has an end on this silo; the edges
/// themselves are in an <see cref="EdgeStore{TVertex}"/>. Not thread safe.
/// </summary>
/// <remarks>
/// Bounds, with W the total weight added and m the capacity, without decay: every weight is an overestimate by at most
/// <see cref="HeavyEdge{TVertex}.Error"/>, which is at most <see cref="Floor"/> at the time of insertion; an edge heavier than W / m is
/// always present. Decay scales all weights, errors and W alike and so keeps both bounds.
/// </remarks>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
public sealed class HeavyEdgeTable<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    private const double SmallestScale = 1e-60;

    private readonly int _self;
    private readonly int _capacity;
    private readonly VertexSet<TVertex> _vertices = new();
    private readonly EdgeStore<TVertex> _edges;

    private double _scale = 1;
    private double _floor;
    private double _sampleShare = 1;

    /// <summary>Creates an empty table. Memory grows with use up to about 150 bytes an edge.</summary>
    /// <param name="capacity">The largest number of edges, at least 1.</param>
    /// <param name="self">The silo that owns the table.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is below 1 or <paramref name="self"/> is
    /// negative.</exception>
    public HeavyEdgeTable(int capacity, int self)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(capacity, 1);
        ArgumentOutOfRangeException.ThrowIfNegative(self);
        _capacity = capacity;
        _self = self;
        _edges = new EdgeStore<TVertex>(_vertices, capacity);
    }

    /// <summary>The silo that owns the table.</summary>
    public int Self => _self;

    /// <summary>The number of edges tracked now.</summary>
    public int Count => _edges.Count;

    /// <summary>The largest number of edges.</summary>
    public int Capacity => _capacity;

    /// <summary>The weight of the last evicted edge, decayed: no untracked edge is heavier.</summary>
    public double Floor => _floor * _scale;

    /// <summary>The number of vertices that have a tracked edge.</summary>
    public int VertexCount => _vertices.Count;

    // Selection and decision walk the graph by number instead of by key. A number is valid until the table changes.
    internal int VertexBound => _vertices.Bound;

    internal bool IsVertex(int id) => _vertices.HeadOf(id) >= 0;

    internal int FindVertex(TVertex vertex) => _vertices.NumberOf(vertex);

    internal TVertex KeyOf(int id) => _vertices.KeyOf(id);

    internal int SiloOf(int id) => _vertices.SiloOf(id);

    internal long EpochOf(int id) => _vertices.EpochOf(id);

    internal int FirstHalf(int id) => _vertices.HeadOf(id);

    internal int NextHalf(int half) => _edges.Next(half);

    internal int OtherEnd(int half) => _edges.OtherEnd(half);

    internal double CertainWeight(int half) => (_edges.WeightOf(half >> 1) - _edges.ErrorOf(half >> 1)) * _scale;

    internal double CertainWeight(int a, int b)
    {
        var edge = _edges.FindEdge(a, b);
        return edge < 0 ? 0 : (_edges.WeightOf(edge) - _edges.ErrorOf(edge)) * _scale;
    }

    /// <summary>
    /// Starts a fold: decays what is known by 2^(-elapsed / halfLife) and weighs the samples that follow so that an edge of constant
    /// traffic converges to its rate in messages per second. O(1), except a rescale of all edges about once in 200 half-lives.
    /// </summary>
    /// <param name="elapsed">Time since the last fold, above zero.</param>
    /// <param name="halfLife">Time in which an edge without traffic loses half its weight, above zero.</param>
    /// <exception cref="ArgumentOutOfRangeException">A time is not above zero.</exception>
    public void BeginFold(TimeSpan elapsed, TimeSpan halfLife)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(elapsed, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(halfLife, TimeSpan.Zero);
        var factor = Math.Pow(2, -elapsed.TotalSeconds / halfLife.TotalSeconds);
        Decay(factor);
        _sampleShare = (1 - factor) / elapsed.TotalSeconds;
    }

    /// <summary>
    /// Adds what one end of an edge counted since the last fold. Both ends of an edge count; where both are on this silo each report adds
    /// half, so that local and remote edges are measured alike.
    /// </summary>
    /// <param name="local">The end that counted, on this silo.</param>
    /// <param name="localEpoch">Its count of placements.</param>
    /// <param name="other">The other end.</param>
    /// <param name="otherSilo">Where the other end is believed to be, or <see cref="SiloNumber.Unknown"/>.</param>
    /// <param name="otherEpoch">How recent that belief is.</param>
    /// <param name="amount">Messages since the last fold, or messages plus bytes over a constant.</param>
    /// <param name="error">How much of <paramref name="amount"/> may belong to other edges, as an <see cref="EdgeSketch{TVertex}"/> reports
    /// it. Only what certainly belongs to this edge counts: a vertex with more partners than counters would else report heavy edges that do
    /// not exist.</param>
    public void Sample(TVertex local, long localEpoch, TVertex other, int otherSilo, long otherEpoch, double amount, double error = 0)
    {
        var rate = (amount - error) * _sampleShare;
        Add(local, localEpoch, other, otherSilo, otherEpoch, rate, halveIfLocal: true);
    }

    /// <summary>Adds a weight to an edge as it is, for instance the edges that a migrated vertex brought along.</summary>
    /// <inheritdoc cref="Sample"/>
    /// <param name="local">The end on this silo.</param>
    /// <param name="localEpoch">Its count of placements.</param>
    /// <param name="other">The other end; an edge from a vertex to itself is ignored.</param>
    /// <param name="otherSilo">Where the other end is believed to be, or <see cref="SiloNumber.Unknown"/>.</param>
    /// <param name="otherEpoch">How recent that belief is.</param>
    /// <param name="weight">A rate; nothing happens unless it is above zero.</param>
    public void Add(TVertex local, long localEpoch, TVertex other, int otherSilo, long otherEpoch, double weight) =>
        Add(local, localEpoch, other, otherSilo, otherEpoch, weight, halveIfLocal: false);

    /// <summary>Multiplies every weight by a factor in O(1).</summary>
    /// <param name="factor">Above 0, at most 1.</param>
    /// <exception cref="ArgumentOutOfRangeException">The factor is out of range.</exception>
    public void Decay(double factor)
    {
        if (!(factor > 0 && factor <= 1))
            throw new ArgumentOutOfRangeException(nameof(factor), factor, "The decay factor lies in (0, 1].");
        _scale *= factor;
        if (_scale < SmallestScale)
            Rescale();
    }

    /// <summary>Tells where a vertex is; ignored if the vertex has no tracked edge or something newer is known.</summary>
    /// <param name="vertex">The vertex.</param>
    /// <param name="silo">Where it is, or <see cref="SiloNumber.Unknown"/>.</param>
    /// <param name="epoch">Its count of placements; the latest wins, and at equal epochs this call wins.</param>
    /// <returns>True if the table now holds this place.</returns>
    public bool Locate(TVertex vertex, int silo, long epoch) => Learn(vertex, silo, epoch);

    /// <summary>Reads where a vertex is believed to be.</summary>
    /// <param name="vertex">The vertex.</param>
    /// <param name="silo">Its silo.</param>
    /// <param name="epoch">Its count of placements.</param>
    /// <returns>False if the vertex has no tracked edge.</returns>
    public bool TryLocate(TVertex vertex, out int silo, out long epoch)
    {
        var id = _vertices.NumberOf(vertex);
        silo = id < 0 ? SiloNumber.Unknown : _vertices.SiloOf(id);
        epoch = id < 0 ? 0 : _vertices.EpochOf(id);
        return id >= 0;
    }

    /// <summary>Drops a vertex that is gone (deactivated for good) with all its edges.</summary>
    /// <param name="vertex">The vertex.</param>
    public void Forget(TVertex vertex)
    {
        var id = _vertices.NumberOf(vertex);
        while (id >= 0 && _vertices.HeadOf(id) >= 0)
        {
            var edge = _vertices.HeadOf(id) >> 1;
            var last = _edges.Next(_vertices.HeadOf(id)) < 0;
            _edges.Remove(edge);
            if (last)
                return;
        }
    }

    /// <summary>
    /// Forgets a silo that is gone: the place of the vertices that were there is unknown. Afterwards nothing refers to its number. O(V).
    /// </summary>
    /// <param name="silo">The silo; not this one.</param>
    /// <exception cref="ArgumentException"><paramref name="silo"/> is the silo that owns the table.</exception>
    public void ForgetSilo(int silo)
    {
        if (silo == _self)
            throw new ArgumentException("A table cannot forget its own silo.", nameof(silo));
        for (var id = 0; id < _vertices.Bound; id++)
        {
            if (_vertices.HeadOf(id) >= 0 && _vertices.SiloOf(id) == silo)
                _vertices.Locate(id, SiloNumber.Unknown, _vertices.EpochOf(id));
        }
    }

    /// <summary>Finds an edge.</summary>
    /// <param name="vertex">One end.</param>
    /// <param name="other">The other end.</param>
    /// <param name="edge">The edge, seen from <paramref name="vertex"/>.</param>
    /// <returns>False if it is not tracked.</returns>
    public bool TryGetEdge(TVertex vertex, TVertex other, out HeavyEdge<TVertex> edge)
    {
        edge = default;
        var a = _vertices.NumberOf(vertex);
        var found = _edges.FindEdge(a, _vertices.NumberOf(other));
        if (found < 0)
            return false;
        edge = EdgeAt(_edges.EndOf(2 * found) == a ? 2 * found : (2 * found) + 1);
        return true;
    }

    /// <summary>Copies the edges of one vertex.</summary>
    /// <param name="vertex">The vertex.</param>
    /// <param name="edges">Receives them, in no order.</param>
    public void CopyEdges(TVertex vertex, ICollection<HeavyEdge<TVertex>> edges)
    {
        var id = _vertices.NumberOf(vertex);
        for (var half = id < 0 ? -1 : _vertices.HeadOf(id); half >= 0; half = _edges.Next(half))
            edges.Add(EdgeAt(half));
    }

    /// <summary>All edges with their certain weights, in no order. The table must not change meanwhile.</summary>
    /// <returns>Both ends, the weight, and whether an end is on another silo.</returns>
    public IEnumerable<(TVertex One, TVertex Other, double Weight, bool IsRemote)> Edges()
    {
        for (var i = 0; i < _edges.Count; i++)
        {
            var half = 2 * _edges.At(i);
            var (one, other) = (_edges.EndOf(half), _edges.OtherEnd(half));
            yield return (_vertices.KeyOf(one), _vertices.KeyOf(other), CertainWeight(half),
                _vertices.SiloOf(one) != _self || _vertices.SiloOf(other) != _self);
        }
    }

    /// <summary>The sum of the certain weights of all edges, and of those with an end on another silo.</summary>
    /// <param name="remote">Receives the remote part.</param>
    /// <returns>The sum over all tracked edges.</returns>
    public double TotalWeight(out double remote)
    {
        double total = 0;
        remote = 0;
        for (var i = 0; i < _edges.Count; i++)
        {
            var half = 2 * _edges.At(i);
            var weight = CertainWeight(half);
            total += weight;
            if (_vertices.SiloOf(_edges.EndOf(half)) != _self || _vertices.SiloOf(_edges.OtherEnd(half)) != _self)
                remote += weight;
        }

        return total;
    }

    private void Add(TVertex local, long localEpoch, TVertex other, int otherSilo, long otherEpoch, double weight, bool halveIfLocal)
    {
        if (!(weight > 0) || local.Equals(other))
            return;
        Learn(local, _self, localEpoch);
        if (otherSilo != SiloNumber.Unknown)
            Learn(other, otherSilo, otherEpoch);
        var edge = _edges.FindEdge(_vertices.NumberOf(local), _vertices.NumberOf(other));
        var inherited = _floor;
        if (edge < 0 && _edges.Count == _capacity)
        {
            // Evict before interning: the eviction may free the number of a vertex of the new edge.
            Invariant.Holds(_edges.WeightOf(_edges.Lightest) >= _floor);
            inherited = _floor = _edges.WeightOf(_edges.Lightest);
            _edges.Remove(_edges.Lightest);
        }

        var a = _vertices.Intern(local, _self, localEpoch);
        var b = _vertices.Intern(other, otherSilo, otherEpoch);
        if (edge < 0)
        {
            if (DropIfForeign(a, b))
                return;
            edge = _edges.Insert(a, b, inherited);
        }

        if (Invariant.AreChecked)
            Invariant.Holds(_vertices.SiloOf(a) == _self || _vertices.SiloOf(b) == _self);
        Invariant.Holds(_edges.Count <= _capacity);
        var share = halveIfLocal && _vertices.SiloOf(a) == _self && _vertices.SiloOf(b) == _self ? 0.5 : 1;
        _edges.AddWeight(edge, share * weight / _scale);
    }

    private bool Learn(TVertex vertex, int silo, long epoch)
    {
        var id = _vertices.NumberOf(vertex);
        var wasHere = id >= 0 && _vertices.SiloOf(id) == _self;
        if (id < 0 || !_vertices.Locate(id, silo, epoch))
            return false;
        if (wasHere && silo != _self)
            RemoveForeignEdges(id);
        return true;
    }

    // Edges of a vertex that left stay only if their other end is here.
    private void RemoveForeignEdges(int id)
    {
        for (var half = _vertices.HeadOf(id); half >= 0;)
        {
            var next = _edges.Next(half);
            if (_vertices.SiloOf(_edges.OtherEnd(half)) != _self)
                _edges.Remove(half >> 1);
            half = next;
        }
    }

    // The caller's knowledge that a vertex is here can be older than that of the table.
    private bool DropIfForeign(int a, int b)
    {
        if (_vertices.SiloOf(a) == _self || _vertices.SiloOf(b) == _self)
            return false;
        if (_vertices.HeadOf(a) < 0)
            _vertices.Remove(a);
        if (_vertices.HeadOf(b) < 0)
            _vertices.Remove(b);
        return true;
    }

    private HeavyEdge<TVertex> EdgeAt(int half)
    {
        var other = _edges.OtherEnd(half);
        var edge = half >> 1;
        var (weight, error) = (_edges.WeightOf(edge) * _scale, _edges.ErrorOf(edge) * _scale);
        Invariant.Holds(weight >= error && error >= 0);
        return new(_vertices.KeyOf(other), _vertices.SiloOf(other), _vertices.EpochOf(other), weight, error);
    }

    private void Rescale()
    {
        _edges.Scale(_scale);
        _floor *= _scale;
        _scale = 1;
    }
}

/// <summary>One tracked edge, seen from one of its ends.</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="Other">The other end.</param>
/// <param name="Silo">Where the other end is, or <see cref="SiloNumber.Unknown"/>.</param>
/// <param name="Epoch">How recent that knowledge is: the other end's count of placements.</param>
/// <param name="Weight">Upper bound of the rate.</param>
/// <param name="Error">Upper bound of the part of <paramref name="Weight"/> that belongs to evicted edges.</param>
public readonly record struct HeavyEdge<TVertex>(TVertex Other, int Silo, long Epoch, double Weight, double Error)
    where TVertex : notnull, IEquatable<TVertex>
{
    /// <summary>Lower bound of the rate: what was certainly seen on this edge. Transfer scores use it, so that an evicted
    /// edge's rate never pulls a vertex.</summary>
    public double Certain => Weight - Error;
}
