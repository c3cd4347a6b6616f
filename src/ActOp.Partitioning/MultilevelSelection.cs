namespace ActOp.Partitioning;

/// <summary>
/// Lets groups of candidates that are tied to each other change sides together. In each cycle the candidates of one side are joined to
/// clusters along their heaviest edges, the clusters to larger ones and so on; then the sides are chosen from the coarsest level to single
/// vertices, each level from where the coarser one ended (iterated multilevel refinement, Walshaw 2004). Clusters never cross sides, so
/// each cycle begins with the result of the one before and can only improve it. All of it is local to the silo that decides.
/// </summary>
/// <param name="options">The limits.</param>
internal sealed class MultilevelSelection(PartitioningOptions options)
{
    // Below this a level is small enough to be searched as it is.
    private const int CoarsestCount = 8;

    // A level that is hardly smaller than the one before is useless: the remaining vertices have no neighbour on their side to join.
    private const double LeastShrinkage = 0.95;

    // Clusters differ in each cycle; two in a row without gain end the search.
    private const int CyclesWithoutGain = 2;

    // A cluster holds at most this share of all candidates' load, so that there is something to choose from on the coarsest level.
    private const double LargestCluster = 0.1;

    private readonly ExchangeSelection _exchange = new(options);
    private int[] _sides = [];

    /// <summary>The side of each candidate in the result.</summary>
    public ReadOnlySpan<int> Sides => _sides;

    /// <summary>Decides the sides. The same problem always gets the same result.</summary>
    /// <param name="problem">A sealed problem.</param>
    /// <returns>By how much the cut falls, less the cost of the moves.</returns>
    public double Run(ExchangeProblem problem)
    {
        var total = _exchange.Run(problem);
        _sides = _exchange.Sides.ToArray();
        if (options.Algorithm != SelectionAlgorithm.LookAhead || problem.Edges == 0)
            return total;
        Random random = new(problem.Count);
        var limit = LargestCluster * problem.Load.Sum();
        for (int cycle = 0, idle = 0; cycle < options.ClusterCycles && idle < CyclesWithoutGain; cycle++)
        {
            var gain = Cycle(problem.From(_sides), random, limit);
            total += gain;
            idle = gain > ExchangeSelection.Epsilon ? 0 : idle + 1;
        }

        return total;
    }

    private double Cycle(ExchangeProblem finest, Random random, double limit)
    {
        List<(ExchangeProblem Problem, int[] Clusters)> finer = [];
        var level = finest;
        while (level.Count > CoarsestCount)
        {
            var clusters = new ProblemClusters(level, limit).Join(random, out var coarser);
            if (coarser.Count > LeastShrinkage * level.Count)
                break;
            finer.Add((level, clusters));
            level = coarser;
        }

        var gain = _exchange.Run(level, overshoot: true);
        for (var i = finer.Count - 1; i >= 0; i--)
        {
            (level, var clusters) = finer[i];
            var sides = new int[level.Count];
            for (var vertex = 0; vertex < sides.Length; vertex++)
                sides[vertex] = _exchange.Sides[clusters[vertex]];
            gain += _exchange.Run(level.From(sides), overshoot: true);
        }

        _sides = _exchange.Sides.ToArray();
        return gain;
    }
}

/// <summary>Joins the vertices of a problem to clusters and makes the smaller problem whose vertices the clusters are. O(edges).</summary>
/// <param name="problem">A sealed problem without costs (<see cref="ExchangeProblem.From"/>): a vertex is on its home's side.</param>
/// <param name="limit">The largest load of a cluster of more than one vertex.</param>
internal sealed class ProblemClusters(ExchangeProblem problem, double limit)
{
    private readonly int[] _cluster = new int[problem.Count];
    private readonly double[] _load = new double[problem.Count];
    private int _count;

    /// <summary>Joins each vertex, in random order, to the neighbour of its side to which its edge is heaviest for its load.</summary>
    /// <param name="random">Decides the order.</param>
    /// <param name="coarser">The problem of the clusters; any choice of sides is worth the same there as here.</param>
    /// <returns>The cluster of each vertex.</returns>
    public int[] Join(Random random, out ExchangeProblem coarser)
    {
        var order = new int[problem.Count];
        for (var i = 0; i < order.Length; i++)
            order[i] = i;
        random.Shuffle(order);
        _cluster.AsSpan().Fill(-1);
        foreach (var vertex in order)
        {
            if (_cluster[vertex] >= 0)
                continue;
            var neighbour = BestNeighbour(vertex);
            if (neighbour < 0)
                Open(vertex);
            else
                Follow(vertex, neighbour);
        }

        coarser = Contract();
        return _cluster;
    }

    // Heavy for their loads: otherwise large clusters take all vertices, and the rest stays single.
    private int BestNeighbour(int vertex)
    {
        var best = -1;
        double rating = 0;
        for (var i = problem.Starts[vertex]; i < problem.Starts[vertex + 1]; i++)
        {
            var other = problem.Others[i];
            if (problem.Home[other] != problem.Home[vertex])
                continue;
            var load = _cluster[other] < 0 ? problem.Load[other] : _load[_cluster[other]];
            if (load + problem.Load[vertex] > limit || problem.Weights[i] <= rating * load)
                continue;
            rating = problem.Weights[i] / load;
            best = other;
        }

        return best;
    }

    private void Open(int vertex)
    {
        _load[_count] = problem.Load[vertex];
        _cluster[vertex] = _count++;
    }

    private void Follow(int vertex, int neighbour)
    {
        if (_cluster[neighbour] < 0)
            Open(neighbour);
        _cluster[vertex] = _cluster[neighbour];
        _load[_cluster[vertex]] += problem.Load[vertex];
    }

    private ExchangeProblem Contract()
    {
        ExchangeProblem coarser = new() { Left = problem.Left, Right = problem.Right };
        coarser.Reset(_count);
        for (var vertex = 0; vertex < _cluster.Length; vertex++)
        {
            var cluster = _cluster[vertex];
            coarser.Home[cluster] = problem.Home[vertex];
            coarser.Size[cluster] += problem.Size[vertex];
            coarser.Load[cluster] += problem.Load[vertex];
            coarser.External[cluster] += problem.External[vertex];
        }

        AddPairs(coarser);
        coarser.Seal();
        return coarser;
    }

    // Cluster by cluster, with one sum for each cluster at the other end.
    private void AddPairs(ExchangeProblem coarser)
    {
        var members = new int[_cluster.Length];
        for (var vertex = 0; vertex < members.Length; vertex++)
            members[vertex] = vertex;
        Array.Sort(_cluster.AsSpan().ToArray(), members);
        var sums = new double[_count];
        List<int> touched = [];
        for (var at = 0; at < members.Length;)
        {
            var cluster = _cluster[members[at]];
            for (; at < members.Length && _cluster[members[at]] == cluster; at++)
                Sum(members[at], cluster, sums, touched);
            foreach (var other in touched)
            {
                coarser.AddPair(cluster, other, sums[other]);
                sums[other] = 0;
            }

            touched.Clear();
        }
    }

    private void Sum(int vertex, int cluster, double[] sums, List<int> touched)
    {
        for (var i = problem.Starts[vertex]; i < problem.Starts[vertex + 1]; i++)
        {
            var other = _cluster[problem.Others[i]];
            if (other <= cluster)
                continue;
            if (sums[other] == 0)
                touched.Add(other);
            sums[other] += problem.Weights[i];
        }
    }
}
