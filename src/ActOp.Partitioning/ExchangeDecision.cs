namespace ActOp.Partitioning;

/// <summary>
/// The decision of silo q about an offer. It recomputes the scores of the offered vertices: q's own table is more accurate for q's side,
/// the offer for p's side. O(nV log k + k^2), like the paper's, times the passes and cycles of the search. Not thread safe.
/// </summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="table">The edges of q.</param>
/// <param name="selection">Chooses q's own candidates.</param>
/// <param name="options">The limits.</param>
public sealed class ExchangeDecision<TVertex>(
    HeavyEdgeTable<TVertex> table, CandidateSelection<TVertex> selection, PartitioningOptions options)
    where TVertex : notnull, IEquatable<TVertex>
{
    private readonly ExchangeProblem _problem = new();
    private readonly MultilevelSelection _exchange = new(options);
    private readonly Dictionary<TVertex, int> _index = [];
    private readonly List<int> _offered = [];

    internal ExchangeProblem Problem => _problem;

    /// <summary>Decides; changes nothing.</summary>
    /// <param name="offer">The offer of p.</param>
    /// <param name="load">The load of q.</param>
    /// <returns>A plan that lowers the cut, or brings a silo nearer to its band of load; null if there is none.</returns>
    public ExchangePlan<TVertex>? Decide(ExchangeOffer<TVertex> offer, SiloLoad load)
    {
        var balances = load.Current > load.Upper || offer.Load.Current < offer.Load.Lower;
        var most = Math.Clamp(offer.Candidates.Count, options.CandidateCount, options.MaxCandidates);
        var own = selection.Select(offer.From, balances ? int.MaxValue : offer.Candidates.Count, most);
        Index(offer, own);
        _problem.Left = offer.Load;
        _problem.Right = load;
        for (var i = 0; i < _offered.Count; i++)
            Describe(i, 0, offer.Candidates.Sizes[_offered[i]]);
        for (var i = 0; i < own.Count; i++)
            Describe(_offered.Count + i, 1, own.Sizes[i]);
        for (var i = 0; i < _offered.Count; i++)
            ConnectOffered(i, offer);
        for (var i = 0; i < own.Count; i++)
            ConnectOwn(_offered.Count + i, own.Vertices[i], offer.From);
        _problem.Seal();
        var gain = _exchange.Run(_problem);
        return Read(offer, own, load, gain);
    }

    // An offered vertex that is known to be elsewhere by now is no longer offered.
    private void Index(ExchangeOffer<TVertex> offer, CandidateSet<TVertex> own)
    {
        _index.Clear();
        _offered.Clear();
        for (var i = 0; i < offer.Candidates.Count; i++)
        {
            var vertex = offer.Candidates.Vertices[i];
            var moved = table.TryLocate(vertex, out var silo, out var epoch) && epoch > offer.Candidates.Epochs[i] && silo != offer.From;
            if (moved || !_index.TryAdd(vertex, _offered.Count))
                continue;
            _offered.Add(i);
        }

        for (var i = 0; i < own.Count; i++)
            _index.TryAdd(own.Vertices[i], _offered.Count + i);
        _problem.Reset(_offered.Count + own.Count);
    }

    private void Describe(int candidate, int home, double size)
    {
        _problem.Home[candidate] = home;
        _problem.Size[candidate] = size;
        _problem.Load[candidate] = options.Balance == BalanceMeasure.Count ? 1 : size;
        _problem.Cost[candidate] = options.MigrationCost * size;
    }

    private void ConnectOffered(int candidate, ExchangeOffer<TVertex> offer)
    {
        var vertex = offer.Candidates.Vertices[_offered[candidate]];
        var id = table.FindVertex(vertex);
        for (var half = id < 0 ? -1 : table.FirstHalf(id); half >= 0; half = table.NextHalf(half))
        {
            var other = table.OtherEnd(half);
            Connect(candidate, table.KeyOf(other), table.SiloOf(other), table.CertainWeight(half), offer.From);
        }

        foreach (var edge in offer.Candidates.EdgesOf(_offered[candidate]))
        {
            var other = table.FindVertex(edge.Other);
            if (id >= 0 && other >= 0 && table.CertainWeight(id, other) > 0)
                continue;
            var newer = other >= 0 && table.EpochOf(other) > edge.Epoch;
            Connect(candidate, edge.Other, newer ? table.SiloOf(other) : edge.Silo, edge.Certain, offer.From);
        }
    }

    private void ConnectOwn(int candidate, TVertex vertex, int partner)
    {
        var id = table.FindVertex(vertex);
        for (var half = table.FirstHalf(id); half >= 0; half = table.NextHalf(half))
            Connect(candidate, table.KeyOf(table.OtherEnd(half)), table.SiloOf(table.OtherEnd(half)), table.CertainWeight(half), partner);
    }

    private void Connect(int candidate, TVertex other, int silo, double weight, int partner)
    {
        if (_index.TryGetValue(other, out var pair))
            _problem.AddPair(candidate, pair, weight);
        else if (silo == table.Self)
            _problem.External[candidate] += weight;
        else if (silo == partner)
            _problem.External[candidate] -= weight;
    }

    private ExchangePlan<TVertex>? Read(ExchangeOffer<TVertex> offer, CandidateSet<TVertex> own, SiloLoad load, double gain)
    {
        var sides = _exchange.Sides;
        Invariant.Holds(sides.Length == _problem.Count && _offered.Count <= sides.Length);
        List<TVertex> accepted = [];
        List<int> given = [];
        double change = 0;
        for (var i = 0; i < sides.Length; i++)
        {
            if (sides[i] == _problem.Home[i])
                continue;
            change += _problem.Home[i] == 0 ? _problem.Load[i] : -_problem.Load[i];
            if (i < _offered.Count)
                accepted.Add(offer.Candidates.Vertices[_offered[i]]);
            else
                given.Add(table.FindVertex(own.Vertices[i - _offered.Count]));
        }

        var relief = load.Violation(load.Current) - load.Violation(load.Current + change)
            + offer.Load.Violation(offer.Load.Current) - offer.Load.Violation(offer.Load.Current - change);
        if (accepted.Count + given.Count == 0 || (gain <= 1e-9 && relief <= 1e-9))
            return null;
        return new([.. accepted], selection.Pack(given, offer.From, int.MaxValue), gain, change);
    }
}
